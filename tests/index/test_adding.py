"""Additions and questions: logs, fields, files, notes, problems, copies kept by hand."""

import json
import random
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from tests.index.databases import BOTH
from tests.index.written import FERRY, NUMBERS, PEARS, documents, letters
from tests.kit.progress import RecordedProgress

from neardup import Index, IndexUnavailableError, InputError, OutputError, load_recipe
from neardup.index import NewDocument
from neardup.index.ingest import first_import, transaction


def test_decisions_are_logged(index, caplog):
    caplog.set_level("INFO", "neardup")
    for id in "ab":
        index.add(id, FERRY)
    index.reconsider(["b"])
    dropped = [("b", "a", 1.0), (1, 0, 1)]
    assert [line.args[1:] for line in caplog.records] == [("a",), (1, 1, 0), *dropped, *dropped]


@BOTH
def test_fields_come_back(index):
    """To the letter, but for NUL in what PostgreSQL cannot hold."""
    extra = {"n": 1, "list": [1.5, None, True], "deep": {"雪": "\0"}}
    id, text = "雪/1?x#y'\"%", "  A\0b\r\n\u200b雪\u0085\ufeff 🙂 e\u0301  "
    index.add(id, text, title="标\0题", source="源\0", at="2024-01-01", extra=extra)
    stored = index.get(id)
    assert (stored.text, stored.extra) == (text, extra)
    assert (stored.title, stored.source) == ("标\N{REPLACEMENT CHARACTER}题", "源\ufffd")


def test_now_is_the_default_time(index):
    before = datetime.now(UTC)
    index.add("a", FERRY)
    many = [{"id": "b", "text": PEARS, "day": None}]
    index.add_many([*many, {"id": "c", "text": "", "day": datetime(1999, 1, 1)}], at_field="day")
    a, b, c = (document.at for document in index.documents())
    assert before <= a <= b <= datetime.now(UTC)
    assert c == datetime(1999, 1, 1, tzinfo=UTC)


@BOTH
def test_a_very_long_text(index):
    text = "".join(f"{number} steps to the sea. " for number in range(150_000))
    assert index.add("a", text) is None
    assert index.add("b", text[:-20]).id == "a"
    assert index.get("a").text == text


def test_empty_batch_adds_nothing(index):
    none = pa.array([], pa.string())
    for nothing in ([], pa.table({"id": none, "text": none})):
        added = index.add_many(nothing)
        assert (len(added.keep), added.removed.num_rows, added.new) == (0, 0, 0)


def test_fields_by_other_names(index):
    many = [
        {"key": 7, "words": FERRY, "head": "Ferries", "from": "x", "n": 1, "m": "two"},
        {"key": 8, "words": PEARS, "head": None, "from": None, "n": None, "m": None},
    ]
    names = {"id": "key", "text": "words", "title": "head", "source": "from"}
    options = {f"{name}_field": field for name, field in names.items()}
    index.add_many(many, **options, extra_fields=["n", "m"])
    assert [(one.id, one.text, one.title, one.source, one.extra) for one in index.documents()] == [
        ("7", FERRY, "Ferries", "x", {"n": 1, "m": "two"}),
        ("8", PEARS, None, None, {}),
    ]


def test_a_missing_column(index):
    table = pa.table({"id": ["a"], "text": [FERRY]})
    for name in ("at_field", "source_field", "title_field", "text_field"):
        with pytest.raises(InputError, match=r"must have (the|a) (\w+ )?column 'nosuch'"):
            index.add_many(table, **{name: "nosuch"})
    with pytest.raises(InputError, match="must have the column 'nosuch'"):
        index.add_many(table, extra_fields=["nosuch"])
    with pytest.raises(InputError, match="text column"):
        index.add_many(pa.table({"id": ["a"], "n": [1]}))
    assert len(index) == 0


def test_titles_of_first_lines(index):
    many = [{"id": "a", "text": "First line\n" + FERRY}, {"id": "b", "text": PEARS}]
    index.add_many(many, title_from_first_line=True)
    assert [document.title for document in index.documents()] == ["First line", PEARS]


def test_progress_and_notes(index):
    """A field that no record has a value in is a note: its name may be misspelt."""
    watched = RecordedProgress()
    records = [{"id": "a", "text": FERRY, "from": "x"}, {"id": "b", "text": PEARS, "n": None}]
    records.append({"id": "c", "text": None})
    names = {"at_field": "dat", "source_field": "from", "extra_fields": ["n", "from"]}
    index.add_many(records, **names, progress=watched)
    stages = ["read and sketch", "candidates, verify, cluster", "add"]
    assert [name for name, _ in watched.stages] == stages
    assert (sum(watched.done), len(watched.problems)) == (3, 1)
    assert [note.values for note in watched.notes] == [{"field": "dat"}, {"field": "n"}]
    index.add_many([], at_field="dat", progress=watched)
    assert len(watched.notes) == 2


def test_files_with_their_outputs(index, make, tmp_path):
    lines = (b'{"id": "x", "text": "one"}', b'{"id": "y"}', b"no json", b'{"text": "one"}')
    name = make("a.jsonl", b"\n".join(lines))
    outputs = {"removed": tmp_path / "removed.jsonl", "report": tmp_path / "report.json"}
    added = index.add_files([name], **outputs)
    assert added.keep.tolist() == [True, False, False, False]
    assert [document.id for document in index.documents()] == ["x", "a.jsonl:4"]
    assert [json.loads(outputs["removed"].read_bytes())] == added.removed.to_pylist()
    report = json.loads(outputs["report"].read_bytes())
    assert (report["summary"]["dropped"], len(report["problems"])) == (1, 2)
    with pytest.raises(OutputError, match="exists already"):
        index.add_files([make("b.jsonl", b'{"id": "z", "text": "two"}')], **outputs)
    assert "z" not in index


@BOTH
def test_each_document_of_several_has_its_own_answer(index):
    index.add("a", NUMBERS)
    given = {
        NewDocument("n1", PEARS): None,
        NewDocument("a", PEARS): "another text",
        NewDocument("", "x"): "'id' parameter",
        NewDocument("n2", "\ud800"): "U+D800",
        NewDocument("n3", "text", at="spring"): "'at' parameter",
        NewDocument("n4", "text", at="2024-03-09T08:00:00+08:00"): None,
    }
    *decisions, last = index.add_together([*given, NewDocument("n5", "text", extra=[1])])
    assert "'extra' parameter" in last.problem
    for (document, words), decision in zip(given.items(), decisions, strict=True):
        assert (decision.id, decision.new) == (document.id, words is None)
        assert decision.problem is None if words is None else words in decision.problem


def test_each_problem_is_told_of_its_own_document(tmp_path, monkeypatch):
    """A segmenter fails on one, and another is too long: the core says so in that order."""
    monkeypatch.setattr("neardup.base.lazy._core.MAX_TEXT_BYTES", 100)
    units = {"units": "tests.index.test_adding:fails_on_bad"}
    recipe = load_recipe("general").replace(name="own", segment=units)
    given = {"bad": "bad", "fine": "a b c d", "long": "x" * 101, "again": "bad"}
    with Index(tmp_path / "own.db", recipe=recipe, workers=1) as index:
        decisions = index.add_together([NewDocument(*document) for document in given.items()])
    bad, fine, long, again = (decision.problem for decision in decisions)
    assert fine is None
    assert "document 'long'" in long
    assert "must have at most 100 bytes" in long
    for id, problem in (("bad", bad), ("again", again)):
        assert f"document '{id}'" in problem
        assert "ValueError: bad text" in problem


def fails_on_bad(text):
    """Words, where there are any good ones."""
    if text == "bad":
        raise ValueError("bad text")
    return [(word, "x") for word in text.split()]


@pytest.mark.parametrize("first", [32, 40])
def test_documents_beyond_the_length_of_a_list_count_once(index, monkeypatch, first):
    monkeypatch.setattr(first_import, "_WRITTEN", 10)
    monkeypatch.setattr(transaction, "BATCH", 5)
    rng = random.Random(5)
    many = documents("本报记者顾雪芹报道" + letters(rng, 45) for _ in range(43))
    for end in (first, 40, 43, 43):
        index.add_many(many[:end])
        assert (len(index), index.stats().skipped_documents) == (end, max(0, end - 32))


@BOTH
@pytest.mark.parametrize("text", [NUMBERS, "。。", ""])
def test_copies_kept_by_hand_are_all_identical(index, text):
    for id in ("a", "b", "c"):
        index.add(id, text)
    index.keep("c")
    matches = [(match.id, match.identical) for match in index.query(text)]
    assert matches == [("a", True), ("c", True)]


RECIPE = load_recipe("shingle").replace(decide={"threshold": 0.3})


@BOTH
def test_near_misses_are_the_most_similar_other_documents(location):
    text = NUMBERS[:30] + " and then something else entirely, told at length."
    with Index(location, recipe=RECIPE) as index:
        index.add("numbers", NUMBERS)
        index.add("pears", PEARS)
        assert index.query(text) == []
        (miss,) = index.near_misses(text)
        assert (miss.id, 0 < miss.similarity < 0.3) == ("numbers", True)
        assert index.near_misses(NUMBERS) == index.near_misses("。。。") == []


@BOTH
def test_stats_have_the_settings(location):
    with Index(location, recipe=RECIPE) as index:
        stats = index.stats()
    assert "neardup:" not in stats.location
    assert stats.bytes > 1000
    assert (stats.recipe_id, stats.scheme, stats.background_texts) == (RECIPE.id, "prefix", None)
    assert (stats.measure, stats.threshold, stats.max_distance) == ("resemblance(5)", 0.3, None)
    assert abs(datetime.now(UTC) - stats.created).total_seconds() < 600


def test_a_closed_index_says_so(location):
    index = Index(location)
    index.add("a", FERRY)
    index.close()
    index.close()
    for call in (
        lambda: index.add("b", PEARS),
        lambda: index.add_many([{"id": "b", "text": PEARS}]),
        lambda: index.query(FERRY),
        lambda: index.get("a"),
        lambda: list(index.documents()),
        lambda: len(index),
        lambda: "a" in index,
        *(index.stats, index.check, index.compact),
    ):
        with pytest.raises(IndexUnavailableError, match="is closed"):
            call()
