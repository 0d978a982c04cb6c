"""The test items that occur in documents, as a result and as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from neardup.base.display import ReprMixin
from neardup.base.lazy import NDArray, np, pa
from neardup.readers import Problem
from neardup.run.summary import Costs

#: Findings that the representation of a result names.
_FIRST = 5


@dataclass
class ContaminationSummary(Costs):
    """Counts of a search for test items, and its :class:`neardup.run.summary.Costs`.

    Parameters
    ----------
    read : int
        Documents.
    unreadable : int
        Documents without a usable text.
    tests : int
        Test items.
    short : int
        Test items of fewer than 20 Chinese characters or 40 letters, which are not looked for.
    common : int
        Test items that occur only as wording which many documents share.
    tests_found : int
        Test items that occur in a document.
    contaminated : int
        Documents in which an item occurs.
    findings : int
        Occurrences of an item in a document.
    kept : int
        Documents that are kept.
    problems : int
        Problems in the documents and in the tests.
    """

    read: int = 0
    unreadable: int = 0
    tests: int = 0
    short: int = 0
    common: int = 0
    tests_found: int = 0
    contaminated: int = 0
    findings: int = 0
    kept: int = 0
    problems: int = 0


@dataclass(frozen=True, repr=False, eq=False)
class ContaminationResult(ReprMixin):
    """The test items that occur in documents.

    Parameters
    ----------
    findings : pyarrow.Table
        One row per occurrence, in the order of the documents, then of the items: of splits
        ``split``, the one of the item, and ``other``, that of the document (string); ``id`` and
        ``test_id`` (string), ``cover`` (float64, share of the item's letters and digits that the
        document has, in [0, 1]), ``begin`` and ``end`` (int64, half-open span of the document's
        text in code points), ``test_begin`` and ``test_end`` (the span of the item), ``text``
        (string, the first 200 characters of what the document has there).
    keep : ndarray of shape (n_documents,), dtype bool
        Whether no item occurs in each document, in input order; of splits, one after the other.
    kept : same kind as the input, or None
        The documents in which no item occurs; None if they were written to a file.
    summary : ContaminationSummary
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    splits : list of dict
        For each ordered pair of splits: ``split``, ``other``, ``items`` (of the split that are
        long enough to be looked for), ``short`` (those that are not) and ``found`` (items that
        occur in the other split). Empty without splits.
    too_short : list of str
        The ids of the items that are shorter than `min_item_length`, and are not looked for.
    """

    findings: pa.Table
    keep: NDArray[np.bool_]
    kept: Any
    summary: ContaminationSummary
    problems: list[Problem]
    splits: list[dict[str, Any]] = field(default_factory=list)
    too_short: list[str] = field(default_factory=list)

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        for pair in self.splits:
            name = f"{pair['split']} in {pair['other']}"
            yield name, f"{pair['found']:,} of {pair['items']:,} items"
        for name in ("read", "tests", "findings", "contaminated", "kept"):
            yield name, getattr(self.summary, name)
        for number, row in enumerate(self.findings.slice(0, _FIRST).to_pylist()):
            line = f"{row['cover']:.2f} of {row['test_id']} in {row['id']}: {row['text']}"
            yield "" if number else "first findings", line


class Finding(NamedTuple):
    """An item in a document: the numbers of both, the passages, and the document's text."""

    document: int
    id: str
    item: int
    places: list[tuple[int, int, int, int]]
    text: str


def make_table(findings: list[Finding], test_ids: list[str], covers: list[float]) -> pa.Table:
    """Return the findings as `ContaminationResult` has them."""
    spans = [(*find_span(finding.places, 0), *find_span(finding.places, 2)) for finding in findings]
    names = ("begin", "end", "test_begin", "test_end")
    return pa.table(
        {
            "id": pa.array([finding.id for finding in findings], pa.string()),
            "test_id": pa.array([test_ids[finding.item] for finding in findings], pa.string()),
            "cover": pa.array(covers, pa.float64()),
            **{
                name: pa.array([span[side] for span in spans], pa.int64())
                for side, name in enumerate(names)
            },
            "text": pa.array([finding.text for finding in findings], pa.string()),
        }
    )


def find_span(places: Sequence[tuple[int, int, int, int]], side: int) -> tuple[int, int]:
    """Return the span from the first to the last passage, in the document (0) or the item (2)."""
    return min(place[side] for place in places), max(place[side + 1] for place in places)
