"""Where text stands in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neardup.papers.structure.lines import Layout, Line

__all__ = ["HAN", "LONGEST", "quotations"]

#: Code points that a quotation may have with its marks, inclusive.
LONGEST = 2000

#: What a quotation must have at least: a Chinese character or kana counts five, a letter
#: or digit of another script two. So it takes 10 or 25 of them, four or five words.
_LEAST = 50
#: Single marks set off words, and ’ is an apostrophe too: twice as much.
_LEAST_SINGLE = 100

#: Chinese characters and kana, for the inside of a set of a pattern.
HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANS = re.compile(f"[{HAN}]+")
_OTHERS = re.compile(rf"[^\W_{HAN}]+")

_MARKS = re.compile('[“”„「」『』«»"＂‘’]')
_OPENING = {"“": "”", "„": "„", "「": "」", "『": "』", "«": "»", "‘": "’"}
#: Marks with which each paragraph of a quotation may open.
_ANEW = re.compile("[“”「」『』]")
_STRAIGHT = '"＂'
#: Behind these a straight mark opens, whatever is open.
_BEFORE_OPENING = "(（[【:："
_BREAKS = re.compile("[\r\n]")
_BLOCK = re.compile(r">(?:[\s>]|$)")

Span = tuple[int, int]


def quotations(
    text: str, found: list[Line], laid_out: Layout, quoted: Sequence[Span] = ()
) -> list[Span]:
    """Find what stands in quotation marks, and block quotes of markdown.

    Parameters
    ----------
    text : str
    found : list of Line
        Its lines.
    laid_out : Layout
        Whether the straight marks of a pair may stand on two lines.
    quoted : sequence of tuple of int, default=()
        Spans that the file marks as quoted.

    Returns
    -------
    list of tuple of int
        Half-open spans of the text in code points, with the marks, in order and apart.

    Notes
    -----
    Each mark is looked at once, and what a paragraph leaves open is forgotten at its
    end: linear.
    """
    spans = [span for span in quoted if _is_enough(text, *span)]
    if not laid_out.wrapped:
        spans += _opened_anew(text, found)
    at = 0
    while at < len(found):
        end = at + 1
        while end < len(found) and not found[end].after_blank:
            end += 1
        spans += _marked(text, found[at].begin, found[end - 1].end, laid_out)
        spans += _blocks(found, at, end)
        at = end
    spans.sort(key=lambda span: (span[0], -span[1]))
    outer: list[Span] = []
    for span in spans:
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def _size(text: str) -> int:
    return 5 * sum(map(len, _HANS.findall(text))) + 2 * sum(map(len, _OTHERS.findall(text)))


def _is_enough(text: str, begin: int, end: int) -> bool:
    return end - begin <= LONGEST and _size(text[begin:end]) >= _LEAST


def _opened_anew(text: str, found: list[Line]) -> Iterator[Span]:
    """Yield quotations of several paragraphs: each opens, and only the last one closes."""
    opened: int | None = None
    mark = ""
    for line in found:
        goes_on = opened is not None and line.text.startswith(mark)
        end, left_open = _ends_in(line, goes_on)
        if goes_on and opened is not None and end is not None:
            if _is_enough(text, opened, end):
                yield opened, end
            opened = None
        if left_open is None:
            if not goes_on or end is not None:
                opened = None
        elif not (goes_on and end is None):
            opened, mark = left_open, text[left_open]


def _ends_in(line: Line, goes_on: bool) -> tuple[int | None, int | None]:
    """Return where the quotation that goes on in a line ends, and the first mark left open."""
    left: list[tuple[str, int]] = []
    end = None
    for found in _ANEW.finditer(line.text):
        at = line.begin + found.start()
        if found[0] in _OPENING:
            left.append((_OPENING[found[0]], at))
        elif left and left[-1][0] == found[0]:
            closed = left.pop()
            if goes_on and end is None and closed[1] == line.begin:
                end = at + 1
    return end, left[0][1] if left else None


def _marked(text: str, begin: int, end: int, laid_out: Layout) -> Iterator[Span]:
    """Yield the pairs of marks in one paragraph that enclose enough, inner ones too.

    A closing mark belongs to the last open one of its kind. So one that was never
    closed takes nothing with it, up to the next of its kind at least.
    """
    open_marks: dict[str, list[tuple[int, int]]] = {}
    size = 0
    last = begin
    for mark in _MARKS.finditer(text, begin, end):
        at = mark.start()
        size += _size(text[last:at])
        last = at + 1
        sign = mark[0]
        closes = _closes(text, at, open_marks, laid_out)
        if closes is None:
            kind = sign if sign in _STRAIGHT else _OPENING.get(sign)
            if kind is not None and _may_open(text, at):
                if sign in _STRAIGHT:
                    open_marks[kind] = []
                open_marks.setdefault(kind, []).append((at, size))
            continue
        opened, before = open_marks[closes].pop()
        if at + 1 - opened > LONGEST:
            # All that is open below was opened earlier still.
            open_marks[closes].clear()
        elif size - before >= (_LEAST_SINGLE if closes == "’" else _LEAST):
            yield opened, at + 1


def _closes(
    text: str, at: int, open_marks: dict[str, list[tuple[int, int]]], laid_out: Layout
) -> str | None:
    """Return which kind of open mark the mark at `at` closes, or None."""
    sign = text[at]
    if sign in "“”" and open_marks.get("„"):
        return "„"
    if sign == "’":
        return sign if open_marks.get(sign) and not _OTHERS.match(text, at + 1) else None
    if sign not in _STRAIGHT:
        return sign if open_marks.get(sign) else None
    if not open_marks.get(sign):
        return None
    opened = open_marks[sign][-1][0]
    if at - opened > LONGEST or (
        not laid_out.wrapped and _BREAKS.search(text, opened, at) is not None
    ):
        return None
    return None if text[at - 1].isspace() or text[at - 1] in _BEFORE_OPENING else sign


def _may_open(text: str, at: int) -> bool:
    """Tell whether a mark that closes nothing may open a quotation."""
    before = text[at - 1] if at else " "
    sign = text[at]
    if sign == "‘":
        return not _OTHERS.match(before) and not text[at + 1 : at + 2].isdigit()
    if sign in _STRAIGHT:
        # 5" is a length, and the mark behind a full stop closed something that is lost.
        return (
            not (_OTHERS.match(before) or before in ".,;!?)]}%")
            and not text[at + 1 : at + 2].isspace()
        )
    return True


def _blocks(found: list[Line], begin: int, end: int) -> Iterator[Span]:
    """Yield the runs of lines that begin with ``>`` among some lines without blanks between."""
    at = begin
    while at < end:
        first = at
        while at < end and _BLOCK.match(found[at].text):
            at += 1
        if at > first:
            span = found[first].begin, found[at - 1].end
            size = sum(_size(line.text) for line in found[first:at])
            if size >= _LEAST and span[1] - span[0] <= LONGEST:
                yield span
        else:
            at += 1
