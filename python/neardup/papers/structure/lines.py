"""The lines of a text, and how it is laid out: wrapped, or a line a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Layout", "Line", "ends_sentence", "layout", "lines", "wide"]

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+")
_SENTENCE_END = tuple('。！？；：.!?;:…"”’」』)）]】》')

#: Columns that a line needs to tell something of the layout; headings have fewer.
_TELLING = 40


class Line(NamedTuple):
    """A line that is not blank, without the white space around it.

    Parameters
    ----------
    begin, end : int
        Half-open span of the text, in code points.
    text : str
    after_blank : bool
        Whether a blank line stands before it; True for the first line.
    """

    begin: int
    end: int
    text: str
    after_blank: bool


class Layout(NamedTuple):
    """How a text is broken into lines.

    Parameters
    ----------
    wrapped : bool
        Whether paragraphs are broken into lines; if not, each line is one.
    width : int
        Columns of a line that is full, where lines are wrapped.
    """

    wrapped: bool
    width: int


def lines(text: str) -> Iterator[Line]:
    """Yield the lines that are not blank, as `str.splitlines` breaks them."""
    begin = 0
    after_blank = True
    for whole in text.splitlines(keepends=True):
        bare = whole.strip()
        if bare:
            first = begin + len(whole) - len(whole.lstrip())
            yield Line(first, first + len(bare), bare, after_blank)
        after_blank = not bare
        begin += len(whole)


def wide(text: str) -> int:
    """Count the columns of a text; a Chinese character takes two."""
    return len(text) + sum(map(len, _WIDE.findall(text)))


def ends_sentence(text: str) -> bool:
    """Tell whether a line ends as a paragraph does."""
    return text.endswith(_SENTENCE_END)


def layout(found: list[Line]) -> Layout:
    """Tell how a text is laid out by how its lines end.

    The lines of a wrapped paragraph end anywhere; the last one ends a sentence. Where
    at least half of the lines end one, lines are paragraphs. Lines of fewer than 40
    columns tell nothing. Linear in the text.
    """
    long = [
        (columns, line.text)
        for line in found
        if len(line.text) >= _TELLING // 2 and (columns := wide(line.text)) >= _TELLING
    ]
    if 2 * sum(not ends_sentence(text) for _, text in long) <= len(long):
        return Layout(False, 0)
    return Layout(True, sorted(columns for columns, _ in long)[len(long) // 2])
