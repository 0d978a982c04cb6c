"""Documents that replace others, and documents that get another id."""

import json
import random
from dataclasses import replace

import pytest
from tests.index.children import Child
from tests.index.consistency import check_consistent, entries_of, verdicts
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families

from neardup import Index, InputError, load_recipe
from neardup.index import NewDocument

OPTIONS = {"recipe": load_recipe("shingle").replace(decide={"threshold": 0.3})}
SCHEMES = ("general", "shingle", "minhash", "classic", "characters")


@pytest.fixture
def filled(index):
    for id, end in (("a", ""), ("b", " and more"), ("c", " and fifteen")):
        index.add(id, NUMBERS + end, at="2024-01-01")
    index.add("x", PEARS, title="t", source="s", extra={"n": 1})
    return index


def states(index):
    return {document.id: document.repeats and document.repeats.id for document in index.documents()}


@BOTH
def test_replaced_document_has_the_new_text_and_its_copies_are_decided_again(filled):
    with pytest.raises(InputError, match=r"another text.*Replace it with replace=True"):
        filled.add("a", PEARS)
    assert filled.add("a", PEARS, replace=True).id == "x"
    assert states(filled) == {"x": None, "b": None, "c": "b", "a": "x"}
    assert filled.get("a").text == PEARS
    assert [match.id for match in filled.query(NUMBERS)] == ["b"]
    assert [event.action for event in filled.explain("a").events] == ["replaced"]
    (event,) = filled.explain("c").events
    assert event.details == {"repeated": "a", "which": "replaced", "repeats": "b"}
    assert [removal.kept.id for removal in filled.removals()] == ["b", "x"]


@BOTH
@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({}, False),
        ({"at": "2020-01-01"}, False),
        ({"text": PEARS + "!"}, True),
        ({"title": None}, True),
        ({"source": "other"}, True),
        ({"extra": {"n": 2}}, True),
    ],
)
def test_replacement_with_the_same_content_changes_nothing(filled, change, replaces):
    before = list(filled.documents())
    given = {"text": PEARS, "title": "t", "source": "s", "extra": {"n": 1}} | change
    (decision,) = filled.add_together([NewDocument("x", **given, replace=True)])
    assert (decision.new, decision.replaced, decision.problem) == (replaces, replaces, None)
    assert (list(filled.documents()) == before) == (not replaces)
    assert filled.get("x").text == given["text"]
    assert bool(filled.get("x").title) == bool(given["title"])


@pytest.mark.parametrize("is_first", [False, True])
def test_last_document_stays_if_an_id_is_repeated(location, is_first):
    rows = [{"id": "a", "text": NUMBERS}, {"id": "b", "text": PEARS}]
    rows += [{"id": "a", "text": PEARS}, {"id": "", "text": "x"}, {"id": "a", "text": "last"}]
    with Index(location, **OPTIONS) as index:
        if not is_first:
            index.add("0", "another text")
        added = index.add_many(rows, replace=True)
        assert (added.new, added.replaced, added.problem_count) == (4, 2, 1)
        assert (added.keep.tolist(), index.get("a").text) == ([1, 1, 0, 0, 1], "last")
    check_consistent(location)


@BOTH
@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("size", [1, 40])
def test_replacing_decides_as_removing_and_adding_do(name, size, new_place):
    rng = random.Random(size)
    texts = families(4, 60)
    first, second = new_place(), new_place()
    with Index(first, recipe=name) as replacing, Index(second, recipe=name) as removing:
        for _ in range(240 // size):
            given = [
                NewDocument(f"d{rng.randrange(90)}", rng.choice(texts), at="2024-01-01")
                for _ in range(size)
            ]
            told = replacing.add_together([replace(one, replace=True) for one in given])
            for decision, one in zip(told, given, strict=True):
                stored = removing.get(one.id)
                if stored is not None and stored.text != one.text:
                    removing.remove(one.id)
                match = removing.add(one.id, one.text, at=one.at)
                if decision.new:
                    assert decision.repeats == match
    assert verdicts(first) == verdicts(second)
    assert entries_of(first) == entries_of(second)
    assert list(check_consistent(first).values()) == list(check_consistent(second).values())


@pytest.mark.parametrize("step", ["retention._decide", "ingest.transaction.write"])
def test_interrupted_replacement_leaves_the_old_document(filled, monkeypatch, step):
    before = list(filled.documents())

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"neardup.index.{step}", fail)
        with pytest.raises(KeyboardInterrupt):
            filled.add("a", PEARS, replace=True)
    assert list(filled.documents()) == before


def _replace_all(tell, place, many):
    with Index(place, workers=1) as index:
        for row in many:
            index.add(row["id"], row["text"][::-1], replace=True)
            index.rename(row["id"], "new-" + row["id"])
            tell(row["id"])


@BOTH
@pytest.mark.slow
def test_killed_process_leaves_old_or_new_documents(new_place):
    many = documents(families(3, 60))
    place, rng = new_place(), random.Random(3)
    with Index(place, workers=1) as index:
        index.add_many(many)
    texts = {row["id"]: row["text"] for row in many}
    for _ in range(5):
        left = [row for row in many if row["id"] in verdicts(place)]
        child = Child(_replace_all, place, left)
        child.wait_for(1 + rng.randrange(10))
        child.kill()
        child.end()
        stored = verdicts(place)
        assert len(stored) == len(many)
        with Index(place) as index:
            for id, document in index.get_many(list(stored)).items():
                old = id.removeprefix("new-")
                is_new = document.text == texts[old][::-1]
                assert is_new or (id == old and document.text == texts[old])
        for id in child.told:
            assert f"new-{id}" in stored
            assert id not in stored


@BOTH
def test_renamed_document_keeps_its_copies_and_its_history(filled, tmp_path):
    filled.confirm("b", by="Li")
    filled.rename("a", "wire/a")
    filled.rename("b", "wire/b")
    assert states(filled) == {"wire/a": None, "wire/b": "wire/a", "c": "wire/a", "x": None}
    assert [id for id, _ in filled.explain("wire/a").dropped] == ["wire/b", "c"]
    assert [event.action for event in filled.explain("wire/b").events] == ["confirmed"]
    assert [removal.confirmed for removal in filled.removals()].count(True) == 1
    explanation = filled.explain("a")
    (event,) = explanation.events
    assert (explanation.document, event.action, event.details) == (
        None,
        "renamed",
        {"to": "wire/a"},
    )
    filled.undo("wire/b")
    filled.export(tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["id"] for row in rows} == {"wire/a", "x"}
    with pytest.raises(InputError, match="'x' already belongs to a document"):
        filled.rename("c", "x")
    with pytest.raises(InputError, match="there is no document 'a'"):
        filled.rename("a", "b")
    assert filled.add("a", PEARS).id == "x"
