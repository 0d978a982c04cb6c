"""Two texts beside each other: only the places where they differ, with the words around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neardup.pages.excerpts import around
from neardup.pages.sides import Excerpt, Part, Stretch, parts_of
from neardup.papers.edits import Span, folding, replacements

__all__ = ["Row", "differing_rows"]

#: A row does not grow beyond this length; the next one then begins at its next difference.
_LONGEST = 600
#: Of a difference longer than twice this, only the begin and the end are shown.
_SHOWN = 160


@dataclass(frozen=True)
class Row:
    """A place where two texts differ, of each text; the first row is their beginning."""

    a: Excerpt
    b: Excerpt


def differing_rows(a: str, b: str) -> list[Row]:
    """Return the places where two texts differ, in text order; the first is their beginning.

    Words are compared as in a report of :func:`neardup.check`, without white space and punctuation.

    >>> (row,) = differing_rows("渡船九点开出，风小。", "渡船十点开出，风小。")
    >>> [part for stretch in row.a.stretches for part in stretch.parts]
    [('渡船', False), ('九', True), ('点开出，风小。', False)]
    """
    start: Span = (0, 0)
    places = [(start, start), *replacements(a, b, folding(with_variants=False))]
    rows: list[_Draft] = []
    for place in places:
        in_a, in_b = around(a, *place[0]), around(b, *place[1])
        before = rows[-1] if rows else None
        if before is None or (in_a[0] > before.in_a[1] and in_b[0] > before.in_b[1]):
            rows.append(_Draft(in_a, in_b, [place]))
        elif before.length_with(place, in_a[1], in_b[1]) <= _LONGEST:
            # The words around two places overlap.
            before.in_a, before.in_b = (before.in_a[0], in_a[1]), (before.in_b[0], in_b[1])
            before.places.append(place)
        else:
            cut_a, cut_b = place[0][0], place[1][0]
            before.in_a, before.in_b = (before.in_a[0], cut_a), (before.in_b[0], cut_b)
            rows.append(_Draft((cut_a, in_a[1]), (cut_b, in_b[1]), [place]))
    return [
        Row(
            _side(a, row.in_a, [one for one, _ in row.places]),
            _side(b, row.in_b, [other for _, other in row.places]),
        )
        for row in rows
    ]


@dataclass
class _Draft:
    """A row that grows: what it shows of both texts, and the places where they differ."""

    in_a: Span
    in_b: Span
    places: list[tuple[Span, Span]]

    def length_with(self, place: tuple[Span, Span], end_a: int, end_b: int) -> int:
        """Return the length of its longer side with one more place, if it ends there."""
        lengths = []
        for side, begin, end in ((0, self.in_a[0], end_a), (1, self.in_b[0], end_b)):
            hidden = (_hidden(*one[side]) for one in (*self.places, place))
            lengths.append(end - begin - sum(hidden))
        return max(lengths)


def _hidden(begin: int, end: int) -> int:
    """Return how much of a difference is not shown."""
    return max(end - begin - 2 * _SHOWN, 0)


def _side(text: str, shown: Span, differing: list[Span]) -> Excerpt:
    begin, end = shown
    parts = tuple(_parts(text, begin, end, differing))
    words = Stretch(text[begin:end], 1, True, False, parts)
    return Excerpt((words,), begin > 0, end < len(text))


def _parts(text: str, begin: int, end: int, differing: list[Span]) -> Iterator[Part]:
    for part, differs in parts_of(text, begin, end, differing):
        if differs and (hidden := _hidden(0, len(part))):
            yield part[:_SHOWN], True
            yield f" … {hidden:,} … ", False
            yield part[-_SHOWN:], True
        else:
            yield part, differs
