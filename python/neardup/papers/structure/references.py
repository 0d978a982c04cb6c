"""Lists of references."""

from __future__ import annotations

import re

from neardup.papers.structure.headings import bare_words, form, is_entry
from neardup.papers.structure.lines import Line

__all__ = ["references"]

_NAMES = re.compile(
    "(?:主要|部分|本文)?(?:参考|引用|征引)(?:文献|书目|资料)(?:目录|列表|一览)?|注释[与和]参考文献"
    "|references?(?: and notes)?|references cited|literature cited|bibliography|works cited"
)
#: Styles of headings that end a list; 一、 and 1. may number works and kinds of works.
_ENDS = ("word", "chapter", "part", "markdown")

#: Largest number of code points between the heading, or a work, and the next work.
_GAP = 1000
#: Smallest number of works of a list without a heading.
_ALONE = 3
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


def references(found: list[Line]) -> list[tuple[int, int]]:
    """Return the lists of references.

    Parameters
    ----------
    found : list of Line
        The lines of the text outside of tables of contents.

    Returns
    -------
    list of tuple of int
        Half-open, disjoint spans of positions in `found`, in order. The heading
        belongs to the list.

    Notes
    -----
    A list begins with its heading and extends to the next heading that is not a work, or
    to the end. It ends with the last work before a stretch of more than 1,000 code points
    without works; without any work, there is no list, so a heading alone does not set
    aside the text after it. Without a heading, works numbered [1], [2], [3] and so on at
    the end of the text are a list. Linear.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(found):
        if _is_name(found[at].text):
            end = _extent(found, at)
            if end > at + 1:
                spans.append((at, end))
                at = end
                continue
        at += 1
    worked = [span for span in spans if any(_is_work(line.text) for line in found[slice(*span)])]
    # Works may have an unknown form; then the last heading decides.
    return worked or spans[-1:] or _without_heading(found)


def _is_name(text: str) -> bool:
    words = bare_words(text)
    if words[:1].islower() or is_entry(text, how="spaced"):
        return False
    return _NAMES.fullmatch(words.lower()) is not None


def _is_work(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    return _WORK.search(text) is not None or _AUTHORS.match(text) is not None


def _ends_list(text: str) -> bool:
    kind = form(text)
    return kind is not None and kind.style in _ENDS and not _is_work(text)


def _extent(found: list[Line], begin: int) -> int:
    """Return the end of the list with the heading at `begin`; `begin` if there is no list."""
    end = begin
    reached = found[begin].end
    for at in range(begin + 1, len(found)):
        line = found[at]
        if _ends_list(line.text):
            return at
        if _is_work(line.text) or _NUMBER.match(line.text):
            end = at + 1
            reached = line.end
        elif line.end - reached > _GAP:
            return end
    return len(found)


def _without_heading(found: list[Line]) -> list[tuple[int, int]]:
    """Return a numbered list at the end of the text, or before a heading that may follow it."""
    numbered = [
        (at, int(match[1]))
        for at, line in enumerate(found)
        if (match := _NUMBER.match(line.text)) is not None
    ]
    starts = [place for place, (_, number) in enumerate(numbered) if number == 1]
    if not starts:
        return []
    run = numbered[starts[-1] :]
    in_order = [number for _, number in run] == list(range(1, len(run) + 1))
    works = sum(_is_work(found[at].text) for at, _ in run)
    if not in_order or len(run) < _ALONE or 2 * works < len(run):
        return []
    begin, last = run[0][0], run[-1][0]
    end = _extent(found, begin)
    at_end = end > last and (end == len(found) or _ends_list(found[end].text))
    return [(begin, end)] if at_end else []
