"""Parts of a paper that are set aside: quotations, references, tables of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neardup.base.validation import check_string
from neardup.papers.edits import HAN, Span
from neardup.papers.results import ExcludedSpan
from neardup.papers.structure.headings import Line, find_wrapped_width, split_lines
from neardup.papers.structure.lists import find_lists, select_disjoint

#: Largest number of code points of a quotation with its marks, inclusive.
LONGEST = 2000

#: Smallest weight of a quotation: a Chinese character or kana counts five, a letter or
#: digit of another script two. So a quotation has at least 10 or 25 of them.
_LEAST = 50
#: Twice as much for single marks, which set off words; ’ is also an apostrophe.
_LEAST_SINGLE = 100

_HANS = re.compile(f"[{HAN}]+")
_OTHERS = re.compile(rf"[^\W_{HAN}]+")

_MARKS = re.compile('[“”„「」『』«»"＂‘’]')
_OPENING = {"“": "”", "„": "„", "「": "」", "『": "』", "«": "»", "‘": "’"}
#: Marks that may open each paragraph of a quotation.
_ANEW = re.compile("[“”「」『』]")
_STRAIGHT = '"＂'
#: After these, a straight mark always opens.
_BEFORE_OPENING = "(（[【:："
_BREAKS = re.compile("[\r\n]")
_BLOCK = re.compile(r">(?:[\s>]|$)")


def find_asides(
    text: str, *, quoted: Sequence[Span] = (), footnotes: int | None = None
) -> list[ExcludedSpan]:
    """Return the parts of a paper that are not its author's words, by their form, in text order.

    `quoted` are spans that the file marks as quoted; a list of references ends before
    `footnotes`. The kinds:

    ``'quotation'``
        From an opening mark to its closing one, both included: “…”, „…“, «…», 「…」, 『…』,
        straight ones, and ‘…’. It has at least 10 Chinese characters or kana, or 25
        letters and digits of other scripts, or a mixture that amounts to as much; in
        ‘…’ twice as many. Shorter ones are terms. It has at most 2,000 code points and
        ends before a blank line; with straight marks, it ends at the end of a line if
        lines are paragraphs. Of nested quotations, the outermost counts. If each
        paragraph of a quotation has an opening mark and only the last one a closing
        mark, it spans all of them. Block quotes of Markdown (``>``) and text that the
        file marks as quoted have the same bounds. Titles in 《…》 are not quotations.
    ``'references'``, ``'contents'``
        See `find_lists`; they are not searched for quotations.

    The parts are recognized by form, so there are errors of both kinds. Linear.

    Examples
    --------
    >>> text = "他写道：“河水涨到第三级石阶，渡口便停了。”\\n\\n参考文献\\n[1] 王岚. 渡口志[M]."
    >>> for aside in find_asides(text):
    ...     print(aside.kind, text[aside.begin : aside.end].splitlines())
    quotation ['“河水涨到第三级石阶，渡口便停了。”']
    references ['参考文献', '[1] 王岚. 渡口志[M].']
    """
    all_lines = list(split_lines(check_string(text, "text")))
    tables, works = find_lists(all_lines)
    if footnotes is not None:
        works = [(begin, min(end, footnotes)) for begin, end in works if begin < footnotes]
    parts = [ExcludedSpan(*span, "contents") for span in tables]
    parts += [ExcludedSpan(*span, "references") for span in works]
    parts.sort(key=lambda aside: aside.begin)
    taken = [(aside.begin, aside.end) for aside in parts]
    quotes = select_disjoint(
        _find_quotations(text, all_lines, find_wrapped_width(all_lines), quoted), taken
    )
    parts += [ExcludedSpan(*span, "quotation") for span in quotes]
    return sorted(parts, key=lambda aside: aside.begin)


def _find_quotations(
    text: str, all_lines: list[Line], width: int, quoted: Sequence[Span] = ()
) -> list[Span]:
    """Return the text in quotation marks, the block quotes of Markdown, and `quoted` spans.

    Only in wrapped text may the straight marks of a pair be on two lines. Linear: each
    mark is processed once, and marks left open are dropped at the end of their paragraph.
    """
    spans = [span for span in quoted if _is_enough(text, *span)]
    if not width:
        spans += _find_reopened(text, all_lines)
    begin = 0
    mark = -1
    while begin < len(all_lines):
        end = begin + 1
        while end < len(all_lines) and not all_lines[end].after_blank:
            end += 1
        first, last = all_lines[begin].begin, all_lines[end - 1].end
        mark = _find_next(_MARKS, text, first, mark)
        if mark < last:
            spans += _find_marked(text, mark, last, width)
        spans += _find_blocks(all_lines, begin, end)
        begin = end
    spans.sort(key=lambda span: (span[0], -span[1]))
    outer: list[Span] = []
    for span in spans:
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def _measure(text: str) -> int:
    return 5 * sum(map(len, _HANS.findall(text))) + 2 * sum(map(len, _OTHERS.findall(text)))


def _is_enough(text: str, begin: int, end: int) -> bool:
    return end - begin <= LONGEST and _measure(text[begin:end]) >= _LEAST


def _find_next(sign: re.Pattern[str], text: str, begin: int, known: int) -> int:
    """Return the place of the first sign from `begin` on, unless the known one is; else the end."""
    if known >= begin:
        return known
    match = sign.search(text, begin)
    return len(text) if match is None else match.start()


def _find_reopened(text: str, all_lines: list[Line]) -> Iterator[Span]:
    """Yield quotations of several paragraphs, which all open; only the last one closes."""
    opened: int | None = None
    mark = ""
    sign = -1
    for line in all_lines:
        sign = _find_next(_ANEW, text, line.begin, sign)
        if opened is None and sign >= line.end:
            continue
        goes_on = opened is not None and line.text.startswith(mark)
        end, left_open = _find_ends(line, goes_on)
        if goes_on and opened is not None and end is not None:
            if _is_enough(text, opened, end):
                yield opened, end
            opened = None
        if left_open is None:
            if not goes_on or end is not None:
                opened = None
        elif not (goes_on and end is None):
            opened, mark = left_open, text[left_open]


def _find_ends(line: Line, goes_on: bool) -> tuple[int | None, int | None]:
    """Return the end of the quotation that continues in a line, and the first open mark."""
    left: list[tuple[str, int]] = []
    end = None
    for match in _ANEW.finditer(line.text):
        position = line.begin + match.start()
        if match[0] in _OPENING:
            left.append((_OPENING[match[0]], position))
        elif left and left[-1][0] == match[0]:
            closed = left.pop()
            if goes_on and end is None and closed[1] == line.begin:
                end = position + 1
    return end, left[0][1] if left else None


def _find_marked(text: str, begin: int, end: int, width: int) -> Iterator[Span]:
    """Yield the pairs of marks in one paragraph that enclose enough text, also nested ones.

    A closing mark belongs to the last open one of its kind. So an unclosed mark has no effect up to
    the next one of its kind.
    """
    open_marks: dict[str, list[tuple[int, int]]] = {}
    size = 0
    last = begin
    for mark in _MARKS.finditer(text, begin, end):
        position = mark.start()
        size += _measure(text[last:position])
        last = position + 1
        sign = mark[0]
        closes = _find_closed(text, position, open_marks, width)
        if closes is None:
            kind = sign if sign in _STRAIGHT else _OPENING.get(sign)
            if kind is not None and _may_open(text, position):
                if sign in _STRAIGHT:
                    open_marks[kind] = []
                open_marks.setdefault(kind, []).append((position, size))
            continue
        opened, before = open_marks[closes].pop()
        if position + 1 - opened > LONGEST:
            # All marks below were opened even earlier.
            open_marks[closes].clear()
        elif size - before >= (_LEAST_SINGLE if closes == "’" else _LEAST):
            yield opened, position + 1


def _find_closed(
    text: str, position: int, open_marks: dict[str, list[tuple[int, int]]], width: int
) -> str | None:
    """Return the kind of the open mark that the mark at `at` closes, or None."""
    sign = text[position]
    if sign in "“”" and open_marks.get("„"):
        return "„"
    if sign == "’":
        return sign if open_marks.get(sign) and not _OTHERS.match(text, position + 1) else None
    if sign not in _STRAIGHT:
        return sign if open_marks.get(sign) else None
    if not open_marks.get(sign):
        return None
    opened = open_marks[sign][-1][0]
    if position - opened > LONGEST or (
        not width and _BREAKS.search(text, opened, position) is not None
    ):
        return None
    return None if text[position - 1].isspace() or text[position - 1] in _BEFORE_OPENING else sign


def _may_open(text: str, position: int) -> bool:
    """Return whether a mark that closes no other may open a quotation."""
    before = text[position - 1] if position else " "
    sign = text[position]
    if sign == "‘":
        return not _OTHERS.match(before) and not text[position + 1 : position + 2].isdigit()
    if sign in _STRAIGHT:
        # 5" is a length, and a mark after a full stop closes a lost opening mark.
        return (
            not (_OTHERS.match(before) or before in ".,;!?)]}%")
            and not text[position + 1 : position + 2].isspace()
        )
    return True


def _find_blocks(all_lines: list[Line], begin: int, end: int) -> Iterator[Span]:
    """Yield the runs of consecutive lines that begin with ``>``, without blank lines."""
    number = begin
    while number < end:
        if all_lines[number].text[0] != ">":
            number += 1
            continue
        first = number
        while number < end and _BLOCK.match(all_lines[number].text):
            number += 1
        if number > first:
            span = all_lines[first].begin, all_lines[number - 1].end
            size = sum(_measure(line.text) for line in all_lines[first:number])
            if size >= _LEAST and span[1] - span[0] <= LONGEST:
                yield span
        else:
            number += 1
