"""Brackets: commentary between the lines."""

from __future__ import annotations

import re

__all__ = ["without_brackets"]

#: Longest text in brackets, in code points, with the brackets.
LONGEST = 2000

#: How many open brackets a closing one is compared with.
_DEEPEST = 8

_CLOSING = {"(": ")", "（": "）", "[": "]", "［": "］", "〔": "〕", "【": "】", "〖": "〗"}
_MARKS = re.compile("[" + re.escape("".join(_CLOSING) + "".join(_CLOSING.values())) + "]")
_OTHER_SIDE = str.maketrans("（）［］", "()[]")


def without_brackets(text: str) -> str:
    """Return a text with spaces in place of its brackets and of what is in them.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        As long as `text`, so that offsets stay what they are. Full-width and half-width
        brackets close each other. A bracket without the other side is left as it is,
        and so is text of more than 2,000 code points in brackets.

    Notes
    -----
    Linear in the length of the text.

    Examples
    --------
    >>> without_brackets("學而（孔子弟子所記）時習之(皇疏")
    '學而         時習之(皇疏'
    """
    parts: list[str] = []
    done = 0
    opened: list[tuple[str, int]] = []
    spans: list[tuple[int, int]] = []
    for found in _MARKS.finditer(text):
        mark, at = found[0], found.start()
        if mark in _CLOSING:
            opened.append((_CLOSING[mark].translate(_OTHER_SIDE), at))
            continue
        mark = mark.translate(_OTHER_SIDE)
        # A bracket that nothing closes stays open for a while, and hides no outer one.
        for depth in range(len(opened) - 1, max(len(opened) - 1 - _DEEPEST, -1), -1):
            if opened[depth][0] == mark:
                begin = opened[depth][1]
                del opened[depth:]
                if at + 1 - begin <= LONGEST:
                    spans.append((begin, at + 1))
                break
    for begin, end in _outermost(spans):
        parts += [text[done:begin], " " * (end - begin)]
        done = end
    return "".join([*parts, text[done:]])


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that are in no other one; inner ones come first."""
    found: list[tuple[int, int]] = []
    for begin, end in spans:
        while found and found[-1][0] >= begin:
            found.pop()
        found.append((begin, end))
    return found
