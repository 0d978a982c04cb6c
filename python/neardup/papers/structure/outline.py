"""The outline of a paper: the real headings among similar lines, and their depths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from neardup.papers.structure.headings import Form
from neardup.papers.structure.lines import Layout, Line, ends_sentence, layout, wide

__all__ = ["outline"]

Heading = tuple[int, Form, int]

#: Numbers that may be missing between two headings, since some are not recognized.
_MISSING = 1
#: A line of this share of the usual width is full: the next line continues it.
_FULL = 0.8
#: This many headings without text between them are a table of contents.
_LISTING = 4
#: Styles that are only below parts.
_TOP = ("chapter", "roman", "word")
_NUMBERED_HAN = ("part", "chapter", "section", "han", "brackets", "roman")


def outline(found: list[Line], forms: Sequence[Form | None]) -> list[Heading]:
    """Return the headings among the lines that look like headings.

    Parameters
    ----------
    found : list of Line
        The lines of the text.
    forms : sequence of Form or None, of the same length
        The form of the heading that each line could be.

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
    """Return whether a line continues the paragraph of the line before."""
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
    """Return the headings without lists and tables of contents that lost their page numbers.

    A heading has text before the next heading of its kind.
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
    """Return whether lines are a table of contents: several kinds, with a repeated one."""
    kinds = [_kind(form) for _, form in run if form.style != "word"]
    words = len(run) - len(kinds)
    different = len(set(kinds))
    return len(run) >= _LISTING and different < len(kinds) and (different > 1 or words > 1)


def _behind_table(run: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    """Return the headings directly after a table of contents.

    They begin like the table, or are of kinds that it does not have.
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
    """Return whether the number of a line follows that of the line before."""
    return (
        _kind(one[1]) == _kind(other[1])
        and one[1].style != "word"
        and other[1].numbers == (*one[1].numbers[:-1], one[1].numbers[-1] + 1)
    )


class _Sequence:
    """The headings so far: the depth of each style, and its next number."""

    def __init__(self, has_parts: bool) -> None:
        self.top = 1 + has_parts
        self.levels: dict[str, int] = {}
        self.numbers: dict[str, tuple[int, ...]] = {}
        self.refused: dict[str, tuple[int, ...]] = {}
        self.above = 0

    def level(self, kind: Form) -> int:
        """Return the depth of a heading of this kind.

        A new style is one level below the heading before it.
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
        """Return whether a number follows those before, with some missing ones allowed.

        A line that continues a refused list is refused.
        """
        if kind.style == "chapter" and kind.numbers == (1,):
            # Chapter numbers restart in each volume.
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
            # The introduction before chapters 1, 2, 3 has no number.
            self.above = 0
            return
        self.numbers[kind.style] = kind.numbers
        self.above = level
        for style in list(self.numbers):
            # Deeper levels restart at 1.
            if style != kind.style and self.levels.get(style, 0) > level - (style == "decimal"):
                del self.numbers[style]


def _successor(last: tuple[int, ...], numbers: tuple[int, ...]) -> bool:
    """Return whether a number such as 2.2, 2.3, 2.1.1, 2.1.2 or 3 follows one such as 2.1."""
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
    """Return the headings that are numbered in sequence."""
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
    """Return the headings with levels renumbered from 1 without gaps."""
    depth = {level: n for n, level in enumerate(sorted({level for *_, level in found}), 1)}
    return [(at, kind, depth[level]) for at, kind, level in found]
