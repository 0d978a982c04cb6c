"""Questions: they answer by the rule, and change nothing."""

from datetime import UTC, datetime

import pytest
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families, stream

from neardup import Index, load_recipe
from neardup.index import Document, Match

EXACT = load_recipe("shingle").replace(decide={"threshold": 0.3})
OPTIONS = {"recipe": EXACT}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general", "shingle", "minhash", "characters"])
def test_query_equals_add(name, location):
    many = documents(families(11, 60))
    with Index(location, recipe=name, workers=1) as index:
        for row in many:
            asked = index.query(row["text"])
            result = index.add(row["id"], row["text"])
            assert asked[:1] == ([] if result is None else [result])


@pytest.fixture
def filled(index):
    index.add("a", NUMBERS, title="Numbers", source="x", at="2024-01-01", extra={"n": [1]})
    index.add("b", PEARS, title="Pears_of June", at="2024-01-02")
    index.add("c", NUMBERS.replace("sieben", "SIEBZIG"), title="Again 100%", at="2024-01-03")
    index.add("d", NUMBERS, at="2024-01-04")
    index.add("e", PEARS + "!", at="2024-01-05")
    return index


@BOTH
@pytest.mark.parametrize("text", [NUMBERS, "。。", ""])
def test_copies_kept_by_hand_are_all_identical(index, text):
    for id in ("a", "b", "c"):
        index.add(id, text)
    index.keep("c")
    assert [(match.id, match.identical) for match in index.query(text)] == [
        ("a", True),
        ("c", True),
    ]


@BOTH
def test_get(filled):
    assert filled.get("a") == Document(
        id="a",
        text=NUMBERS,
        title="Numbers",
        source="x",
        at=datetime(2024, 1, 1, tzinfo=UTC),
        extra={"n": [1]},
        state="kept",
        repeats=None,
    )
    assert filled.get("d").repeats == Match("a", 1.0, "resemblance(5)", None, True)
    assert filled.get("nosuch") is None
    assert "a" in filled
    assert "nosuch" not in filled
    assert 7 not in filled
    assert None not in filled


@BOTH
def test_get_many(filled):
    documents = filled.get_many(["d", "nobody", "a", "d", ""])
    assert list(documents.items()) == [(id, filled.get(id)) for id in ("d", "a")]
    document = filled.get_many(["c"], texts=False)["c"]
    assert (document.text, document.title, document.repeats.id) == (None, "Again 100%", "a")


@BOTH
def test_stats(filled):
    stats = filled.stats()
    assert "neardup:" not in stats.location
    assert (stats.documents, stats.kept, stats.dropped) == (5, 2, 3)
    assert len(filled) == 5
    assert stats.bytes > 1000
    assert stats.recipe_id == EXACT.id
    assert (stats.measure, stats.threshold, stats.max_distance) == ("resemblance(5)", 0.3, None)
    assert (stats.scheme, stats.background_texts) == ("prefix", None)
    assert (stats.first, stats.last) == (
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 5, tzinfo=UTC),
    )
    assert abs(datetime.now(UTC) - stats.created).total_seconds() < 600
    filled.expire(before="2999-01-01")
    stats = filled.stats()
    assert (stats.documents, stats.first, stats.last) == (0, None, None)


@BOTH
@pytest.mark.slow
def test_many_pages(index):
    """More than are read at a time, while others come and go."""
    many = documents(f"{number * 7919} {NUMBERS if number % 2 else ''}" for number in range(2300))
    index.add_many(many)
    ids = [row["id"] for row in many]
    assert [document.id for document in index.documents()] == ids
    assert len(list(index.documents("kept"))) == index.stats().kept
    walk = index.documents()
    first = next(walk)
    index.remove("d2000")
    index.add("new", "something else entirely, which comes at the end of the list")
    ids.remove("d2000")
    assert [first.id, *(document.id for document in walk)] == [*ids, "new"]
    dropped = sum(len(cluster.dropped) for cluster in index.clusters())
    assert dropped == index.stats().dropped


def test_recount(location):
    recipe = load_recipe("general").replace(decide={"threshold": 0.5})
    with Index(location, recipe=recipe, workers=1) as index:
        assert index.recount() == 0
        stream(
            index,
            [
                {"id": str(number), "text": f"{NUMBERS} {number}" * (number + 1)}
                for number in range(30)
            ],
        )
        assert index.stats().background_texts == 0
        assert index.recount() == 30
        assert index.stats().background_texts == 30
        assert index.recount() == 30
    with Index(location, recipe=recipe) as index:
        assert index.stats().background_texts == 30
        # Decisions made before stand.
        assert index.add("1", f"{NUMBERS} 1" * 2) == index.get("1").repeats
