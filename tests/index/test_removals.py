"""Removals as an editor reviews them: listed, confirmed, kept, and undone."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from random import Random
from threading import Barrier

import pytest
from tests.index.consistency import check_consistent
from tests.index.databases import BOTH
from tests.index.written import PEARS

from neardup.exceptions import InputError, ParameterError
from neardup.index import Index, RemovalFilter

NOTICE = (
    "The library by the harbour opens again on Saturday. The new reading room has oak tables, a "
    "corner for children and a view of the ferries. Readers need a card, which the desk gives out."
)
COPIES = {
    "far": NOTICE.replace("oak tables", "tall shelves").replace("children", "pupils"),
    "near": NOTICE.replace("oak tables", "elm tables"),
    "same": NOTICE,
}


@pytest.fixture
def reviewed(index):
    """An index with three removals for one document, and one for another."""
    index.add("numbers", NOTICE, title="Numbers", at="2026-03-01")
    for day, (id, text) in enumerate(COPIES.items()):
        assert index.add(id, text, title=f"Title {id}", source="web", at=f"2026-03-1{day}")
    index.add("pears", PEARS, at="2026-02-01")
    assert index.add("pears-2", PEARS + " End.", source="wire", at="2026-02-02")
    return index


def ids(index, **fields):
    return [removal.document.id for removal in index.removals(RemovalFilter(**fields))]


def states(index, *ids):
    return [index.get(id).state for id in ids]


FILTERS = [
    ({"source": "wire"}, {"pears-2"}),
    ({"since": datetime(2026, 3, 11, tzinfo=UTC)}, {"near", "same"}),
    ({"until": datetime(2026, 3, 11, tzinfo=UTC)}, {"far", "pears-2"}),
    # Without a zone a time is in UTC.
    ({"since": datetime(2026, 3, 11)}, {"near", "same"}),
    ({"since": "2026-03-11"}, {"near", "same"}),
    ({"until": "2026-03-11T08:00:00+08:00"}, {"far", "pears-2"}),
    ({"min_similarity": 1.0, "source": "web"}, {"same"}),
    ({"max_similarity": 0.1}, set()),
    ({"search": "TITLE near"}, {"near"}),
    ({"search": "shelves"}, {"far"}),
    ({"search": "nowhere"}, set()),
    ({"confirmed": True}, set()),
]


@BOTH
class TestRemovals:
    def test_the_order(self, reviewed):
        doubt = ids(reviewed)
        assert doubt.index("far") < doubt.index("near") < doubt.index("same")
        assert ids(reviewed, order="newest") == ["same", "near", "far", "pears-2"]
        assert ids(reviewed, order="cluster") == ["far", "near", "same", "pears-2"]
        for order in ("doubt", "newest", "cluster"):
            wanted = RemovalFilter(order=order)
            every = list(reviewed.removals(wanted))
            for number, removal in enumerate(every):
                after = list(reviewed.removals(wanted, after=removal.position))
                assert after == every[number + 1 :]

    def test_filters(self, reviewed):
        for fields, expected in FILTERS:
            assert set(ids(reviewed, **fields)) == expected, fields
            if "search" not in fields:
                count = reviewed.count_removals(RemovalFilter(**fields))
                assert count == len(expected), fields

    def test_removal_holds_both_documents(self, reviewed):
        removal = next(reviewed.removals())
        assert removal.document == reviewed.get(removal.document.id)
        assert removal.kept == reviewed.get(removal.document.repeats.id)

    def test_wrong_parameters(self, reviewed):
        for call in (
            lambda: next(reviewed.removals(RemovalFilter(order="x"))),
            lambda: next(reviewed.removals(after="x")),
            lambda: reviewed.removals(RemovalFilter(since="yesterday")),
            lambda: reviewed.removals(RemovalFilter(until="2026-02-30")),
            lambda: reviewed.count_removals(RemovalFilter(since=20260311)),
            lambda: reviewed.count_arrivals("yesterday"),
            lambda: reviewed.confirm("same", by=3),
        ):
            with pytest.raises(ParameterError):
                call()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *((name, value) for name in ("search", "source") for value in (None, 3, ["a"])),
            *(
                (f"{bound}_similarity", value)
                for bound in ("min", "max")
                for value in (None, "0.5", True, -0.1, 1.5, float("nan"))
            ),
            ("confirmed", 1),
            ("order", None),
            ("since", 3),
        ],
    )
    def test_filter_with_wrong_value_names_the_parameter(self, reviewed, name, value):
        wanted = RemovalFilter(**{name: value})
        for call in (reviewed.removals, reviewed.count_removals):
            with pytest.raises(ParameterError) as caught:
                call(wanted)
            assert caught.value.values["parameter"] == name

    def test_arrivals(self, reviewed):
        assert reviewed.count_arrivals("2026-03-01") == (4, 3)
        assert reviewed.count_arrivals("2027-01-01") == (0, 0)

    def test_more_than_a_page(self, index):
        index.add("first", NOTICE)
        many = [f"copy-{number:03}" for number in range(250)]
        index.add_many([{"id": id, "text": NOTICE} for id in many])
        assert ids(index) == many
        for id in many[::50]:
            index.confirm(id)
        assert [event.id for event in index.decisions()] == many[::50][::-1]


class TestDecisions:
    @BOTH
    def test_a_confirmed_removal_is_listed_as_such(self, reviewed):
        reviewed.confirm("near", by="李编辑")
        assert ids(reviewed, confirmed=True) == ["near"]
        assert "near" not in ids(reviewed, confirmed=False)
        (event,) = reviewed.decisions()
        assert (event.action, event.id, event.details) == ("confirmed", "near", {"by": "李编辑"})
        reviewed.undo("near", by="Wang")
        assert ids(reviewed, confirmed=True) == []
        reviewed.undo("near")
        assert ids(reviewed, confirmed=True) == ["near"]
        actions = [(event.action, event.is_last) for event in reviewed.decisions()]
        assert actions == [("confirmed", True), ("undone", False), ("confirmed", False)]

    def test_a_confirmation_is_about_one_decision(self, reviewed):
        reviewed.confirm("near")
        reviewed.reconsider(["near"])
        assert ids(reviewed, confirmed=True) == []
        reviewed.confirm("near")
        reviewed.remove("near")
        reviewed.add("near", COPIES["near"], at="2026-03-11")
        assert ids(reviewed, confirmed=True) == []
        reviewed.confirm("near")
        reviewed.expire(before="2026-04-01")
        reviewed.add("numbers", NOTICE)
        reviewed.add("near", COPIES["near"])
        assert ids(reviewed) == ids(reviewed, confirmed=False) == ["near"]
        assert not any(event.is_last for event in reviewed.decisions())

    @BOTH
    def test_keeping_is_undone_with_what_it_led_to(self, reviewed):
        reviewed.keep("far", by="Li")
        closest = COPIES["far"].replace("a card", "a ticket")
        assert reviewed.add("later", closest).id == "far"
        reviewed.undo("far", by="Wang")
        assert states(reviewed, "far") == ["dropped"]
        assert reviewed.get("far").repeats.id == "numbers"
        later = reviewed.get("later")
        assert later.state == "kept" or later.repeats.id == "numbers"
        reviewed.undo("far")
        assert states(reviewed, "far") == ["kept"]
        assert [event.action for event in reviewed.decisions()] == ["kept", "undone", "kept"]

    @BOTH
    def test_several_editors_at_once(self, location):
        with Index(location) as index:
            index.add("numbers", NOTICE)
            for id, text in COPIES.items():
                index.add(id, text)
            index.keep("far")
        begin = Barrier(4)

        def work(seed):
            random = Random(seed)
            with Index(location) as index:
                begin.wait()
                for _ in range(12):
                    action = random.choice([index.keep, index.confirm, index.undo, index.undo])
                    with suppress(InputError):
                        action(random.choice(["far", "near"]))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        check_consistent(location)

    def test_invalid_decision_is_refused(self, reviewed):
        with pytest.raises(InputError, match="no document"):
            reviewed.confirm("none")
        with pytest.raises(InputError, match="not dropped"):
            reviewed.confirm("numbers")
        for id in ("none", "numbers", "near"):
            with pytest.raises(InputError, match="no decision"):
                reviewed.undo(id)
        # What happened since would be undone as well.
        reviewed.confirm("near")
        reviewed.reconsider(["near"])
        with pytest.raises(InputError, match="no decision"):
            reviewed.undo("near")


@BOTH
class TestNearMisses:
    def test_the_most_similar_that_are_no_duplicates(self, reviewed):
        text = " ".join(NOTICE.split()[:16]) + " and then something else entirely, told at length."
        assert reviewed.query(text) == []
        misses = reviewed.near_misses(text)
        assert [match.id for match in misses] == ["numbers"]
        assert 0 < misses[0].similarity < reviewed.stats().threshold
        assert reviewed.near_misses(NOTICE) == []
        assert reviewed.near_misses("。。。") == []
