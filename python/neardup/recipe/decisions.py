"""The rule applied to a corpus: each document is kept, or dropped for a kept one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neardup.base.lazy import NDArray, _core, np

#: Documents that a clusterer decides together; Ctrl-C is checked between them.
_STEP = 1024

#: Counts of a search, by their names in the summary of a run.
COUNTS = (
    "visited",
    "candidates",
    "verified",
    "bytes_compared",
    "kept_by_unique_text",
    "capped_lists",
    "skipped_documents",
    "skipped_pairs",
    "largest_form",
)


class Decisions:
    """The decision on each document, by its number: -1 or 0 in each column for a kept one."""

    def __init__(self, count: int) -> None:
        self.all = _core.Decisions(count)
        #: Counts of the search, by their names in the summary of a run.
        self.counts: dict[str, int] = {}
        #: The first documents that were kept for their unique text, each with the kept one for
        #: which it would have been dropped, and the similarity that the two would have.
        self.kept_by_unique_text: list[tuple[int, int, float]] = []

    def decide(
        self,
        clusterer: _core.Clusterer,
        corpus: _core.Corpus,
        order: Any,
        advance: Callable[[int], None],
        *,
        first: int = 0,
        files: bool = True,
    ) -> None:
        """Decide documents in this order, and keep the `first` of them in any case.

        `files` tells whether others may be dropped for them. `advance` is called with the number
        of documents of each step.
        """
        for begin in range(0, first, _STEP):
            step = order[begin : min(begin + _STEP, first)]
            clusterer.file(corpus, step)
            advance(len(step))
        for begin in range(first, len(order), _STEP):
            step = order[begin : begin + _STEP]
            clusterer.decide_into(corpus, step, self.all, files=files)
            advance(len(step))
        self.counts = dict(zip(COUNTS, clusterer.statistics(), strict=True))
        self.kept_by_unique_text = clusterer.first_kept_by_unique_text()

    def columns(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]:
        """Return the kept document, the similarity to it, the distance in bits, and whether the
        two texts are the same."""
        kept_for, similarity, distance, identical = self.all.columns()
        return (
            np.frombuffer(kept_for, np.int64),
            np.frombuffer(similarity, np.float64),
            np.frombuffer(distance, np.int32),
            np.frombuffer(identical, np.bool_),
        )
