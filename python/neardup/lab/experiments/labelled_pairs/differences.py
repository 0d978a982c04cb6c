"""Differences of two texts, side by side, for people to judge."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["BEGIN", "END", "Difference", "differences"]

#: Around what differs. Brackets that texts hardly ever have, since stars and
#: dashes mean something in Markdown.
BEGIN, END = "⟦", "⟧"

#: Characters shown on each side of a difference.
_CONTEXT = 14
#: A changed passage longer than this is shown as a whole, not letter by letter.
_LONGEST = 400
#: Characters of one difference that are shown.
_SHOWN = 160
#: Equal characters between two differences that are too few to separate them.
_BRIDGE = 3

_PIECES = re.compile(r"[^，。！？；：、,.!?;:]+[，。！？；：、,.!?;:]*|[，。！？；：、,.!?;:]+")

#: A number or a word of letters changes as a whole.
_UNITS = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[A-Za-z]+|.", re.DOTALL)

_Hunk = tuple[int, int, int, int]


@dataclass(frozen=True)
class Difference:
    """One place where two texts differ, with its context.

    Parameters
    ----------
    a, b : str
        Each text's side; what differs is between `BEGIN` and `END`.
    """

    a: str
    b: str


def differences(a: str, b: str) -> list[Difference]:
    """Return the places where two texts differ, in text order.

    Returns
    -------
    list of Difference
        Empty if they differ in nothing but white space.

    Notes
    -----
    Clauses are aligned first and then characters and numbers of those that
    changed, so that long texts take seconds and not minutes.

    Examples
    --------
    >>> differences("渡船九点开出，风小。", "渡船十点开出，风小。")
    [Difference(a='渡船⟦九⟧点开出，风小。', b='渡船⟦十⟧点开出，风小。')]
    """
    a, b = " ".join(a.split()), " ".join(b.split())
    hunks: list[_Hunk] = []
    for hunk in _refined(a, b):
        if hunks and hunk[0] - hunks[-1][1] < _BRIDGE and hunk[2] - hunks[-1][3] < _BRIDGE:
            hunks[-1] = (hunks[-1][0], hunk[1], hunks[-1][2], hunk[3])
        else:
            hunks.append(hunk)
    return [
        Difference(_shown(a, begin_a, end_a), _shown(b, begin_b, end_b))
        for begin_a, end_a, begin_b, end_b in hunks
    ]


def _refined(a: str, b: str) -> list[_Hunk]:
    pieces_a, pieces_b = _PIECES.findall(a), _PIECES.findall(b)
    starts_a, starts_b = _starts(pieces_a), _starts(pieces_b)
    hunks = []
    for at_a, to_a, at_b, to_b in _changed(pieces_a, pieces_b):
        begin_a, end_a = starts_a[at_a], starts_a[to_a]
        begin_b, end_b = starts_b[at_b], starts_b[to_b]
        if max(end_a - begin_a, end_b - begin_b) > _LONGEST:
            hunks.append((begin_a, end_a, begin_b, end_b))
            continue
        units_a = _UNITS.findall(a, begin_a, end_a)
        units_b = _UNITS.findall(b, begin_b, end_b)
        inner_a, inner_b = _starts(units_a, begin_a), _starts(units_b, begin_b)
        for low_a, high_a, low_b, high_b in _changed(units_a, units_b):
            hunks.append((inner_a[low_a], inner_a[high_a], inner_b[low_b], inner_b[high_b]))
    return hunks


def _changed(a: list[str], b: list[str]) -> list[_Hunk]:
    found = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(a0, a1, b0, b1) for tag, a0, a1, b0, b1 in found if tag != "equal"]


def _starts(pieces: list[str], first: int = 0) -> list[int]:
    starts = [first]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    return starts


def _shown(text: str, begin: int, end: int) -> str:
    before, after = text[max(0, begin - _CONTEXT) : begin], text[end : end + _CONTEXT]
    middle = text[begin:end]
    if len(middle) > _SHOWN:
        middle = f"{middle[: _SHOWN // 2]} … {middle[-_SHOWN // 2 :]}"
    left = "…" if begin > _CONTEXT else ""
    right = "…" if end + _CONTEXT < len(text) else ""
    return f"{left}{before}{BEGIN}{middle}{END}{after}{right}"
