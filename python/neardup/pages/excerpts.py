"""Excerpts: the beginning of a text, and some whole words before and after a passage."""

from __future__ import annotations

import re

#: Largest number of code points shown before and after a passage.
_AROUND = 60
#: A shorter excerpt is useless, even if it is a whole sentence.
_FEW = 12

_SENTENCE_ENDS = re.compile(r"""[。！？；…][”’」』）》]*|[.!?;]["”’)]*(?=\s)""")
_COMMAS = re.compile(r"[，、：,:]")
#: A word: letters of a script with spaces, or a number such as 1.1.
_LETTER = "[0-9A-Za-z\u00c0-\u1fff]"
_WORD = re.compile(rf"{_LETTER}(?:(?:{_LETTER}|[.'’-])*{_LETTER})?")
_LONGEST_WORD = 30


def cut_beginning(text: str, length: int) -> str:
    """Return the first code points of a text as one line, with a mark where it is cut.

    Examples
    --------
    >>> cut_beginning("One ferry,\\n  two bridges", 10)
    'One ferry,…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}…"


def extend_span(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return a half-open span extended by at most 60 code points on either side.

    It begins and ends at a line bound if one is that near, else at a sentence or clause bound. It
    always begins and ends at a word bound, except within words of more than 30 letters.

    Examples
    --------
    >>> text = "A long sentence of which nothing shall be shown here. Behind it, two words."
    >>> first, last = extend_span(text, 71, 76)
    >>> text[first:last]
    'Behind it, two words.'
    """
    return _find_begin(text, begin), _find_end(text, end)


def _find_begin(text: str, begin: int) -> int:
    first = max(begin - _AROUND, 0)
    # Do not show blank lines and leading white space.
    stop = first + len(text[first:begin].rstrip())
    if stop == first:
        return begin
    line = text.rfind("\n", first, stop) + 1
    if line > first:
        return line
    if first == 0 or text[first - 1] == "\n":
        return first
    for marks in (_SENTENCE_ENDS, _COMMAS):
        mark = marks.search(text, first, max(begin - _FEW, first))
        if mark is not None:
            return stop - len(text[mark.end() : stop].lstrip())
    return _skip_word(text, first, begin)


def _skip_word(text: str, first: int, begin: int) -> int:
    for word in _WORD.finditer(text, max(first - _LONGEST_WORD - 1, 0), begin):
        if word.start() < first < word.end() and len(word[0]) <= _LONGEST_WORD:
            return word.end() + (text[word.end() : word.end() + 1] == " ")
    return first


def _find_end(text: str, end: int) -> int:
    last = min(end + _AROUND, len(text))
    line = text.find("\n", end + 1, last)
    if line >= 0:
        return line
    if last == len(text) or text[last] == "\n":
        return last
    for marks in (_SENTENCE_ENDS, _COMMAS):
        ends = [mark.end() for mark in marks.finditer(text, min(end + _FEW, last), last)]
        if ends:
            return ends[-1]
    for word in _WORD.finditer(text, end, last + _LONGEST_WORD + 1):
        if word.start() < last < word.end() and len(word[0]) <= _LONGEST_WORD:
            return word.start()
    return last
