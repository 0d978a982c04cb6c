"""The lines of a text, and its layout: wrapped lines, or one line per paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Layout", "Line", "ends_sentence", "layout", "lines", "wide"]

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+")
_SENTENCE_END = tuple('。！？；：.!?;:…"”’」』)）]】》')

#: Smallest width in columns of a line that is evidence of the layout; headings are shorter.
_TELLING = 40


class Line(NamedTuple):
    """A non-blank line, without the white space around it.

    Parameters
    ----------
    begin, end : int
        Half-open span of the text, in code points.
    text : str
    after_blank : bool
        Whether a blank line is before it; True for the first line.
    """

    begin: int
    end: int
    text: str
    after_blank: bool


class Layout(NamedTuple):
    """The layout of a text.

    Parameters
    ----------
    wrapped : bool
        Whether paragraphs are wrapped; if not, each line is a paragraph.
    width : int
        Columns of a full line, if lines are wrapped.
    """

    wrapped: bool
    width: int


def lines(text: str) -> Iterator[Line]:
    """Yield the non-blank lines, as `str.splitlines` splits them."""
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
    """Return the width of a text in columns; a Chinese character takes two."""
    return len(text) + sum(map(len, _WIDE.findall(text)))


def ends_sentence(text: str) -> bool:
    """Return whether a line ends like a sentence."""
    return text.endswith(_SENTENCE_END)


def layout(found: list[Line]) -> Layout:
    """Return the layout of a text, detected by the ends of its lines.

    The lines of a wrapped paragraph end anywhere, only the last one at the end of a
    sentence. If at least half of the lines end a sentence, lines are paragraphs. Lines of
    fewer than 40 columns are ignored. Linear in the text.
    """
    long = [
        (columns, line.text)
        for line in found
        if len(line.text) >= _TELLING // 2 and (columns := wide(line.text)) >= _TELLING
    ]
    if 2 * sum(not ends_sentence(text) for _, text in long) <= len(long):
        return Layout(False, 0)
    return Layout(True, sorted(columns for columns, _ in long)[len(long) // 2])
