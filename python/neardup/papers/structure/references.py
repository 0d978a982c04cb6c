"""Where the lists of references stand."""

from __future__ import annotations

import re

from neardup.papers.structure.headings import bare_words, form, is_entry
from neardup.papers.structure.lines import Line

__all__ = ["references"]

_NAMES = re.compile(
    "(?:主要|部分|本文)?(?:参考|引用|征引)(?:文献|书目|资料)(?:目录|列表|一览)?|注释[与和]参考文献"
    "|references?(?: and notes)?|references cited|literature cited|bibliography|works cited"
)
#: Headings that end a list. 一、 and 1. do not: they number kinds of works, and works.
_ENDS = ("word", "chapter", "part", "markdown")

#: Code points that may follow the heading, or a work, before the next work.
_GAP = 1000
#: Works that make a list without a heading.
_ALONE = 3
#: Code points that a work may have, inclusive, if it is one line.
_LONGEST = 600

_NUMBER = re.compile(r"[\[［【〔]\s?(\d{1,4})\s?[\]］】〕]")
_WORK = re.compile(
    # The kind of work in Chinese lists, [J] or [M/OL], and where to find it.
    r"[\[［【]\s?(?:[A-Z]|[A-Z]{1,2}\s?[/／]\s?[A-Z]{2}|DB|CP|EB)\s?[\]］】]"
    r"|(?i:\bdoi\b|\b10\.\d{4,9}/|https?://|\barxiv\b)"
    # A year together with pages, a volume or a publisher.
    r"|\b(?:1[5-9]|20)\d\d\b.{0,120}?(?:\d{1,5}\s?[-–—~～]\s?\d{1,5}\b|\bPress\b|\bpp?\.|\b[Vv]ol\.)"
    r"|(?:出版社|书局|书店|印书馆|\bPress\b|学报).{0,60}?(?:1[5-9]|20)\d\d"
)
#: Smith, J. and Ng, A. (2015)
_AUTHORS = re.compile(
    r"(?:[\[(]?\d{1,4}[\]).]?\s*)?[A-Z][\w'’-]+,\s+(?:[A-Z]\.|[A-Z][a-z]+\b)"
    r".{0,300}?\b(?:1[5-9]|20)\d\d\b"
)


def references(found: list[Line]) -> list[tuple[int, int]]:
    """Find the lists of references.

    Parameters
    ----------
    found : list of Line
        The lines of the text outside of tables of contents.

    Returns
    -------
    list of tuple of int
        Half-open spans of positions in `found`, in order and apart. The heading
        belongs to the list.

    Notes
    -----
    A list begins with its heading and reaches to the next heading that is none of its
    works, or to the end. A stretch of more than 1,000 code points in which no line
    looks like a work ends it with the last work before; where there was none, there
    is no list. So a lone heading does not set aside what follows it. Without a heading,
    works that are numbered [1], [2], [3] and on at the end of the text are a list.
    Linear.
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
    # Works may have a form that is unknown here; then the last heading is believed.
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
    """Return the end of the list whose heading stands at `begin`; `begin` if there is none."""
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
    """Find a numbered list that ends the text, or ends at a heading that may follow one."""
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
