"""Limits on the evidence that a report shows: they and the paper bound its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.base.lazy import NDArray, np
from neardup.base.messages import Message
from neardup.base.validation import check_whole
from neardup.exceptions import InputError
from neardup.papers.results import Passage
from neardup.readers.document_text import FileText


@dataclass(frozen=True)
class ReportLimits:
    """Limits of the evidence that a report shows. No rate depends on them.

    Parameters
    ----------
    max_passages : int, default=1000
        Largest number of passages in a report, at least 1.
    max_source_passages : int, default=200
        Largest number of passages of one source, at least 1.
    max_source_text : int, default=1000000
        Limit on the source text beside the passages, in code points, at least 1. No passage
        is added after the limit is reached; the last one is never cut.

    Raises
    ------
    ParameterError
        If a limit is not a whole number, or is below 1.

    Examples
    --------
    >>> ReportLimits(max_source_passages=20).max_passages
    1000
    """

    max_passages: int = 1000
    max_source_passages: int = 200
    max_source_text: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("max_passages", "max_source_passages", "max_source_text"):
            # JSON cannot represent NumPy numbers.
            object.__setattr__(self, name, check_whole(getattr(self, name), name, 1))


#: Bytes that a process takes before it reads a paper, and for each character of a paper: measured
#: on Chinese papers of 2.4 to 10 million characters (140 to 165) with copies from 59 sources, and
#: on English papers of 6 and 13 million (70 to 80).
_BASE, _BYTES = 150 << 20, 165


def check_size(paper: FileText, name: str, memory: int) -> None:
    """Raise InputError for a paper that cannot be checked within a limit of `memory` bytes."""
    needed = _BASE + _BYTES * len(paper.text)
    if needed > memory:
        raise InputError(
            Message(
                "{file}: a paper of {count:,} characters needs {needed:,} MB, more than the limit "
                "of {limit:,} MB. Raise {given[memory]}, or split the paper.",
                code="too_large",
                file=name,
                count=len(paper.text),
                needed=needed // 10**6,
                limit=memory // 10**6,
            )
        )


def choose_passages(
    sources: Sequence[Sequence[Passage]], counts: NDArray[np.bool_], limits: ReportLimits
) -> list[list[Passage]]:
    """Return the passages that a report shows of each source, in their original order.

    The sources come largest first; `counts` are the characters of the paper that count. Within a
    source, larger passages are preferred. Among all passages, those with text that no larger source
    has come first. So as much copied text as possible is marked.
    """
    if _fits(sources, limits):
        return [list(passages) for passages in sources]
    covered = np.zeros(len(counts), np.bool_)
    ranked: list[tuple[bool, int, int, int]] = []
    for source, passages in enumerate(sources):
        largest = sorted(
            range(len(passages)), key=lambda number: (-passages[number].characters, number)
        )
        for rank, number in enumerate(largest[: limits.max_source_passages]):
            repeats = True
            for piece in passages[number].pieces:
                span = slice(piece.begin, piece.end)
                repeats &= not (counts[span] & ~covered[span]).any()
                covered[span] = True
            ranked.append((repeats, rank, source, number))
    shown: list[list[int]] = [[] for _ in sources]
    text = 0
    # The largest passage of each source comes before the second of any.
    for _, _, source, number in sorted(ranked)[: limits.max_passages]:
        if text >= limits.max_source_text:
            break
        text += len(sources[source][number].source_text)
        shown[source].append(number)
    return [
        [sources[source][number] for number in sorted(chosen)]
        for source, chosen in enumerate(shown)
    ]


def _fits(sources: Sequence[Sequence[Passage]], limits: ReportLimits) -> bool:
    return (
        sum(map(len, sources)) <= limits.max_passages
        and max(map(len, sources), default=0) <= limits.max_source_passages
        and sum(len(passage.source_text) for passages in sources for passage in passages)
        <= limits.max_source_text
    )
