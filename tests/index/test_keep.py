"""Removals undone, clusters searched, and documents of several callers in one commit."""

import pytest
from tests.index.consistency import check_consistent

from neardup import Index, InputError, load_recipe
from neardup.index import Decision, NewDocument

BASE = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
OTHER = "The orchard on the hill lost half of its pears to the hail that came in June."
RECIPES = ("general", "shingle", "minhash", "classic", "characters")


@pytest.fixture
def index(location):
    with Index(location, recipe="shingle", threshold=0.3, workers=1) as index:
        index.add("a", BASE, title="Numbers")
        index.add("b", BASE + " and more", title="Again 100%")
        index.add("x", OTHER, title="Pears_of June")
        index.add("y", OTHER + " So it was.")
        yield index
    check_consistent(location)


class TestKeep:
    def test_a_dropped_one_is_kept_and_others_are_dropped_for_it(self, index):
        index.keep("b")
        found = index.get("b")
        assert (found.state, found.repeats, found.text) == ("kept", None, BASE + " and more")
        assert (index.stats().kept, index.stats().dropped) == (3, 1)
        assert index.add("c", BASE + " and more").id == "b"
        assert index.add("d", BASE).id == "a"
        event = index.explain("b").events[-1]
        assert (event.action, event.details) == ("kept", {"repeats": "a"})

    def test_a_freed_one(self, index):
        index.remove("a")
        index.keep("b")
        assert index.stats().freed == 0
        assert index.query(BASE)[0].id == "b"

    @pytest.mark.parametrize(
        ("id", "said"), [("a", "'a' is kept already"), ("z", "there is no document 'z'")]
    )
    def test_what_cannot_be(self, index, id, said):
        with pytest.raises(InputError, match=said):
            index.keep(id)
        assert index.stats().kept == 2

    @pytest.mark.parametrize("recipe", RECIPES)
    def test_every_search_finds_it(self, location, recipe):
        with Index(location, recipe=load_recipe(recipe), workers=1) as index:
            text = OTHER * 3
            index.add("first", text)
            assert index.add("second", text).id == "first"
            index.keep("second")
            index.remove("first")
            assert [one.id for one in index.query(text)] == ["second"]
        check_consistent(location)


class TestGetMany:
    def test_in_the_order_asked_for(self, index):
        found = index.get_many(["y", "nobody", "a", "y"])
        assert list(found) == ["y", "a"]
        assert found["y"] == index.get("y")

    def test_without_texts(self, index):
        found = index.get_many(["b", ""], texts=False)
        assert (found["b"].text, found["b"].title) == (None, "Again 100%")
        assert found["b"].repeats.id == "a"


class TestClusters:
    @pytest.mark.parametrize(
        ("search", "ids"),
        [
            (None, ["a", "x"]),
            ("NUMB", ["a"]),
            ("100%", ["a"]),
            ("%", ["a"]),
            ("_", ["x"]),
            ("y", ["x"]),
            ("", ["a", "x"]),
            ("nothing", []),
        ],
    )
    def test_search_in_ids_and_titles_of_all_members(self, index, search, ids):
        assert [one.id for one in index.clusters(search=search)] == ids

    def test_going_on(self, index):
        first, second = index.clusters()
        assert [one.id for one in index.clusters(after=first.number)] == ["x"]
        assert list(index.clusters(after=second.number)) == []


class TestTogether:
    def test_each_is_answered_for_itself(self, index):
        found = index.add_together(
            [
                NewDocument("n1", "A text that nobody has seen yet, about ferries and piers."),
                NewDocument("n2", BASE + " and", source="desk", extra={"n": 1}),
                NewDocument("a", BASE),
                NewDocument("a", OTHER),
                NewDocument("", "x"),
                NewDocument("n3", "\ud800"),
                NewDocument("n4", "text", at="spring"),
                NewDocument("n1", "A text that nobody has seen yet, about ferries and piers."),
                NewDocument("n5", "", at="2024-03-09T08:00:00+08:00"),
                NewDocument("n6", "text", extra=[1]),
            ]
        )
        assert [(one.id, one.new) for one in found] == [
            ("n1", True),
            ("n2", True),
            *[("a", False)] * 2,
            ("", False),
            ("n3", False),
            ("n4", False),
            ("n1", False),
            ("n5", True),
            ("n6", False),
        ]
        assert [one.repeats.id if one.repeats else None for one in found][:3] == [None, "a", None]
        said = [one.problem for one in found]
        assert [text is None for text in said] == [
            *[True] * 3,
            *[False] * 4,
            True,
            True,
            False,
        ]
        assert "another text" in said[3]
        assert "id" in said[4]
        assert "U+D800" in said[5]
        assert "'at' parameter" in said[6]
        assert "'extra' parameter" in said[9]
        assert index.get("n2").source == "desk"

    def test_as_one_by_one(self, tmp_path):
        texts = [f"{BASE} {number % 7} {OTHER[: number * 5]}" for number in range(40)]
        with Index(tmp_path / "other.db", recipe="shingle", threshold=0.3) as other:
            together = other.add_together(
                [NewDocument(f"m{at}", text) for at, text in enumerate(texts)]
            )
        with Index(tmp_path / "third.db", recipe="shingle", threshold=0.3) as third:
            alone = [third.add(f"m{at}", text) for at, text in enumerate(texts)]
        assert [one.repeats for one in together] == alone
        assert any(alone)
        assert not all(alone)

    def test_more_than_one_transaction(self, location):
        with Index(location, workers=1) as index:
            many = [
                NewDocument(str(at), f"document number {at} says {at * at}") for at in range(2500)
            ]
            found = index.add_together(many)
            assert all(
                one == Decision(str(at), True, one.repeats, None) for at, one in enumerate(found)
            )
            assert len(index) == 2500
        check_consistent(location)

    def test_each_problem_is_told_of_its_own_document(self, tmp_path, monkeypatch):
        """A segmenter fails on one, and another is too long: the core says so in that order."""
        monkeypatch.setattr("neardup._core.MAX_TEXT_BYTES", 100)
        recipe = load_recipe("general").replace(
            name="own", segment={"units": "tests.index.test_keep:fails_on_bad"}
        )
        given = [("bad", "bad"), ("fine", "a b c d"), ("long", "x" * 101), ("again", "bad")]
        with Index(tmp_path / "own.db", recipe=recipe, workers=1) as index:
            found = index.add_together([NewDocument(*one) for one in given])
            assert [one.new for one in found] == [False, True, False, False]
        for one in (found[0], found[2], found[3]):
            assert f"document '{one.id}'" in one.problem
        assert "must have at most 100 bytes" in found[2].problem
        for one in (found[0], found[3]):
            assert "ValueError: bad text" in one.problem


def fails_on_bad(text):
    """Words, where there are any good ones."""
    if text == "bad":
        raise ValueError("bad text")
    return [(word, "x") for word in text.split()]
