"""Tables of contents, lists of figures, and lists of references."""

from __future__ import annotations

import re

from neardup.papers.edits import Span
from neardup.papers.structure.headings import (
    Line,
    is_entry,
    is_numbered,
    may_head_list,
    measure_width,
    parse_heading,
    strip_words,
)

_CONTENTS = ("contents", "table of contents", "list of figures", "list of tables")

#: Smallest number of entries under a heading, and of entries or works without one.
_UNDER_HEADING, _ALONE = 2, 3

_REFERENCES = re.compile(
    "(?:主要|部分|本文)?(?:参考|引用|征引)(?:文献|书目|资料)(?:目录|列表|一览)?|注释[与和]参考文献"
    "|references?(?: and notes)?|references cited|literature cited|bibliography|works cited"
)
#: Largest number of code points between the heading, or a work, and the next work.
_GAP = 1000
#: Smallest width of a line of prose, in columns.
_WIDTH = 40
#: Sentences, in Chinese and in English.
_CHINESE = re.compile("，.*[。！？]|[。！？].*[。！？]")
_ENGLISH = re.compile(r"\b(?:the|of|and|to|is|are|was|were|be|have|has|that|this|which|we|not)\b")
_FEW = 3
#: Bounds on the code points of a work in one line, inclusive.
_LONGEST = 600

_NUMBER = re.compile(r"[\[［【〔]\s?(\d{1,4})\s?[\]］】〕]")
_WORK = re.compile(
    # The kind of work in Chinese lists, [J] or [M/OL], and its location.
    r"[\[［【]\s?(?:[A-Z]|[A-Z]{1,2}\s?[/／]\s?[A-Z]{2}|DB|CP|EB)\s?[\]］】]"
    r"|(?i:\bdoi\b|\b10\.\d{4,9}/|https?://|\barxiv\b)"
    # A year with pages, a volume or a publisher.
    r"|\b(?:1[5-9]|20)\d\d\b.{0,120}?(?:\d{1,5}\s?[-–—~～]\s?\d{1,5}\b|\bPress\b|\bpp?\.|\b[Vv]ol\.)"
    r"|(?:出版社|书局|书店|印书馆|\bPress\b|学报).{0,60}?(?:1[5-9]|20)\d\d"
)
#: Smith, J. and Ng, A. (2015)
_AUTHORS = re.compile(
    r"(?:[\[(]?\d{1,4}[\]).]?\s*)?[A-Z][\w'’-]+,\s+(?:[A-Z]\.|[A-Z][a-z]+\b)"
    r".{0,300}?\b(?:1[5-9]|20)\d\d\b"
)


def find_lists(all_lines: list[Line]) -> tuple[list[Span], list[Span]]:
    """Return the tables of contents and the lists of references, as spans of the text."""
    tables = [(all_lines[a].begin, all_lines[b - 1].end) for a, b in find_contents(all_lines)]
    outside = all_lines
    if tables:
        rest = select_disjoint([(line.begin, line.end) for line in all_lines], tables)
        kept = {begin for begin, _ in rest}
        outside = [line for line in all_lines if line.begin in kept]
    works = [(outside[a].begin, outside[b - 1].end) for a, b in find_references(outside)]
    return tables, select_disjoint(works, tables)


def select_disjoint(spans: list[Span], taken: list[Span]) -> list[Span]:
    """Return the spans that do not overlap any of the others; both lists are in order."""
    apart = []
    number = 0
    for begin, end in spans:
        while number < len(taken) and taken[number][1] <= begin:
            number += 1
        if number == len(taken) or taken[number][0] >= end:
            apart.append((begin, end))
    return apart


def find_contents(all_lines: list[Line]) -> list[tuple[int, int]]:
    """Return the tables of contents, as spans of positions in the lines of a text.

    A table begins with its heading (目录, Contents) and continues while lines end in a page number;
    a single line without one is the first half of a long entry. Without a heading, a table has at
    least three such lines in a row whose page numbers do not decrease. Rows of other tables end in
    numbers too. So half of the lines must have dots before the number, or words that look like a
    heading. Linear.
    """
    spans = []
    begin = 0
    while begin < len(all_lines):
        named = is_contents_heading(all_lines[begin].text)
        end, entries = _follow_entries(all_lines, begin + named, named)
        if entries >= (_UNDER_HEADING if named else _ALONE):
            spans.append((begin, end))
            begin = end
        else:
            # No table begins later in a run that is too short.
            begin = max(end, begin + 1)
    return spans


def is_contents_heading(text: str) -> bool:
    """Return whether a line is the heading of a table of contents, or of figures."""
    if not may_head_list(text):
        return False
    words = strip_words(text)
    return (words.endswith(("目录", "目次")) and len(words) <= 4) or words.lower() in _CONTENTS


def _follow_entries(all_lines: list[Line], begin: int, named: bool) -> tuple[int, int]:
    """Return the end of the entries from `begin` on, and their number."""
    if not named:
        return _follow_unheaded(all_lines, begin)
    end = begin
    entries = 0
    while end < len(all_lines):
        if is_entry(all_lines[end].text, how="close"):
            entries += 1
        elif end + 1 == len(all_lines) or not is_entry(all_lines[end + 1].text, how="spaced"):
            break
        end += 1
    return end, entries


def _follow_unheaded(all_lines: list[Line], begin: int) -> tuple[int, int]:
    end = begin
    page = telling = 0
    while end < len(all_lines) and is_entry(all_lines[end].text, how="spaced"):
        title, number = _split_entry(all_lines[end].text)
        if number.isdecimal():
            if int(number) < page:
                break
            page = int(number)
        # Financial tables have dots before each of several numbers.
        dotted = is_entry(all_lines[end].text) and "..." not in title.rstrip(". ")
        telling += dotted or is_numbered(title) or parse_heading(title.strip()) is not None
        end += 1
    return end, end - begin if 2 * telling >= end - begin else 0


def _split_entry(text: str) -> tuple[str, str]:
    """Return the title and the page number."""
    bare = text.rstrip("-–)） ")
    number = bare[len(bare.rstrip("0123456789ivxlcIVXLC")) :]
    return bare[: len(bare) - len(number)].rstrip(" \t\u3000-–(（"), number


def find_references(all_lines: list[Line]) -> list[tuple[int, int]]:
    """Return the lists of references, as spans of positions in the lines outside of contents.

    A list begins with its heading. It extends to the next heading that is not a work, or to the
    end. It ends with the last work before a stretch of more than 1,000 code points without works;
    without any work, there is no list, so a heading alone does not set aside the text after it.
    Without a heading, works numbered [1], [2], [3] and so on at the end of the text are a list. A
    list of numbered works ends where prose begins. Linear.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    while begin < len(all_lines):
        if _is_name(all_lines[begin].text):
            end = _find_end(all_lines, begin)
            if end > begin + 1:
                spans.append((begin, end))
                begin = end
                continue
        begin += 1
    worked = [
        span for span in spans if any(_is_work(line.text) for line in all_lines[slice(*span)])
    ]
    # Works may have an unknown form; then the last heading decides.
    return worked or spans[-1:] or _find_unheaded(all_lines)


def _is_name(text: str) -> bool:
    if not may_head_list(text):
        return False
    words = strip_words(text)
    if words[:1].islower() or is_entry(text, how="spaced"):
        return False
    return _REFERENCES.fullmatch(words.lower()) is not None


def _is_work(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    return _WORK.search(text) is not None or _AUTHORS.match(text) is not None


def _ends_list(text: str) -> bool:
    kind = parse_heading(text)
    # 1. may number works and kinds of works.
    return kind is not None and kind.style != "number" and not _is_work(text)


def _find_end(all_lines: list[Line], begin: int) -> int:
    """Return the end of the list with the heading at `begin`; `begin` if there is no list."""
    end, bound = begin, len(all_lines)
    reached = all_lines[begin].end
    for number in range(begin + 1, len(all_lines)):
        line = all_lines[number]
        if _ends_list(line.text):
            bound = number
            break
        if _is_work(line.text) or _NUMBER.match(line.text):
            end = number + 1
            reached = line.end
        elif line.end - reached > _GAP:
            return end
    return _stop_before_prose(all_lines, begin, end, bound)


def _stop_before_prose(all_lines: list[Line], begin: int, last: int, bound: int) -> int:
    """Return the end of a list whose last work ends at `last`: before prose, or `bound`."""
    if sum(_NUMBER.match(line.text) is not None for line in all_lines[begin:last]) < _UNDER_HEADING:
        return bound
    end = last
    # The last work may have further lines.
    while end < bound and not all_lines[end].after_blank and not _is_whole(all_lines[end - 1].text):
        end += 1
    return end if any(_is_prose(line.text) for line in all_lines[end:bound]) else bound


def _is_whole(text: str) -> bool:
    """Return whether a line can be the last one of a work."""
    return text.endswith(tuple(".。．]］/")) or text[-1].isdigit()


def _is_prose(text: str) -> bool:
    if measure_width(text) < _WIDTH or _is_work(text):
        return False
    english = text.endswith(tuple(".!?")) and len(set(_ENGLISH.findall(text))) >= _FEW
    return english or _CHINESE.search(text) is not None


def _find_unheaded(all_lines: list[Line]) -> list[tuple[int, int]]:
    """Return a numbered list at the end of the text, or before a heading that may follow it."""
    numbered = [
        (number, int(match[1]))
        for number, line in enumerate(all_lines)
        if (match := _NUMBER.match(line.text)) is not None
    ]
    starts = [place for place, (_, number) in enumerate(numbered) if number == 1]
    if not starts:
        return []
    run = numbered[starts[-1] :]
    in_order = [number for _, number in run] == list(range(1, len(run) + 1))
    works = sum(_is_work(all_lines[number].text) for number, _ in run)
    if not in_order or len(run) < _ALONE or 2 * works < len(run):
        return []
    begin, last = run[0][0], run[-1][0]
    end = _find_end(all_lines, begin)
    # Only a little prose may follow, as may a heading.
    at_end = end > last and (
        end == len(all_lines)
        or _ends_list(all_lines[end].text)
        or all_lines[-1].end - all_lines[end - 1].end <= _GAP
    )
    return [(begin, end)] if at_end else []
