"""The result of de-duplication: kept and dropped documents, with the reasons."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from neardup.base.display import DOUBTFUL, ReprMixin, doubtful_rows, rule_of
from neardup.base.lazy import NDArray, _core, np, pa
from neardup.base.messages import Message
from neardup.base.validation import check_whole
from neardup.exceptions import ParameterError
from neardup.readers import Problem
from neardup.run.plan import Plan
from neardup.run.removals import Removals
from neardup.run.summary import Summary

if TYPE_CHECKING:
    from neardup.tasks.review import Review

#: The kind of the kept rows: that of the input.
Rows = TypeVar("Rows")


@dataclass(frozen=True, repr=False, eq=False)
class DedupResult(ReprMixin, Generic[Rows]):
    """The result of de-duplication: kept and dropped documents, with the reasons.

    Parameters
    ----------
    kept : same kind as the input, or None
        The kept rows, unchanged and in input order; None if they were
        written to a file.
    removed : pyarrow.Table
        One row per dropped document, in input order: ``id`` (large_string),
        ``kept_id`` (large_string), ``similarity`` (float64, in [0, 1]), ``measure`` (string),
        ``distance`` (int32, bits; null if a text has no fingerprint), ``kind`` (large_string):
        ``identical`` (the normalized texts are the same), ``equal`` (the texts differ, but the
        similarity is 1) or ``similar``; ``cluster_size`` (int64), the number of documents that the
        kept one represents, itself included. If records have titles, also ``title`` and
        ``kept_title`` (large_string); for files only if they are written to a file. With
        `against` also ``kept_from`` (string): ``input`` or ``against``, whichever has the kept
        document. If ids are repeated, also ``record`` and ``kept_record`` (int64), numbers from
        1 in the whole input, or in `against`.
    keep : ndarray of shape (n_documents,), dtype bool
        Whether each document is kept, in input order.
    summary : Summary
    plan : Plan
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    kept: Rows
    summary: Summary
    plan: Plan
    problems: list[Problem]
    #: None once it is unpickled.
    _removals: Removals | None = field(compare=False)
    #: A byte for each document, 1 if it is kept.
    _flags: bytes
    _reviewed: Callable[[], Review] | None = field(default=None, compare=False)
    #: Titles of the most doubtful rows, where the table has none.
    _titles: Mapping[int, dict[str, str | None]] = field(default_factory=dict, compare=False)

    @cached_property
    def removed(self) -> pa.Table:
        """The dropped documents, with the reasons."""
        assert self._removals is not None, "a table is pickled"
        return self._removals.table()

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Whether each document is kept."""
        return np.frombuffer(self._flags, np.bool_).copy()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the input, which only a review reads again."""
        table = {"removed": self.removed, "keep": self.keep}
        return {**self.__dict__, **table, "_reviewed": None, "_removals": None}

    def _find_least_similar(self, count: int) -> list[int]:
        if self._removals is not None:
            return self._removals.least_similar(count)

        similarities: list[Any] = self.removed.column("similarity").to_pylist()
        return _core.least_similar(memoryview(array("d", similarities)), count)

    def most_doubtful(self) -> list[dict[str, Any]]:
        """Return ids, titles and similarities of the five least similar removals, for a screen."""
        if self._removals is None or self._removals.titles:
            return self.doubtful()
        brief, titles = self._removals.brief, self._titles
        return [brief(row) | titles.get(row, {}) for row in self._find_least_similar(DOUBTFUL)]

    def doubtful(self, count: int = DOUBTFUL) -> list[dict[str, Any]]:
        """Return the least similar near-duplicates that were dropped.

        Parameters
        ----------
        count : int, default=5
            How many, 1 to 2**32 - 1.

        Returns
        -------
        list of dict
            Rows of `removed` with a similarity below 1, the least similar first.

        Raises
        ------
        ParameterError
            If `count` is out of bounds.

        Examples
        --------
        >>> import neardup
        >>> ferry = "The ferry leaves at nine from the old harbour, and at ten from the new one."
        >>> result = neardup.dedup([ferry, f"{ferry} It rains.", "All tickets are sold out."])
        >>> [(row["id"], row["kept_id"]) for row in result.doubtful()]
        [('1', '0')]
        """
        check_whole(count, "count", 1, 2**32 - 1)
        table, titles = self.removed, self._titles
        rows = self._find_least_similar(count)
        return [table.slice(row, 1).to_pylist()[0] | titles.get(row, {}) for row in rows]

    def review(self) -> Review:
        """Return what was dropped as a page to look at; a notebook shows it.

        Returns
        -------
        neardup.tasks.review.Review
            All removals, the least similar first and up to 50,000, the first 100 next to what was
            kept; and the largest groups. ``save`` writes it to a file.

        Raises
        ------
        ParameterError
            If the documents are of files, and `dedup_files` was called without `review`.
        """
        if self._reviewed is None:
            raise ParameterError(
                Message(
                    "{named[review]} of dedup_files must name a file for a review of "
                    "files. Got none."
                )
            )
        return self._reviewed()

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        summary, plan = self.summary, self.plan
        yield "read", summary.read
        if summary.against:
            yield "compared with", summary.against
        for name in ("exact_duplicates", "near_duplicates", "kept"):
            yield name, getattr(summary, name)
        yield "rule", rule_of(plan.measure, plan.threshold, plan.max_distance)
        yield from doubtful_rows(self.most_doubtful())
