"""Documents out of the index, and kept against the rule; those dropped for them decided again."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from tests.index.consistency import all_keys, check_consistent
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS, documents, families, letters

from neardup import Index, load_recipe
from neardup.index.backends import open_database

OPTIONS = {"recipe": load_recipe("shingle").replace(decide={"threshold": 0.3})}
#: The ways of searching: rare keys, all keys, bands, blocks, none.
SCHEMES = ("general", "shingle", "minhash", "classic", "characters")

every_scheme = pytest.mark.parametrize("name", SCHEMES)


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
    def test_failed_decision_removes_nothing(self, filled, monkeypatch):
        before = list(filled.documents())

        def fail(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("neardup.index.retention._decide", fail)
            for call in (lambda: filled.remove("a"), lambda: filled.expire(before="2999-01-01")):
                with pytest.raises(KeyboardInterrupt):
                    call()
        assert list(filled.documents()) == before

    @pytest.mark.slow
    @every_scheme
    def test_no_key_is_left(self, name, location):
        many = documents(families(12, 12))
        with Index(location, recipe=name, workers=1) as index:
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

    @pytest.mark.slow
    @every_scheme
    def test_freed_documents_are_decided_as_new_ones(self, name, new_place):
        """Some kept ones go; each of those dropped for them is decided as one that comes last."""
        many = documents(families(13, 25))
        texts = {row["id"]: row["text"] for row in many}
        place = new_place()
        options = {"recipe": name, "workers": 1}
        count = 0
        with Index(place, **options) as index:
            index.add_many(many)
            for document in list(index.documents("kept"))[::4]:
                with Index(new_place(), **options) as fresh:
                    for other in index.documents("kept"):
                        if other.id != document.id:
                            assert fresh.add(other.id, texts[other.id]) is None
                    decided = index.remove(document.id).decided
                    if name != "general":
                        # Its statistics are those of all documents.
                        assert [(id, fresh.add(id, texts[id])) for id, _ in decided] == [*decided]
                    count += len(decided)
            assert count > 3
        check_consistent(place)

    @BOTH
    @pytest.mark.slow
    def test_many_are_decided_in_one_transaction(self, index):
        index.add("first", NUMBERS)
        index.add_many([{"id": str(number), "text": NUMBERS} for number in range(600)])
        removed = index.remove("first")
        assert removed.decided_count == 600
        assert [id for id, _ in removed.decided] == [str(number) for number in range(600)]
        assert removed.decided[0][1] is None
        assert {match.id for _, match in removed.decided[1:]} == {"0"}


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

    def test_spans(self, dated):
        dated.add("now", PEARS + " And in July.", at=datetime.now(UTC) - timedelta(minutes=30))
        assert dated.expire(older_than=DAY).removed == 5
        assert dated.expire(older_than="31m").removed == 0
        assert dated.expire(older_than="29m").removed == 1

    @BOTH
    @pytest.mark.slow
    def test_more_than_one_transaction_takes(self, index):
        """Keepers go in one transaction, and some of those dropped for them in a later one."""
        base = letters(random.Random(1), 80)
        many = documents([base if number % 3 else f"{base}{number}" for number in range(1300)])
        many = [row | {"day": NOON + number * DAY} for number, row in enumerate(many)]
        index.add_many(many, at_field="day")
        index.add("own", PEARS, at=NOON + 1200 * DAY)
        removed = index.expire(before=NOON + 1250 * DAY)
        assert removed.removed == 1250 + 1
        assert removed.decided_count == len(removed.decided) <= 50
        assert len(index) == 50


class TestKeep:
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
