"""Metrics of found passages: precision, recall, granularity and PlagDet."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from neardup.base.validation import bad, check_whole
from neardup.lab.metrics import share

__all__ = ["Case", "PassageScores", "passage_scores"]

#: A text, and begin and end of a span of it.
_Span = tuple[Hashable, int, int]


class Case(NamedTuple):
    """A passage of a document and where it is from; true or detected.

    Parameters
    ----------
    document : hashable
        Name of the document.
    begin, end : int
        Half-open span of the document's text, in code points; not empty.
    source : hashable
        Name of the source.
    source_begin, source_end : int
        Half-open span of the source's text, in code points; not empty.
    """

    document: Hashable
    begin: int
    end: int
    source: Hashable
    source_begin: int
    source_end: int


@dataclass(frozen=True)
class PassageScores:
    """Scores of detections; shares are in [0, 1], and a share of nothing is 1.

    A detection, a reported passage, detects a case if it shares at least one character with it
    on either side, in the document and in the source. Only what detections share with cases that
    they detect is right.

    Parameters
    ----------
    cases : int
        True passages.
    detected : int
        Cases that at least one detection detects.
    detections : int
        Reported passages.
    precision : float
        Mean over detections of the share of their characters, on both sides, that are right.
    recall : float
        Mean over cases of the share of their characters, on both sides, that were found.
    micro_precision, micro_recall : float
        The same over all characters together, each once.
    granularity : float
        Mean number of detections of a detected case, in [1, detections]; 1 if none was detected.
    """

    cases: int
    detected: int
    detections: int
    precision: float
    recall: float
    micro_precision: float
    micro_recall: float
    granularity: float

    @property
    def f1(self) -> float:
        """Harmonic mean of macro precision and recall, in [0, 1]."""
        return _harmonic(self.precision, self.recall)

    @property
    def plagdet(self) -> float:
        """F1 over the logarithm of the granularity, in [0, 1]."""
        return self.f1 / math.log2(1 + self.granularity)

    @property
    def micro_plagdet(self) -> float:
        """PlagDet of the micro-averages, in [0, 1]."""
        f1 = _harmonic(self.micro_precision, self.micro_recall)
        return f1 / math.log2(1 + self.granularity)


def passage_scores(found: Iterable[Case], true: Iterable[Case]) -> PassageScores:
    """Return the scores of found passages.

    Parameters
    ----------
    found : iterable of Case
        The detections; tuples of the same six values will do. A repeated one
        counts each time.
    true : iterable of Case
        The cases.

    Returns
    -------
    PassageScores

    Raises
    ------
    ParameterError
        If an item is not a tuple of six, a bound is not a whole number >= 0, or a span is
        empty.

    Notes
    -----
    The measures are those of Potthast et al. [1]_; PlagDet of the macro-averages
    is what the PAN competitions ranked by. The paper does not define a share of nothing. A
    character of a document and one of a source are always different, even if both texts have
    the same name. A sum of fractions is rounded once, so the order of cases and detections
    changes nothing. O(c d) for c cases and d detections of one document and one source; other
    pairs cost nothing.

    References
    ----------
    .. [1] Potthast, Stein, Barrón-Cedeño, Rosso. An evaluation framework for
       plagiarism detection. COLING 2010.

    Examples
    --------
    One case of 100 characters, found in two halves of 40 and 60, and nothing
    else:

    >>> case = Case("thesis", 200, 300, "book", 0, 100)
    >>> halves = [("thesis", 200, 240, "book", 0, 40), ("thesis", 240, 300, "book", 40, 100)]
    >>> scores = passage_scores(halves, [case])
    >>> scores.precision, scores.recall, scores.granularity
    (1.0, 1.0, 2.0)
    >>> round(scores.plagdet, 3)
    0.631

    Found by its first half, with as much before it that is not from there:

    >>> scores = passage_scores([("thesis", 150, 250, "book", 0, 50)], [case])
    >>> round(scores.precision, 3), scores.recall
    (0.667, 0.5)
    """
    detections = [_checked(item, "found") for item in found]
    cases = [_checked(item, "true") for item in true]
    right_of_detection: list[list[_Span]] = [[] for _ in detections]
    right_of_case: list[list[_Span]] = [[] for _ in cases]
    times = [0] * len(cases)
    of_texts: dict[tuple[Hashable, Hashable], list[int]] = {}
    for number, detection in enumerate(detections):
        of_texts.setdefault((detection.document, detection.source), []).append(number)
    for place, case in enumerate(cases):
        for number in of_texts.get((case.document, case.source), ()):
            common = _common(case, detections[number])
            if common:
                times[place] += 1
                right_of_case[place] += common
                right_of_detection[number] += common
    detected = sum(1 for count in times if count)
    right = _covered(chain(*right_of_case))
    return PassageScores(
        cases=len(cases),
        detected=detected,
        detections=len(detections),
        precision=_mean_share(detections, right_of_detection),
        recall=_mean_share(cases, right_of_case),
        micro_precision=share(right, _covered(chain(*map(_sides, detections)))),
        micro_recall=share(right, _covered(chain(*map(_sides, cases)))),
        granularity=sum(times) / detected if detected else 1.0,
    )


def _sides(case: Case) -> list[_Span]:
    """The spans of the document and of the source; two texts even if they have the same name."""
    return [
        (("document", case.document), case.begin, case.end),
        (("source", case.source), case.source_begin, case.source_end),
    ]


def _common(a: Case, b: Case) -> list[_Span]:
    """What two passages of the same texts share on each side; nothing if one side shares none."""
    sides = [
        (text, max(begin, other_begin), min(end, other_end))
        for (text, begin, end), (_, other_begin, other_end) in zip(
            _sides(a), _sides(b), strict=True
        )
    ]
    return sides if all(begin < end for _, begin, end in sides) else []


def _mean_share(passages: list[Case], right: list[list[_Span]]) -> float:
    """Mean share of the passages' characters that are right."""
    if not passages:
        return 1.0
    shares = (
        _covered(spans) / _covered(_sides(case))
        for case, spans in zip(passages, right, strict=True)
    )
    return math.fsum(shares) / len(passages)


def _covered(spans: Iterable[_Span]) -> int:
    """How many characters some spans cover, each character of a text once."""
    of_text: dict[Hashable, list[tuple[int, int]]] = {}
    for text, begin, end in spans:
        of_text.setdefault(text, []).append((begin, end))
    total = 0
    for parts in of_text.values():
        reached = 0
        for begin, end in sorted(parts):
            total += max(0, end - max(begin, reached))
            reached = max(reached, end)
    return total


def _harmonic(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b else 0.0


def _checked(item: Case, name: str) -> Case:
    if not isinstance(item, tuple) or len(item) != len(Case._fields):
        raise bad(name, "cases: document, begin, end, source, source_begin, source_end", item)
    case = Case(*item)
    bounds = (case.begin, case.end, case.source_begin, case.source_end)
    begin, end, source_begin, source_end = (check_whole(value, name, 0) for value in bounds)
    if begin >= end or source_begin >= source_end:
        raise bad(name, "spans that are not empty", item)
    return Case(case.document, begin, end, case.source, source_begin, source_end)
