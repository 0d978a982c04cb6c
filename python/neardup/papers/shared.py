"""Text that many documents of a library share, at any length: declarations, thanks, lists of names.

Text that a fifth of the documents have, each next to unique text, is not a copy.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from neardup.base.lazy import NDArray, np
from neardup.papers.edits import Span, replace_spans, union_spans
from neardup.papers.marks import count_span_depths, find_spans
from neardup.papers.results import ExcludedSpan

#: A share of the library, from a number of documents on; of fewer, all. Two are always too few: one
#: may have copied from the other.
_ONE_IN, _MANY, _FEWEST = 5, 10, 3

#: Documents that are found by alignment. That more have the text is counted by shingles, since
#: a library gives no more than 64 candidates for each shingle.
_ALIGNED, _CANDIDATES = 48, 64

#: A letter that no text has in long runs: of Linear A.
_FILL = "\U00010600"


def count_required(documents: int) -> int:
    """Return how many documents of a library must share a text; 0 if the library is too small.

    Examples
    --------
    >>> [count_required(documents) for documents in (2, 3, 9, 10, 12, 100)]
    [0, 3, 9, 3, 3, 20]
    """
    if documents < _MANY:
        return documents if documents >= _FEWEST else 0
    return max(-(-documents // _ONE_IN), _FEWEST)


def find_shared_text(
    documents: Sequence[tuple[Iterable[Span], bool]],
    weights: NDArray[np.int8],
    library: int,
    shingle_counts: Callable[[], list[tuple[int, int]]],
) -> list[ExcludedSpan]:
    """Return the stretches of a paper that many documents of a library share.

    `documents` are the spans of the paper that each has, and whether it has little else: then it is
    a copy and does not count. `weights` has the weight of each character of the paper, and
    `library` is the number of documents. `shingle_counts` returns places of the paper, each with
    the number of documents that have the shingle there. A paper that is half shared text is a copy,
    too.
    """
    asked = count_required(library)
    aligned = min(asked, _ALIGNED)
    if not asked or len(documents) < aligned:
        return []
    unions = [(union_spans(spans), is_copy) for spans, is_copy in documents]
    spans_of_all = (span for union, _ in unions for span in union)
    depth = count_span_depths(len(weights), spans_of_all)
    spans_of_others = (span for union, is_copy in unions if not is_copy for span in union)
    other_depth = count_span_depths(len(weights), spans_of_others)
    is_shared = other_depth >= aligned
    if not is_shared.any() or 2 * weights[is_shared].sum() >= weights.sum():
        return []
    is_counted = len(documents) >= _CANDIDATES
    counts = np.array(shingle_counts() if is_counted else [], np.int64).reshape(-1, 2)
    stretches = []
    for begin, end in find_spans(is_shared):
        number = int(depth[begin:end].max())
        within = counts[(counts[:, 0] >= begin) & (counts[:, 0] < end), 1].tolist()
        if within:
            number = min(max(int(statistics.median(within)), number), library)
        if number >= asked and weights[begin:end].any():
            stretches.append(ExcludedSpan(begin, end, "shared", number))
    return stretches


def fill_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text in which no other text has anything in common with these spans.

    Every character keeps its place.
    """
    return replace_spans(text, ((begin, end, _FILL * (end - begin)) for begin, end in spans))
