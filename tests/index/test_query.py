"""Questions: they answer by the rule, and change nothing."""

from datetime import UTC, datetime

import pytest
from tests.index.consistency import check_consistent
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families, stream

from neardup import Index, compare, load_recipe
from neardup.exceptions import InputError
from neardup.index import Document, Match

#: A text and others that are ever less like it; then two of which nothing is alike.
LIKE = {
    "near": NUMBERS.replace("sieben", "SIEBZIG"),
    "less": NUMBERS.replace("sieben acht", "vierzig fuenfzig").replace("zwei", "sechzig"),
    "tie": NUMBERS.replace("vierzehn", "hunderte"),
    "tie-too": NUMBERS.replace("vierzehn", "tausende"),
    "far": PEARS,
    "none": "。。。",
}
EXACT = load_recipe("shingle").replace(decide={"threshold": 0.3})
OPTIONS = {"recipe": EXACT}


@BOTH
class TestQuery:
    @pytest.fixture
    def unfiltered(self, index, location):
        """An index in which all of `LIKE` are kept: each came long after those before it."""
        for number, (id, text) in enumerate(LIKE.items()):
            index.add(id, text, at=datetime(2000 + number, 1, 1), within="30d")
        assert index.stats().kept == len(LIKE)
        before = check_consistent(location)
        yield index
        assert check_consistent(location) == before

    def test_the_most_similar_first_and_of_a_tie_the_earlier(self, unfiltered):
        matches = unfiltered.query(NUMBERS)
        alike = {id: compare(NUMBERS, text, recipe=EXACT).similarity for id, text in LIKE.items()}
        assert alike["tie"] == alike["tie-too"]
        expected = sorted((id for id in LIKE if alike[id] >= 0.3), key=lambda id: -alike[id])
        assert [match.id for match in matches] == expected
        assert set(expected) == {"near", "less", "tie", "tie-too"}
        for match in matches:
            pair = compare(NUMBERS, LIKE[match.id], recipe=EXACT)
            assert match.similarity == pair.similarity >= 0.3
            assert match.measure == "resemblance(5)"
            assert match.distance is None

    def test_as_many_as_are_wanted(self, unfiltered):
        matches = unfiltered.query(NUMBERS, 100)
        assert len(matches) == 4
        for k in (1, 2, 3, 4):
            assert unfiltered.query(NUMBERS, k) == matches[:k]

    def test_an_identical_text(self, unfiltered):
        first, *others = unfiltered.query(LIKE["near"])
        assert (first.id, first.similarity, first.identical) == ("near", 1.0, True)
        assert not any(match.identical for match in others)
        # Equal when normalized, as everywhere.
        assert unfiltered.query(LIKE["near"].upper())[0].identical

    def test_texts_without_features(self, unfiltered):
        matches = unfiltered.query("。。。")
        assert [(match.id, match.similarity, match.identical) for match in matches] == [
            ("none", 1.0, True)
        ]
        assert unfiltered.query("。。") == unfiltered.query("") == []


@pytest.mark.parametrize("recipe", ["characters", "classic"])
def test_queries_by_fingerprints(recipe, location):
    """With a scan and with keys; distances are told."""
    with Index(location, recipe=recipe, workers=1) as index:
        text = LIKE["far"]
        index.add("a", text)
        (result,) = index.query(f"«{text}»")
        # Punctuation counts where words are the units.
        assert (result.id, result.identical) == ("a", recipe == "characters")
        assert result.distance == compare(text, f"«{text}»", recipe=recipe).distance
        assert index.query("A bridge was opened by the council on a Sunday morning.") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general", "shingle", "minhash", "characters"])
def test_queries_are_what_adding_finds(name, location):
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
    index.add("c", LIKE["near"], title="Again 100%", at="2024-01-03")
    index.add("d", NUMBERS, at="2024-01-04")
    index.add("e", PEARS + "!", at="2024-01-05")
    return index


@BOTH
def test_documents_by_state(filled):
    assert [document.id for document in filled.documents()] == ["a", "b", "c", "d", "e"]
    assert [document.id for document in filled.documents("kept")] == ["a", "b"]
    assert [document.id for document in filled.documents("dropped")] == ["c", "d", "e"]
    filled.remove("a")
    assert [document.id for document in filled.documents("kept")] == ["b", "c"]
    assert [document.id for document in filled.documents()] == ["b", "e", "c", "d"]


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
def test_clusters(filled):
    clusters = list(filled.clusters())
    assert [(cluster.id, [id for id, _ in cluster.dropped]) for cluster in clusters] == [
        ("a", ["c", "d"]),
        ("b", ["e"]),
    ]
    for cluster in clusters:
        for id, match in cluster.dropped:
            assert match == filled.get(id).repeats
    first, second = clusters
    assert list(filled.clusters(after=first.number)) == [second]
    assert list(filled.clusters(after=second.number)) == []
    filled.remove("a")
    assert [cluster.id for cluster in filled.clusters()] == ["b", "c"]


@BOTH
def test_clusters_are_searched_in_ids_and_titles_of_all_members(filled):
    found = {"NUMB": "a", "100%": "a", "%": "a", "_": "b", "e": "ab", "": "ab", "nothing": ""}
    for search, ids in found.items():
        clusters = filled.clusters(search=search)
        assert [cluster.id for cluster in clusters] == list(ids), search


@BOTH
def test_explain(filled):
    kept = filled.explain("a")
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
    assert [event.action for event in gone.events] == ["removed"]
    again = filled.explain("c")
    assert again.document.state == "kept"
    (event,) = again.events
    assert (event.action, event.id) == ("reconsidered", "c")
    assert event.details == {"repeated": "a", "which": "removed"}
    (event,) = filled.explain("d").events
    assert event.details == {"repeated": "a", "which": "removed", "repeats": "c"}
    assert abs(datetime.now(UTC) - event.at).total_seconds() < 600


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


@BOTH
def test_compacting_changes_nothing(filled):
    before = list(filled.documents())
    filled.compact()
    assert list(filled.documents()) == before
