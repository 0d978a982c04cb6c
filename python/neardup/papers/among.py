"""Comparison of papers: common passages, groups of papers, and properties of their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup.papers.cover import clean_property

if TYPE_CHECKING:
    from neardup.papers.paper_check import CheckResult

#: Papers are in one group if a pair of them has this rate, unless a verdict sets a threshold.
GROUPED = 0.15

#: Properties, the most telling first.
_KINDS = {
    "id": "id",
    "origin_id": "id",
    "wps_id": "id",
    "wps_account": "id",
    "author": "person",
    "modified_by": "person",
    "created": "created",
    "modified": "modified",
    "company": "company",
    "title": "title",
    "template": "template",
    "program": "program",
    "producer": "program",
}


class Cell(NamedTuple):
    """The share of a paper that occurs in another one, and the number of that source, from 1."""

    rate: float
    source: int


class Pair(NamedTuple):
    """Two papers by their numbers; the first has the larger share in common."""

    first: int
    second: int
    rate: float


def make_cells(papers: Sequence[CheckResult]) -> dict[tuple[int, int], Cell]:
    """Return the cell of each two papers, by the numbers of the paper and of the other one."""
    numbers = {paper.id: number for number, paper in enumerate(papers)}
    return {
        (row, numbers[source.id]): Cell(source.rate, number)
        for row, paper in enumerate(papers)
        if paper.report is not None
        for number, source in enumerate(paper.report.sources, 1)
        if source.id in numbers
    }


def rank_pairs(of_cells: Mapping[tuple[int, int], Cell]) -> list[Pair]:
    """Return all pairs, the strongest first."""
    strongest: dict[frozenset[int], Pair] = {}
    for (row, column), cell in of_cells.items():
        key, pair = frozenset((row, column)), Pair(row, column, cell.rate)
        if key not in strongest or strongest[key].rate < pair.rate:
            strongest[key] = pair
    return sorted(strongest.values(), key=lambda pair: (-pair.rate, pair))


def group_papers(of_pairs: Sequence[Pair], least: float) -> list[list[int]]:
    """Return the papers that pairs of at least a rate connect, the largest group first."""
    group_of: dict[int, set[int]] = {}
    for first, second, rate in of_pairs:
        one, other = (group_of.get(paper, {paper}) for paper in (first, second))
        if rate >= least and one is not other:
            group_of |= dict.fromkeys(one | other, one | other)
    distinct = {tuple(sorted(group)) for group in group_of.values()}
    return [list(group) for group in sorted(distinct, key=lambda group: (-len(group), group))]


def find_shared_properties(papers: Sequence[CheckResult]) -> list[tuple[str, str, list[int]]]:
    """Return what the files of at least two papers state: its kind, the value, the papers."""
    holders: dict[tuple[str, str], dict[int, None]] = {}
    for number, paper in enumerate(papers):
        for name, kind in _KINDS.items():
            if value := clean_property(paper.properties.get(name)):
                holders.setdefault((kind, value), {})[number] = None
    order = list(_KINDS.values())
    shared = [(*key, list(numbers)) for key, numbers in holders.items() if len(numbers) > 1]
    return sorted(shared, key=lambda row: (order.index(row[0]), -len(row[2]), row[1]))
