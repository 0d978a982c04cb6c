"""Questions: they answer by the rule, and change nothing."""

from datetime import UTC, datetime

import pytest
from tests.index.consistency import check_consistent
from tests.index.written import documents, families

from neardup import Index, compare, load_recipe
from neardup.exceptions import InputError
from neardup.index import Cluster, Document, Event, Explanation, Match, Stats

#: A text and others that are ever less like it; then two of which nothing is alike.
BASE = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
LIKE = {
    "near": BASE.replace("seven", "SEVENTY"),
    "less": BASE.replace("seven eight", "forty fifty").replace("two", "sixty"),
    "tie": BASE.replace("fourteen", "hundred"),
    "tie-too": BASE.replace("fourteen", "billion"),
    "far": "The orchard on the hill lost half of its pears to the hail that came in June.",
    "none": "。。。",
}
EXACT = load_recipe("shingle").replace(decide={"threshold": 0.3})


def unfiltered(location, recipe=EXACT):
    """An index in which all of `LIKE` are kept: each came long after those before it."""
    index = Index(location, recipe=recipe, workers=1)
    for at, (id, text) in enumerate(LIKE.items()):
        index.add(id, text, at=datetime(2000 + at, 1, 1), within="30d")
    assert index.stats().kept == len(LIKE)
    return index


class TestQuery:
    @pytest.fixture
    def index(self, location):
        with unfiltered(location) as index:
            before = check_consistent(location)
            yield index
        assert check_consistent(location) == before

    def test_the_most_similar_first_and_of_a_tie_the_earlier(self, index):
        found = index.query(BASE)
        alike = {id: compare(BASE, text, recipe=EXACT).similarity for id, text in LIKE.items()}
        assert alike["tie"] == alike["tie-too"]
        expected = sorted((id for id in LIKE if alike[id] >= 0.3), key=lambda id: -alike[id])
        assert [match.id for match in found] == expected
        assert set(expected) == {"near", "less", "tie", "tie-too"}
        for match in found:
            pair = compare(BASE, LIKE[match.id], recipe=EXACT)
            assert match.similarity == pair.similarity >= 0.3
            assert match.measure == "resemblance(5)"
            assert match.distance is None

    def test_as_many_as_are_wanted(self, index):
        found = index.query(BASE, 100)
        assert len(found) == 4
        for k in (1, 2, 3, 4):
            assert index.query(BASE, k) == found[:k]

    def test_an_identical_text(self, index):
        first, *others = index.query(LIKE["near"])
        assert (first.id, first.similarity, first.identical) == ("near", 1.0, True)
        assert not any(match.identical for match in others)
        # Equal when normalized, as everywhere.
        assert index.query(LIKE["near"].upper())[0].identical

    def test_texts_without_features(self, index):
        found = index.query("。。。")
        assert [(one.id, one.similarity, one.identical) for one in found] == [("none", 1.0, True)]
        assert index.query("。。") == index.query("") == []


@pytest.mark.parametrize("recipe", ["characters", "classic"])
def test_queries_by_fingerprints(recipe, location):
    """With a scan and with keys; distances are told."""
    with Index(location, recipe=recipe, workers=1) as index:
        text = LIKE["far"]
        index.add("a", text)
        (found,) = index.query(f"«{text}»")
        assert (found.id, found.identical) == ("a", False)
        assert found.distance == compare(text, f"«{text}»", recipe=recipe).distance
        assert index.query("A bridge was opened by the council on a Sunday morning.") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general", "shingle", "minhash", "characters"])
def test_queries_are_what_adding_finds(name, location):
    many = documents(families(11, 60))
    with Index(location, recipe=name, workers=1) as index:
        for one in many:
            asked = index.query(one["text"])
            found = index.add(one["id"], one["text"])
            assert asked[:1] == ([] if found is None else [found])


@pytest.fixture
def filled(location):
    with Index(location, recipe=EXACT, workers=1) as index:
        index.add("a", BASE, title="Numbers", source="x", at="2024-01-01", extra={"n": [1]})
        index.add("b", LIKE["far"], at="2024-01-02")
        index.add("c", LIKE["near"], at="2024-01-03")
        index.add("d", BASE, at="2024-01-04")
        index.add("e", LIKE["far"] + "!", at="2024-01-05")
        yield index
    check_consistent(location)


def test_documents_by_state(filled):
    assert [one.id for one in filled.documents()] == ["a", "b", "c", "d", "e"]
    assert [one.id for one in filled.documents("kept")] == ["a", "b"]
    assert [one.id for one in filled.documents("dropped")] == ["c", "d", "e"]
    assert list(filled.documents("freed")) == []
    filled.remove("a")
    assert [one.id for one in filled.documents("freed")] == ["c", "d"]
    assert [one.id for one in filled.documents()] == ["b", "c", "d", "e"]


def test_get(filled):
    found = filled.get("a")
    assert found == Document(
        id="a",
        text=BASE,
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


def test_clusters(filled):
    clusters = list(filled.clusters())
    assert all(isinstance(one, Cluster) for one in clusters)
    assert [(one.id, [id for id, _ in one.dropped]) for one in clusters] == [
        ("a", ["c", "d"]),
        ("b", ["e"]),
    ]
    for one in clusters:
        for id, match in one.dropped:
            assert match == filled.get(id).repeats
    filled.remove("a")
    assert [one.id for one in filled.clusters()] == ["b"]


def test_explain(filled):
    kept = filled.explain("a")
    assert isinstance(kept, Explanation)
    assert (kept.measure, kept.threshold) == ("resemblance(5)", 0.3)
    assert kept.document == filled.get("a")
    assert kept.dropped == next(filled.clusters()).dropped
    assert kept.events == ()
    dropped = filled.explain("c")
    assert dropped.document.repeats.id == "a"
    assert dropped.dropped == ()
    for call in (filled.explain, filled.remove, filled.keep):
        with pytest.raises(InputError) as refusal:
            call("nosuch")
        assert refusal.value.message.code == "no_such_document"
    filled.remove("a")
    gone = filled.explain("a")
    assert (gone.document, gone.dropped) == (None, ())
    assert [type(event) for event in gone.events] == [Event]
    assert [event.action for event in gone.events] == ["removed"]
    freed = filled.explain("c")
    assert (freed.document.state, freed.document.repeats) == ("freed", None)
    (event,) = freed.events
    assert (event.action, event.id) == ("freed", "c")
    assert event.details == {"repeated": "a", "which": "removed"}
    assert abs(datetime.now(UTC) - event.at).total_seconds() < 600


def test_stats(filled):
    found = filled.stats()
    assert isinstance(found, Stats)
    assert "neardup:" not in found.location
    assert (found.documents, found.kept, found.dropped, found.freed) == (5, 2, 3, 0)
    assert len(filled) == 5
    assert found.bytes > 1000
    assert found.recipe_id == EXACT.id
    assert (found.measure, found.threshold, found.max_distance) == ("resemblance(5)", 0.3, None)
    assert (found.store, found.scheme, found.background) == ("text", "prefix", "none")
    assert (found.first, found.last) == (
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 5, tzinfo=UTC),
    )
    assert abs(datetime.now(UTC) - found.created).total_seconds() < 600
    filled.expire(before="2999-01-01")
    found = filled.stats()
    assert (found.documents, found.first, found.last) == (0, None, None)


@pytest.mark.slow
def test_many_pages(location):
    """More than are read at a time, while others come and go."""
    many = [{"id": f"d{at}", "text": f"{at * 7919} {BASE if at % 2 else ''}"} for at in range(2300)]
    with Index(location, recipe=EXACT, workers=1) as index:
        index.add_many(many)
        assert [one.id for one in index.documents()] == [one["id"] for one in many]
        kept = [one.id for one in index.documents("kept")]
        assert len(kept) == index.stats().kept
        walk = index.documents()
        first = next(walk)
        index.remove("d2000")
        index.add("new", "something else entirely, which comes at the end of the list")
        rest = [one.id for one in walk]
        assert [first.id, *rest] == [one["id"] for one in many if one["id"] != "d2000"] + ["new"]
        dropped = sum(len(one.dropped) for one in index.clusters())
        assert dropped == index.stats().dropped


def test_recount(location):
    recipe = load_recipe("general").replace(decide={"threshold": 0.5})
    with Index(location, recipe=recipe, workers=1) as index:
        assert index.recount() == 0
        index.add_many([{"id": str(at), "text": f"{BASE} {at}" * (at + 1)} for at in range(30)])
        assert index.stats().background_texts == 0
        assert index.recount() == 30
        assert index.stats().background_texts == 30
        assert index.recount() == 30
    with Index(location, recipe=recipe) as index:
        assert index.stats().background_texts == 30
        # Decisions made before stand.
        assert index.add("1", f"{BASE} 1" * 2) == index.get("1").repeats


def test_recount_of_a_given_background(location):
    with Index(location, background=[BASE, LIKE["far"], LIKE["near"]]) as index:
        index.add("a", BASE)
        assert index.recount() == 0
        assert (index.stats().background, index.stats().background_texts) == ("given", 3)


def test_check_and_compact(filled):
    assert filled.check() == []
    before = list(filled.documents())
    filled.compact()
    assert filled.check() == []
    assert list(filled.documents()) == before
