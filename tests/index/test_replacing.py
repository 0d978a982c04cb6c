"""Documents that replace others, and documents that get another id."""

import random

import pytest
from tests.index.children import Child
from tests.index.consistency import verdicts
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families

from neardup import Index, load_recipe

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
        old = verdicts(place)
        left = [row for row in many if row["id"] in old]
        child = Child(_replace_all, place, left)
        child.wait_for(1 + rng.randrange(10))
        child.kill()
        child.end()
        stored = verdicts(place)
        assert len(stored) == len(many)
        with Index(place) as index:
            for id, document in index.get_many(list(stored)).items():
                first = id.removeprefix("new-")
                is_new = document.text == texts[first][::-1]
                assert is_new or (id == first and document.text == texts[first])
        for id in child.told:
            assert f"new-{id}" in stored
            assert id not in stored
