"""Which characters differ between two stretches that are known to correspond.

For showing only: nothing is decided by it. Both stretches are walked together; where they part,
a window of each is compared, and the walk goes on behind what is equal in them.
"""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

__all__ = ["Differences", "Span"]

#: A half-open span, in code points.
Span = tuple[int, int]

# Where texts part, this much of each is compared.
_WINDOW = 160
# Fewer equal characters between two differences are an accident, and confetti to a reader.
_LEAST_EQUAL = 2
# Comparing a window takes time in proportion to its pairs of equal characters, and some in
# any case. After that many the rest is left unmarked: at most about a second of one core.
_MOST_PAIRS = 3_000_000
_LEAST_PAIRS = 500
_STRIDE = 4096


class Differences:
    """Differing characters of pairs of stretches, within a bound of work for all of them.

    Parameters
    ----------
    most : int, default=3000000
        Pairs of equal characters that are looked at, about.

    Attributes
    ----------
    complete : bool
        False once the bound was reached: later differences are not marked.
    """

    def __init__(self, most: int = _MOST_PAIRS) -> None:
        self._left = most
        self.complete = True

    def between(self, a: str, b: str) -> tuple[list[Span], list[Span]]:
        """Return the spans of each text that the other does not have there.

        Parameters
        ----------
        a, b : str

        Returns
        -------
        tuple of two lists of (int, int)
            In order, not overlapping, none empty.

        Examples
        --------
        >>> Differences().between("票价与旧渡轮相同", "票价和旧渡轮都相同")
        ([(2, 3)], [(2, 3), (6, 7)])
        """
        found: tuple[list[Span], list[Span]] = ([], [])
        at_a = at_b = 0
        while True:
            equal = _equal_prefix(a, at_a, b, at_b)
            at_a, at_b = at_a + equal, at_b + equal
            if at_a == len(a) or at_b == len(b):
                _add(found[0], at_a, len(a))
                _add(found[1], at_b, len(b))
                return found
            if self._left <= 0:
                self.complete = False
                return found
            self._left -= _cost(a[at_a : at_a + _WINDOW], b[at_b : at_b + _WINDOW])
            at_a, at_b = _window(a, at_a, b, at_b, found)


def _cost(a: str, b: str) -> int:
    in_b = Counter(b)
    return max(sum(count * in_b[one] for one, count in Counter(a).items()), _LEAST_PAIRS)


def _window(
    a: str, at_a: int, b: str, at_b: int, found: tuple[list[Span], list[Span]]
) -> tuple[int, int]:
    """Mark what differs in a window, and return where the walk goes on."""
    end_a, end_b = min(at_a + _WINDOW, len(a)), min(at_b + _WINDOW, len(b))
    matcher = SequenceMatcher(None, a[at_a:end_a], b[at_b:end_b], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= _LEAST_EQUAL]
    is_last = end_a == len(a) and end_b == len(b)
    # What follows the last equal stretch may be equal to what the window cuts off.
    done_a, done_b = at_a, at_b
    for block in blocks:
        _add(found[0], done_a, at_a + block.a)
        _add(found[1], done_b, at_b + block.b)
        done_a, done_b = at_a + block.a + block.size, at_b + block.b + block.size
    if is_last or not blocks:
        _add(found[0], done_a, end_a)
        _add(found[1], done_b, end_b)
        return end_a, end_b
    return done_a, done_b


def _equal_prefix(a: str, at_a: int, b: str, at_b: int) -> int:
    most = min(len(a) - at_a, len(b) - at_b)
    equal = 0
    while (
        equal < most
        and a[at_a + equal : at_a + equal + _STRIDE] == b[at_b + equal : at_b + equal + _STRIDE]
    ):
        equal += _STRIDE
    equal = min(equal, most)
    while equal < most and a[at_a + equal] == b[at_b + equal]:
        equal += 1
    return equal


def _add(spans: list[Span], begin: int, end: int) -> None:
    if begin < end:
        if spans and spans[-1][1] == begin:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
