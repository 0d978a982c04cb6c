"""Removals as an editor reviews them: listed, confirmed, kept, and undone."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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


@BOTH
class TestRemovals:
    def test_wrong_parameters(self, reviewed):
        for name, call in (
            ("order", lambda: next(reviewed.removals(RemovalFilter(order="x")))),
            ("after", lambda: next(reviewed.removals(after="x"))),
            ("since", lambda: reviewed.removals(RemovalFilter(since="yesterday"))),
            ("until", lambda: reviewed.removals(RemovalFilter(until="2026-02-30"))),
            ("since", lambda: reviewed.count_removals(RemovalFilter(since=20260311))),
            ("since", lambda: reviewed.count_arrivals("yesterday")),
            ("by", lambda: reviewed.confirm("same", by=3)),
        ):
            with pytest.raises(ParameterError, match=f"'{name}' parameter must"):
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
            with pytest.raises(ParameterError, match=f"'{name}' parameter must"):
                call(wanted)

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


@BOTH
class TestNearMisses:
    def test_near_misses_are_the_most_similar_other_documents(self, reviewed):
        text = " ".join(NOTICE.split()[:16]) + " and then something else entirely, told at length."
        assert reviewed.query(text) == []
        misses = reviewed.near_misses(text)
        assert [match.id for match in misses] == ["numbers"]
        assert 0 < misses[0].similarity < reviewed.stats().threshold
        assert reviewed.near_misses(NOTICE) == []
        assert reviewed.near_misses("。。。") == []
