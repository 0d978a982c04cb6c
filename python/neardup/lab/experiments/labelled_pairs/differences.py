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
    rows: list[tuple[list[Span], list[tuple[Span, Span]]]] = []
    for place in ((start, start), *replacements(a, b, folding(with_variants=False))):
        shown = [around(text, *span) for text, span in zip((a, b), place, strict=True)]
        if rows:
            before, places = rows[-1]
            sides = list(zip(before, shown, place, strict=True))
            if not all(new[0] > old[1] for old, new, _ in sides):
                # The words around two places overlap.
                both = [(old[0], new[1]) for old, new, _ in sides]
                if _length(both, [*places, place]) <= _LONGEST:
                    rows[-1] = both, [*places, place]
                    continue
                rows[-1] = [(old[0], span[0]) for old, _, span in sides], places
                shown = [(span[0], new[1]) for _, new, span in sides]
        rows.append((shown, [place]))
    return [
        Row(
            *(
                _side(text, span, list(differing))
                for text, span, differing in zip(
                    (a, b), shown, zip(*places, strict=True), strict=True
                )
            )
        )
        for shown, places in rows
    ]


def _length(shown: list[Span], places: list[tuple[Span, Span]]) -> int:
    """Return the length of the longer side of a row as it is shown."""
    hidden = (sum(_hidden(*span) for span in side) for side in zip(*places, strict=True))
    return max(end - begin - cut for (begin, end), cut in zip(shown, hidden, strict=True))


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
