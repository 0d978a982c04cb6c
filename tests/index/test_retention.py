"""Documents out of the index, and kept against the rule; what is freed is decided again."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from tests.index.consistency import check_consistent, verdicts
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families, letters

from neardup import Index, InputError, load_recipe
from neardup.index.backends import open_database
from neardup.index.schema import all_keys

OPTIONS = {"recipe": load_recipe("shingle").replace(decide={"threshold": 0.3})}
#: The ways of searching: rare keys, all keys, bands, blocks, none.
SCHEMES = ("general", "shingle", "minhash", "classic", "characters")

every_scheme = pytest.mark.parametrize("name", SCHEMES)
with_and_without_texts = pytest.mark.parametrize("store", ["text", "sketch"])


@pytest.fixture
def filled(index):
    index.add("a", NUMBERS)
    index.add("b", NUMBERS + " and more")
    index.add("x", PEARS)
    index.add("c", NUMBERS + " and fifteen")
    index.add("d", NUMBERS + " and more")
    return index


def states(index):
    return {document.id: document.state for document in index.documents()}


class TestRemove:
    @BOTH
    def test_a_kept_one_frees_those_dropped_for_it(self, filled):
        removed = filled.remove("a")
        assert (removed.removed, removed.freed, removed.freed_count) == (1, ("b", "c", "d"), 3)
        assert states(filled) == {"b": "freed", "x": "kept", "c": "freed", "d": "freed"}
        assert filled.query(NUMBERS) == []
        assert filled.remove("c").removed == 1
        stats = filled.stats()
        assert (stats.kept, stats.dropped, stats.freed) == (1, 0, 2)

    def test_a_dropped_one_frees_nobody(self, filled):
        removed = filled.remove("b")
        assert (removed.removed, removed.freed, removed.freed_count) == (1, (), 0)
        assert states(filled) == {"a": "kept", "x": "kept", "c": "dropped", "d": "dropped"}

    @BOTH
    def test_an_id_can_be_used_again(self, filled):
        filled.remove("x")
        with pytest.raises(InputError, match="there is no document 'x'"):
            filled.remove("x")
        assert filled.add("x", NUMBERS + " once more").id == "a"
        assert [event.action for event in filled.explain("x").events] == ["removed"]

    @pytest.mark.slow
    @every_scheme
    @with_and_without_texts
    def test_no_key_is_left(self, name, store, location):
        many = documents(families(12, 12))
        with Index(location, recipe=name, store=store, workers=1) as index:
            index.add_many(many)
            index.recount()
            index.add_many([row | {"id": f"later-{row['id']}"} for row in many])
            for document in list(index.documents()):
                index.remove(document.id)
            check_consistent(location)
            assert len(index) == 0
            assert all(index.query(row["text"]) == [] for row in many)
            assert index.add_many(many).new == len(many)
        with open_database(location, must_exist=True) as database, database.reading() as connection:
            count = connection.execute(select(func.count()).select_from(all_keys)).scalar_one()
        assert (count > 0) == (name != "characters")


class TestReconsider:
    @BOTH
    def test_freed_ones_are_decided_in_the_order_of_arrival(self, filled):
        filled.remove("a")
        decided = filled.reconsider()
        assert [id for id, _ in decided] == ["b", "c", "d"]
        matches = dict(decided)
        assert matches["b"] is None
        assert matches["c"].id == matches["d"].id == "b"
        assert matches["d"].identical
        assert states(filled) == {"x": "kept", "b": "kept", "c": "dropped", "d": "dropped"}
        assert filled.get("d").repeats == matches["d"]
        assert filled.reconsider() == []
        assert filled.explain("c").events[1].details == {"repeats": "b"}

    def test_only_some(self, filled):
        filled.remove("a")
        decided = filled.reconsider(["d", "nosuch", "x", "c", "d"])
        assert [id for id, _ in decided] == ["c", "d"]
        assert states(filled) == {"b": "freed", "x": "kept", "c": "kept", "d": "dropped"}
        assert filled.reconsider([]) == []
        assert filled.reconsider(["b"])[0][1].id in ("c", "d")

    def test_its_fields_stay(self, index):
        index.add("a", NUMBERS)
        index.add("b", NUMBERS, title="t", source="s", at="2024-01-01", extra={"n": 1})
        index.remove("a")
        before = vars(index.get("b"))
        assert index.reconsider() == [("b", None)]
        assert vars(index.get("b")) == {**before, "state": "kept"}

    def test_to_add_a_freed_one_again_decides_it(self, filled):
        filled.remove("a")
        assert filled.add("c", NUMBERS + " and fifteen") is None
        assert filled.add("b", NUMBERS + " and more").id == "c"
        with pytest.raises(InputError, match="'d' already belongs to another text"):
            filled.add("d", PEARS)
        assert states(filled) == {"x": "kept", "c": "kept", "b": "dropped", "d": "freed"}
        added = filled.add_many([{"id": "d", "text": NUMBERS + " and more"}] * 2)
        assert added.keep.tolist() == [False, False]
        assert filled.stats().freed == 0

    @pytest.mark.slow
    @with_and_without_texts
    @every_scheme
    def test_as_if_they_came_again(self, name, store, new_place):
        """Some kept ones go; what is freed is decided as by an index to which it comes last."""
        many = documents(families(13, 25))
        texts = {row["id"]: row["text"] for row in many}
        place, other = new_place(), new_place()
        options = {"recipe": name, "store": store, "workers": 1}
        with Index(place, **options) as index, Index(other, **options) as fresh:
            index.add_many(many)
            for document in list(index.documents("kept"))[::2]:
                index.remove(document.id)
            freed = [document.id for document in index.documents("freed")]
            assert len(freed) > 8
            for document in index.documents("kept"):
                assert fresh.add(document.id, texts[document.id]) is None
            expected = [(id, fresh.add(id, texts[id])) for id in freed]
            assert index.reconsider() == expected
        check_consistent(place)

    @BOTH
    @pytest.mark.slow
    def test_more_than_one_transaction_takes(self, index):
        index.add("first", NUMBERS)
        index.add_many([{"id": str(number), "text": NUMBERS} for number in range(600)])
        assert index.remove("first").freed_count == 600
        decided = index.reconsider()
        assert [id for id, _ in decided] == [str(number) for number in range(600)]
        assert decided[0][1] is None
        assert {match.id for _, match in decided[1:]} == {"0"}


DAY = timedelta(days=1)
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)


class TestExpire:
    @pytest.fixture
    def dated(self, index):
        index.add("a", NUMBERS, at=NOON)
        index.add("b", NUMBERS + " and more", at=NOON + DAY)
        index.add("x", PEARS, at=NOON - DAY)
        index.add("c", NUMBERS + " and fifteen", at=NOON - 2 * DAY)
        index.add("y", PEARS, at=NOON + 9 * DAY)
        return index

    @BOTH
    def test_the_moment_is_exclusive(self, dated):
        assert dated.expire(before=NOON - 2 * DAY).removed == 0
        removed = dated.expire(before=NOON)
        assert (removed.removed, removed.freed, removed.freed_count) == (2, ("y",), 1)
        assert states(dated) == {"a": "kept", "b": "dropped", "y": "freed"}

    @BOTH
    def test_kept_and_dropped(self, dated):
        removed = dated.expire(before="2024-06-15T20:00:01+08:00")
        assert (removed.removed, removed.freed) == (3, ("b", "y"))
        assert dated.reconsider() == [("b", None), ("y", None)]
        assert states(dated) == {"b": "kept", "y": "kept"}
        details = dated.explain("b").events[0].details
        assert details == {"repeated": "a", "which": "expired"}

    def test_spans(self, dated):
        dated.add("now", PEARS + " And in July.", at=datetime.now(UTC) - timedelta(minutes=30))
        assert dated.expire(older_than=DAY).removed == 5
        assert dated.expire(older_than="31m").removed == 0
        assert dated.expire(older_than="29m").removed == 1

    def test_freed_ones_expire_too(self, dated):
        dated.remove("a")
        removed = dated.expire(before=NOON + 2 * DAY)
        assert (removed.removed, removed.freed) == (3, ("y",))
        assert states(dated) == {"y": "freed"}

    @BOTH
    @pytest.mark.slow
    def test_more_than_one_transaction_takes(self, index):
        """Keepers go in one transaction, and some of those they free in a later one."""
        base = letters(random.Random(1), 80)
        many = documents([base if number % 3 else f"{base}{number}" for number in range(1300)])
        many = [row | {"day": NOON + number * DAY} for number, row in enumerate(many)]
        index.add_many(many, at_field="day")
        index.add("own", PEARS, at=NOON + 1200 * DAY)
        removed = index.expire(before=NOON + 1250 * DAY)
        assert removed.removed == 1250 + 1
        assert removed.freed_count == len(removed.freed) == 50
        assert len(index) == 50


class TestKeep:
    @BOTH
    def test_a_dropped_one_is_kept_and_others_are_dropped_for_it(self, filled):
        filled.keep("b")
        document = filled.get("b")
        assert (document.state, document.repeats) == ("kept", None)
        assert document.text == NUMBERS + " and more"
        assert (filled.stats().kept, filled.stats().dropped) == (3, 2)
        assert filled.add("e", NUMBERS + " and more").id == "b"
        assert filled.add("f", NUMBERS).id == "a"
        event = filled.explain("b").events[-1]
        assert (event.action, event.details) == ("kept", {"repeats": "a"})

    def test_a_freed_one(self, filled):
        filled.remove("a")
        filled.keep("b")
        assert filled.stats().freed == 2
        assert filled.query(NUMBERS)[0].id == "b"

    def test_one_that_is_kept(self, filled):
        with pytest.raises(InputError, match="'a' is kept already"):
            filled.keep("a")

    @every_scheme
    def test_every_search_finds_it(self, location, name):
        with Index(location, recipe=name, workers=1) as index:
            text = PEARS * 3
            index.add("first", text)
            assert index.add("second", text).id == "first"
            index.keep("second")
            index.remove("first")
            assert [match.id for match in index.query(text)] == ["second"]
        check_consistent(location)


@BOTH
def test_events_are_kept_in_order(filled, location):
    filled.remove("a")
    filled.reconsider()
    filled.remove("b")
    filled.reconsider(["c"])
    events = filled.explain("c").events
    actions = [event.action for event in events]
    assert actions == ["freed", "reconsidered", "freed", "reconsidered"]
    times = [event.at for event in events]
    assert times == sorted(times)
    assert verdicts(location)["c"] is None
