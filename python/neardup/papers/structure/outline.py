"""Which lines that look like headings are some, and how deep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from neardup.papers.structure.headings import Form
from neardup.papers.structure.lines import Layout, Line, ends_sentence, layout, wide

__all__ = ["outline"]

Heading = tuple[int, Form, int]

#: Numbers that may be missing between two headings, since not all are recognized.
_MISSING = 1
#: A line of this share of the usual width is full: what follows continues it.
_FULL = 0.8
#: Lines that make a table of contents, if no text stands between them.
_LISTING = 4
#: Styles that stand under nothing but parts.
_TOP = ("chapter", "roman", "word")
_NUMBERED_HAN = ("part", "chapter", "section", "han", "brackets", "roman")


def outline(found: list[Line], forms: Sequence[Form | None]) -> list[Heading]:
    """Pick the headings among the lines that look like some.

    Parameters
    ----------
    found : list of Line
        The lines of the text.
    forms : sequence of Form or None, of the same length
        What kind of heading each line could be.

    Returns
    -------
    list of tuple
        Position in `found`, form, and level from 1, in order. Linear.
    """
    laid_out = layout(found)
    candidates = [
        (at, kind)
        for at, kind in enumerate(forms)
        if kind is not None and not _continues(found, forms, at, kind, laid_out)
    ]
    if sum(kind.style == "markdown" for _, kind in candidates) > 1:
        return _compressed(
            [(at, kind, kind.numbers[0]) for at, kind in candidates if kind.style == "markdown"]
        )
    return _compressed(_numbered(_with_text(candidates)))


def _continues(
    found: list[Line], forms: Sequence[Form | None], at: int, kind: Form, laid_out: Layout
) -> bool:
    """Tell whether a line goes on with the paragraph of the line before."""
    if not laid_out.wrapped or not at or kind.style in ("word", "markdown"):
        return False
    before = found[at - 1].text
    return (
        not found[at].after_blank
        and forms[at - 1] is None
        and not ends_sentence(before)
        and "\t" not in before
        and wide(before) >= _FULL * laid_out.width
    )


def _with_text(candidates: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    """Leave out lists, and tables of contents that lost the numbers of their pages.

    A heading has text before the next one of its kind.
    """
    kept: list[tuple[int, Form]] = []
    begin = 0
    while begin < len(candidates):
        end = begin + 1
        while end < len(candidates) and candidates[end][0] == candidates[end - 1][0] + 1:
            end += 1
        run = candidates[begin:end]
        if _is_table(run):
            run = _behind_table(run)
        kept += [
            here
            for place, here in enumerate(run)
            if not (place and _follows(run[place - 1], here))
            and not (place + 1 < len(run) and _follows(here, run[place + 1]))
        ]
        begin = end
    return kept


def _is_table(run: list[tuple[int, Form]]) -> bool:
    """Tell whether lines are a table of contents: some of one kind, and of more kinds than one."""
    kinds = [_kind(form) for _, form in run if form.style != "word"]
    words = len(run) - len(kinds)
    different = len(set(kinds))
    return len(run) >= _LISTING and different < len(kinds) and (different > 1 or words > 1)


def _behind_table(run: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    """Return the headings that stand directly behind a table of contents.

    They begin with what the table begins with, or are of kinds that it does not have.
    """
    seen: set[Form] = set()
    for place, (_, form) in enumerate(run):
        if form in seen:
            return run[place:]
        seen.add(form)
    kinds = Counter(_kind(form) for _, form in run)
    kept = len(run)
    while kept and run[kept - 1][1].style != "word" and kinds[_kind(run[kept - 1][1])] == 1:
        kept -= 1
    return run[kept:]


def _kind(form: Form) -> tuple[str, int]:
    return form.style, len(form.numbers)


def _follows(one: tuple[int, Form], other: tuple[int, Form]) -> bool:
    """Tell whether a line has the number after that of the line before it."""
    return (
        _kind(one[1]) == _kind(other[1])
        and one[1].style != "word"
        and other[1].numbers == (*one[1].numbers[:-1], one[1].numbers[-1] + 1)
    )


class _Sequence:
    """The headings so far: how deep each style stands, and what number comes next."""

    def __init__(self, has_parts: bool) -> None:
        self.top = 1 + has_parts
        self.levels: dict[str, int] = {}
        self.numbers: dict[str, tuple[int, ...]] = {}
        self.refused: dict[str, tuple[int, ...]] = {}
        self.above = 0

    def level(self, kind: Form) -> int:
        """Return how deep a heading of this kind stands.

        A style that was not seen before stands under the heading before it.
        """
        if kind.style == "word":
            return 1
        if kind.style in _TOP:
            return self.top
        if kind.style == "part":
            return 1
        depth = len(kind.numbers)
        if kind.style not in self.levels:
            self.levels[kind.style] = max(1, self.above + 1 - (depth - 1))
        return self.levels[kind.style] + depth - 1

    def comes_next(self, kind: Form) -> bool:
        """Tell whether a number follows those before, some missing ones allowed.

        What goes on with a list that was refused is refused.
        """
        if kind.style == "chapter" and kind.numbers == (1,):
            # Chapters begin again in each volume.
            return True
        last = self.numbers.get(kind.style)
        refused = self.refused.get(kind.style)
        if refused is not None and kind.numbers == (*refused[:-1], refused[-1] + 1):
            return False
        if last is None:
            return kind.style in _NUMBERED_HAN or kind.numbers[-1] <= 1 + _MISSING
        return _successor(last, kind.numbers)

    def accept(self, kind: Form, level: int) -> None:
        self.refused.clear()
        if kind.style == "word":
            # The introduction of one that numbers chapters 1, 2, 3 has no number.
            self.above = 0
            return
        self.numbers[kind.style] = kind.numbers
        self.above = level
        for style in list(self.numbers):
            # What stands deeper begins at 1 again.
            if style != kind.style and self.levels.get(style, 0) > level - (style == "decimal"):
                del self.numbers[style]


def _successor(last: tuple[int, ...], numbers: tuple[int, ...]) -> bool:
    """Tell whether 2.2, 2.3, 2.1.1, 2.1.2 or 3 comes after 2.1, and so on."""
    shared = 0
    while shared < min(len(last), len(numbers)) and last[shared] == numbers[shared]:
        shared += 1
    rest = numbers[shared:]
    if not rest:
        return False
    before = last[shared] if shared < len(last) else 0
    deeper_ones_begin = all(number <= 1 + _MISSING for number in rest[1:])
    return before < rest[0] <= before + 1 + _MISSING and deeper_ones_begin


def _numbered(candidates: list[tuple[int, Form]]) -> list[Heading]:
    """Keep what is numbered in sequence."""
    so_far = _Sequence(any(kind.style == "part" for _, kind in candidates))
    kept = []
    for at, kind in candidates:
        if kind.style == "markdown":
            kept.append((at, kind, 1))
            continue
        if kind.style != "word" and not so_far.comes_next(kind):
            so_far.refused[kind.style] = kind.numbers
            continue
        level = so_far.level(kind)
        so_far.accept(kind, level)
        kept.append((at, kind, level))
    return kept


def _compressed(found: list[Heading]) -> list[Heading]:
    """Number the levels that occur from 1 without gaps."""
    depth = {level: n for n, level in enumerate(sorted({level for *_, level in found}), 1)}
    return [(at, kind, depth[level]) for at, kind, level in found]
