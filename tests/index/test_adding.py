"""Documents that come in: new ones, those that are there, those that cannot be."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from tests.index.databases import BOTH
from tests.index.written import FERRY, NUMBERS, PEARS
from tests.kit.progress import RecordedProgress

from neardup import Index, IndexUnavailableError, InputError, OutputError, load_recipe
from neardup.index import Decision, Document, NewDocument

FERRY_AGAIN = "The ferry to the northern islands leaves at seven in the morning, is back at noon."
BRIDGE = "The council will open the new bridge on Sunday, and buses will run until midnight."


def rows(*texts, **fields):
    """Records d0, d1, ...; other fields hold a list each."""
    return [
        {"id": f"d{number}", "text": text}
        | {name: values[number] for name, values in fields.items()}
        for number, text in enumerate(texts)
    ]


class TestAdd:
    def test_decisions_are_logged(self, index, caplog):
        caplog.set_level("INFO", "neardup")
        for id in "ab":
            index.add(id, FERRY)
        index.reconsider(["b"])
        dropped = [("b", "a", 1.0), (1, 0, 1)]
        lines = [record.args[1:] for record in caplog.records]
        assert lines == [("a",), (1, 1, 0), *dropped, *dropped]

    @BOTH
    def test_fields_come_back(self, index):
        """To the letter, but for NUL in what PostgreSQL cannot hold."""
        extra = {"n": 1, "list": [1.5, None, True], "deep": {"雪": "\0"}}
        id, text = "雪/1?x#y'\"%", "  A\0b\r\n\u200b雪\u0085\ufeff 🙂 e\u0301  "
        index.add(id, text, title="标\0题", source="源\0", at="2024-01-01", extra=extra)
        assert index.get(id) == Document(
            id=id,
            text=text,
            title="标\N{REPLACEMENT CHARACTER}题",
            source="源\N{REPLACEMENT CHARACTER}",
            at=datetime(2024, 1, 1, tzinfo=UTC),
            extra=extra,
            state="kept",
            repeats=None,
        )

    def test_now_is_the_default_time(self, index):
        before = datetime.now(UTC)
        index.add("a", FERRY)
        times = [None, datetime(1999, 1, 1)]
        index.add_many(rows(PEARS, BRIDGE, day=times), at_field="day")
        a, d0, d1 = (document.at for document in index.documents())
        assert before <= a <= d0 <= datetime.now(UTC)
        assert d1 == datetime(1999, 1, 1, tzinfo=UTC)

    @BOTH
    def test_a_very_long_text(self, index):
        text = "".join(f"{number} steps to the sea. " for number in range(150_000))
        assert index.add("a", text) is None
        assert index.add("b", text[:-20]).id == "a"
        assert index.get("a").text == text


class TestAddMany:
    @BOTH
    @pytest.mark.slow
    def test_the_same_across_transactions(self, index):
        """An id comes again within one transaction and a transaction later."""
        many = rows(*(f"Number {number} of the list is {number * 7919}." for number in range(1500)))
        added = index.add_many([*many, *many[::-1]])
        assert (added.new, added.already, added.problem_count) == (1500, 1500, 0)
        assert added.keep[:1500].tolist() == added.keep[1500:][::-1].tolist()
        other = [row | {"text": row["text"] + " It is another one."} for row in many]
        added = index.add_many([{"id": "x", "text": ""}, *other])
        assert added.problem_count == 1500
        assert added.new == 1

    def test_empty_batch_adds_nothing(self, index):
        none = pa.array([], pa.string())
        for nothing in ([], pa.table({"id": none, "text": none})):
            added = index.add_many(nothing)
            assert (len(added.keep), added.removed.num_rows, added.new) == (0, 0, 0)
        assert len(index) == 0
        assert index.query(FERRY) == []
        assert list(index.documents()) == list(index.clusters()) == []

    def test_fields_by_other_names(self, index):
        many = [
            {"key": 7, "words": FERRY, "head": "Ferries", "from": "x", "n": 1, "m": "two"},
            {"key": 8, "words": PEARS, "head": None, "from": None, "n": None, "m": None},
        ]
        names = {
            "id_field": "key",
            "text_field": "words",
            "title_field": "head",
            "source_field": "from",
        }
        index.add_many(many, **names, extra_fields=["n", "m"])
        first, second = index.documents()
        assert (first.id, first.text, first.title, first.source) == ("7", FERRY, "Ferries", "x")
        assert first.extra == {"n": 1, "m": "two"}
        assert (second.id, second.title, second.source, second.extra) == ("8", None, None, {})

    def test_a_missing_column(self, index):
        table = pa.table({"id": ["a"], "text": [FERRY]})
        for name in ("at_field", "source_field", "title_field", "text_field"):
            with pytest.raises(InputError, match=r"must have (the|a) (\w+ )?column 'nosuch'"):
                index.add_many(table, **{name: "nosuch"})
        with pytest.raises(InputError, match="must have the column 'nosuch'"):
            index.add_many(table, extra_fields=["nosuch"])
        with pytest.raises(InputError, match="text column"):
            index.add_many(pa.table({"id": ["a"], "n": [1]}))
        assert len(index) == 0

    def test_titles_of_first_lines(self, index):
        many = rows("First line\n" + FERRY, PEARS)
        index.add_many(many, title_from_first_line=True)
        assert [document.title for document in index.documents()] == ["First line", PEARS]

    def test_progress_and_notes(self, index):
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

    def test_files(self, index, make):
        lines = (b'{"id": "x", "text": "one"}', b'{"id": "y"}', b"no json", b'{"text": "two"}')
        name = make("a.jsonl", b"\n".join(lines))
        added = index.add_files([name])
        assert added.keep.tolist() == [True, False, False, True]
        assert [document.id for document in index.documents()] == ["x", "a.jsonl:4"]
        again = index.add_files([name])
        assert (again.new, again.already, again.problem_count) == (0, 2, added.problem_count)

    def test_outputs_of_files(self, index, make, tmp_path):
        lines = b'{"id": "x", "text": "one"}\n{"id": "y", "text": "one"}\nno json'
        outputs = {"removed": tmp_path / "removed.jsonl", "report": tmp_path / "report.json"}
        added = index.add_files([make("a.jsonl", lines)], **outputs)
        removed = json.loads(outputs["removed"].read_bytes())
        assert removed == added.removed.to_pylist()[0]
        report = json.loads(outputs["report"].read_bytes())
        assert (report["summary"]["dropped"], len(report["problems"])) == (1, 1)
        with pytest.raises(OutputError, match="exists already"):
            index.add_files([make("b.jsonl", b'{"id": "z", "text": "two"}')], **outputs)
        assert "z" not in index


class TestTogether:
    @BOTH
    def test_each_is_answered_for_itself(self, index):
        index.add("a", NUMBERS)
        given = {
            NewDocument("n1", BRIDGE): (True, None),
            NewDocument("n2", NUMBERS + " and", source="desk", extra=None): (True, "a"),
            NewDocument("a", NUMBERS): (False, None),
            NewDocument("a", PEARS): "another text",
            NewDocument("", "x"): "'id' parameter",
            NewDocument("n3", "\ud800"): "U+D800",
            NewDocument("n4", "text", at="spring"): "'at' parameter",
            NewDocument("n1", BRIDGE, source="again"): (False, None),
            NewDocument("n5", "", at="2024-03-09T08:00:00+08:00"): (True, None),
        }
        decisions = index.add_together([*given, NewDocument("n6", "text", extra=[1])])
        assert "'extra' parameter" in decisions[-1].problem
        for (document, expected), decision in zip(given.items(), decisions, strict=False):
            assert decision.id == document.id
            if isinstance(expected, str):
                assert (decision.new, decision.repeats) == (False, None)
                assert expected in decision.problem
            else:
                repeated = decision.repeats and decision.repeats.id
                assert ((decision.new, repeated), decision.problem) == (expected, None)
        assert index.get("n2").source == "desk"
        assert index.add_together([]) == []

    @BOTH
    def test_more_than_one_transaction(self, index):
        texts = [f"document number {number} says {number * number}" for number in range(2500)]
        given = [NewDocument(str(number), text) for number, text in enumerate(texts)]
        for decision, document in zip(index.add_together(given), given, strict=True):
            assert decision == Decision(document.id, True, decision.repeats, None)
        assert len(index) == 2500

    def test_each_problem_is_told_of_its_own_document(self, tmp_path, monkeypatch):
        """A segmenter fails on one, and another is too long: the core says so in that order."""
        monkeypatch.setattr("neardup.base.lazy._core.MAX_TEXT_BYTES", 100)
        recipe = load_recipe("general").replace(
            name="own", segment={"units": "tests.index.test_adding:fails_on_bad"}
        )
        given = [("bad", "bad"), ("fine", "a b c d"), ("long", "x" * 101), ("again", "bad")]
        with Index(tmp_path / "own.db", recipe=recipe, workers=1) as index:
            decisions = index.add_together([NewDocument(*decision) for decision in given])
            assert [decision.new for decision in decisions] == [False, True, False, False]
        for decision in (decisions[0], decisions[2], decisions[3]):
            assert f"document '{decision.id}'" in decision.problem
        assert "must have at most 100 bytes" in decisions[2].problem
        for decision in (decisions[0], decisions[3]):
            assert "ValueError: bad text" in decision.problem


def fails_on_bad(text):
    """Words, where there are any good ones."""
    if text == "bad":
        raise ValueError("bad text")
    return [(word, "x") for word in text.split()]


def test_a_closed_index_says_so(location):
    index = Index(location)
    index.add("a", FERRY)
    index.close()
    index.close()
    for call in (
        lambda: index.add("b", PEARS),
        lambda: index.add_many(rows(PEARS)),
        lambda: index.query(FERRY),
        lambda: index.get("a"),
        lambda: list(index.documents()),
        lambda: len(index),
        lambda: "a" in index,
        index.stats,
        index.check,
        index.compact,
    ):
        with pytest.raises(IndexUnavailableError, match="is closed"):
            call()
