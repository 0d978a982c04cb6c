"""Documents out of the index: what was dropped for them is freed, and decided again."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from tests.index.consistency import check_consistent, verdicts
from tests.index.written import documents, families, letters

from neardup import Index, InputError, load_recipe
from neardup.index.backends import open_database
from neardup.index.schema import all_keys

BASE = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
OTHER = "The orchard on the hill lost half of its pears to the hail that came in June."
EXACT = load_recipe("shingle").replace(decide={"threshold": 0.3})
#: The ways of searching: rare keys, all keys, bands, blocks, none.
SCHEMES = ("general", "shingle", "minhash", "classic", "characters")


def texts_of(many):
    return {one["id"]: one["text"] for one in many}


@pytest.fixture
def index(location):
    with Index(location, recipe=EXACT, workers=1) as index:
        index.add("a", BASE)
        index.add("b", BASE + " and more")
        index.add("x", OTHER)
        index.add("c", BASE + " and fifteen")
        index.add("d", BASE + " and more")
        yield index
    check_consistent(location)


def states(index):
    return {one.id: one.state for one in index.documents()}


class TestRemove:
    def test_a_kept_one_frees_those_dropped_for_it(self, index):
        removed = index.remove("a")
        assert (removed.removed, removed.freed, removed.freed_count) == (1, ("b", "c", "d"), 3)
        assert states(index) == {"b": "freed", "x": "kept", "c": "freed", "d": "freed"}
        assert index.query(BASE) == []
        stats = index.stats()
        assert (stats.kept, stats.dropped, stats.freed) == (1, 0, 3)

    def test_a_dropped_one_frees_nobody(self, index):
        removed = index.remove("b")
        assert (removed.removed, removed.freed, removed.freed_count) == (1, (), 0)
        assert states(index) == {"a": "kept", "x": "kept", "c": "dropped", "d": "dropped"}

    def test_a_freed_one(self, index):
        index.remove("a")
        assert index.remove("c").removed == 1
        assert states(index) == {"b": "freed", "x": "kept", "d": "freed"}
        assert index.stats().freed == 2

    def test_what_is_not_there(self, index):
        with pytest.raises(InputError, match="there is no document 'nosuch'"):
            index.remove("nosuch")
        index.remove("x")
        with pytest.raises(InputError, match="there is no document 'x'"):
            index.remove("x")
        assert len(index) == 4

    def test_an_id_can_be_used_again(self, index):
        index.remove("x")
        assert index.add("x", BASE + " once more").id == "a"
        assert [event.action for event in index.explain("x").events] == ["removed"]

    @pytest.mark.slow
    @pytest.mark.parametrize("name", SCHEMES)
    @pytest.mark.parametrize("store", ["text", "sketch"])
    def test_no_key_is_left(self, name, store, location):
        many = documents(families(12, 12))
        with Index(location, recipe=name, store=store, workers=1) as index:
            index.add_many(many)
            index.recount()
            index.add_many([one | {"id": f"later-{one['id']}"} for one in many])
            for one in list(index.documents()):
                index.remove(one.id)
            check_consistent(location)
            assert len(index) == 0
            assert all(index.query(one["text"]) == [] for one in many)
            assert index.add_many(many).new == len(many)
        with open_database(location, must_exist=True) as database, database.reading() as connection:
            count = connection.execute(select(func.count()).select_from(all_keys)).scalar_one()
        assert (count > 0) == (name != "characters")


class TestReconsider:
    def test_freed_ones_are_decided_in_the_order_of_arrival(self, index):
        index.remove("a")
        decided = index.reconsider()
        assert [id for id, _ in decided] == ["b", "c", "d"]
        matches = dict(decided)
        assert matches["b"] is None
        assert matches["c"].id == matches["d"].id == "b"
        assert matches["d"].identical
        assert states(index) == {"x": "kept", "b": "kept", "c": "dropped", "d": "dropped"}
        assert index.get("d").repeats == matches["d"]
        assert index.reconsider() == []
        actions = [event.action for event in index.explain("c").events]
        assert actions == ["freed", "reconsidered"]
        assert index.explain("c").events[1].details == {"repeats": "b"}

    def test_only_some(self, index):
        index.remove("a")
        decided = index.reconsider(["d", "nosuch", "x", "c", "d"])
        assert [id for id, _ in decided] == ["c", "d"]
        assert states(index) == {"b": "freed", "x": "kept", "c": "kept", "d": "dropped"}
        assert index.reconsider([]) == []
        assert index.reconsider(["b"])[0][1].id in ("c", "d")

    def test_all_that_was_said_of_them_stays(self, location):
        with Index(location, recipe=EXACT) as index:
            index.add("a", BASE)
            index.add("b", BASE, title="t", source="s", at="2024-01-01", extra={"n": 1})
            index.remove("a")
            before = index.get("b")
            assert index.reconsider() == [("b", None)]
            found = index.get("b")
        assert (before.state, found.state) == ("freed", "kept")
        for name in ("text", "title", "source", "at", "extra"):
            assert getattr(found, name) == getattr(before, name)

    def test_to_add_a_freed_one_again_decides_it(self, index):
        index.remove("a")
        assert index.add("c", BASE + " and fifteen") is None
        assert index.add("b", BASE + " and more").id == "c"
        with pytest.raises(InputError, match="'d' already belongs to another text"):
            index.add("d", OTHER)
        assert states(index) == {"x": "kept", "c": "kept", "b": "dropped", "d": "freed"}
        added = index.add_many([{"id": "d", "text": BASE + " and more"}] * 2)
        assert added.keep.tolist() == [False, False]
        assert index.stats().freed == 0

    @pytest.mark.slow
    @pytest.mark.parametrize("store", ["text", "sketch"])
    @pytest.mark.parametrize("name", SCHEMES)
    def test_as_if_they_came_again(self, name, store, new_place):
        """Some kept ones go; what is freed is decided as by an index to which it comes last."""
        many = documents(families(13, 25))
        place, other = new_place(), new_place()
        options = {"recipe": name, "store": store, "workers": 1}
        with Index(place, **options) as index, Index(other, **options) as fresh:
            index.add_many(many)
            for one in list(index.documents("kept"))[::2]:
                index.remove(one.id)
            freed = [one.id for one in index.documents("freed")]
            kept = [one.id for one in index.documents("kept")]
            assert len(freed) > 8
            texts = texts_of(many)
            for id in kept:
                assert fresh.add(id, texts[id]) is None
            expected = [(id, fresh.add(id, texts[id])) for id in freed]
            assert index.reconsider() == expected
        check_consistent(place)

    @pytest.mark.slow
    def test_more_than_one_transaction_takes(self, location):
        with Index(location, recipe=EXACT, workers=1) as index:
            index.add("first", BASE)
            index.add_many([{"id": str(at), "text": BASE} for at in range(600)])
            assert index.remove("first").freed_count == 600
            decided = index.reconsider()
        assert [id for id, _ in decided] == [str(at) for at in range(600)]
        assert decided[0][1] is None
        assert {match.id for _, match in decided[1:]} == {"0"}
        check_consistent(location)


DAY = timedelta(days=1)
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)


class TestExpire:
    @pytest.fixture
    def index(self, location):
        with Index(location, recipe=EXACT, workers=1) as index:
            index.add("a", BASE, at=NOON)
            index.add("b", BASE + " and more", at=NOON + DAY)
            index.add("x", OTHER, at=NOON - DAY)
            index.add("c", BASE + " and fifteen", at=NOON - 2 * DAY)
            index.add("y", OTHER, at=NOON + 9 * DAY)
            yield index
        check_consistent(location)

    def test_the_moment_is_exclusive(self, index):
        assert index.expire(before=NOON - 2 * DAY).removed == 0
        removed = index.expire(before=NOON)
        assert (removed.removed, removed.freed, removed.freed_count) == (2, ("y",), 1)
        assert states(index) == {"a": "kept", "b": "dropped", "y": "freed"}

    def test_kept_and_dropped(self, index):
        removed = index.expire(before="2024-06-15T20:00:01+08:00")
        assert (removed.removed, removed.freed) == (3, ("b", "y"))
        assert index.reconsider() == [("b", None), ("y", None)]
        assert states(index) == {"b": "kept", "y": "kept"}
        details = index.explain("b").events[0].details
        assert details == {"repeated": "a", "which": "expired"}

    def test_spans(self, index):
        now = datetime.now(UTC)
        index.add("now", OTHER + " And in July.", at=now - timedelta(minutes=30))
        assert index.expire(older_than=timedelta(days=1)).removed == 5
        assert index.expire(older_than="31m").removed == 0
        assert index.expire(older_than="29m").removed == 1

    def test_freed_ones_expire_too(self, index):
        index.remove("a")
        removed = index.expire(before=NOON + 2 * DAY)
        assert (removed.removed, removed.freed) == (3, ("y",))
        assert states(index) == {"y": "freed"}

    @pytest.mark.slow
    def test_more_than_one_transaction_takes(self, location):
        """Keepers go in one transaction, and some of those they free in a later one."""
        base = letters(random.Random(1), 80)
        with Index(location, recipe=EXACT, workers=1) as index:
            texts = [base if at % 3 else f"{base}{at}" for at in range(1300)]
            days = [{"day": NOON + at * DAY} for at in range(1300)]
            many = [one | day for one, day in zip(documents(texts), days, strict=True)]
            index.add_many(many, at_field="day")
            index.add_many([{"id": "own", "text": OTHER, "day": NOON + 1200 * DAY}], at_field="day")
            removed = index.expire(before=NOON + 1250 * DAY)
            assert removed.removed == 1250 + 1
            assert removed.freed_count == len(removed.freed) == 50
            assert len(index) == 50
        check_consistent(location)


def test_events_are_kept_in_order(index, location):
    index.remove("a")
    index.reconsider()
    index.remove("b")
    index.reconsider(["c"])
    actions = [event.action for event in index.explain("c").events]
    assert actions == ["freed", "reconsidered", "freed", "reconsidered"]
    times = [event.at for event in index.explain("c").events]
    assert times == sorted(times)
    assert verdicts(location)["c"] is None
