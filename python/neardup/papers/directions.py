"""The order in which a reader sees the letters of a line with directional marks.

The Unicode bidirectional algorithm (UAX 9) puts the letters of a line in the order in which they
are shown. The same algorithm without marks then puts them in the order in which these scripts are
read. Where no mark moves a letter, both undo each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import bidirectional

from neardup.base.lazy import np

#: Characters that open a direction: the class by UAX 9 and the override, "" without one.
_OPENS = {
    "LRE": ("L", ""),
    "RLE": ("R", ""),
    "LRO": ("L", "L"),
    "RLO": ("R", "R"),
    "LRI": ("L", ""),
    "RLI": ("R", ""),
    "FSI": ("L", ""),
}
_ISOLATES = ("LRI", "RLI", "FSI")
_MARK = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Marks that can move a letter.
_MOVING = re.compile("[\u061c\u200f\u202b\u202d\u202e\u2067\u2068]")
_DEEPEST = 125
#: Characters in which the first letter of an isolate is looked for.
_FIRST = 200
_BLANK = frozenset(("WS", "BN", "PDF", "PDI", *_OPENS))
_NEUTRAL = frozenset(("B", "S", "WS", "ON", "ES", "ET", "CS", "BN", *_ISOLATES, "PDI"))


def find_reordered_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the span of text in each line whose letters are moved, and that text as it is read.

    Both are of one length: marks become word joiners, which nobody sees.
    """
    end = 0
    while match := _MOVING.search(text, end):
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        end = len(text) if end < 0 else end
        line = text[begin:end]
        read = reorder_line(line)
        if _keep_letters(read) != _keep_letters(line):
            same = [one == two for one, two in zip(line, read, strict=True)]
            low, high = same.index(False), len(same) - same[::-1].index(False)
            yield begin + low, begin + high, read[low:high]


def reorder_line(line: str) -> str:
    """Return a line in the order in which it is read.

    Examples
    --------
    >>> reorder_line("See \\u202eyrref eht\\u202c now.").replace("\\u2060", "")
    'See the ferry now.'
    """
    classes = list(map(_classify, line))
    base = _find_base(classes)
    shown = _order_visually(
        _reset(_resolve_levels(*_resolve_marks(classes, base), base), classes, base)
    )
    plain = ["BN" if _MARK.match(line[at]) else classes[at] for at in shown]
    flat = _resolve_levels(plain, [base] * len(plain), [0] * len(plain), base)
    order = _order_visually(_reset(flat, plain, base))
    return _MARK.sub("\u2060", "".join(line[shown[at]] for at in order))


def _keep_letters(line: str) -> str:
    return "".join(filter(str.isalnum, line))


@lru_cache(1 << 16)
def _classify(letter: str) -> str:
    # A character that Unicode does not define is most likely Chinese.
    return bidirectional(letter) or "L"


def _find_base(classes: Sequence[str], *, is_isolate: bool = False) -> int:
    """Return the level of a line, or of an isolate: 1 if its first letter goes to the left."""
    depth = 0
    for one in classes:
        if one in _ISOLATES:
            depth += 1
        elif one == "PDI":
            if is_isolate and not depth:
                break
            depth = max(depth - 1, 0)
        elif not depth and one in ("L", "R", "AL"):
            return int(one != "L")
    return 0


def _resolve_marks(classes: Sequence[str], base: int) -> tuple[list[str], list[int], list[int]]:
    """Return classes, levels and isolates as marks set them: rules X1 to X9.

    An isolate is the place of what begins it, 0 for none.
    """
    resolved, levels, isolates = [], [], []
    stack = [(base, "", False)]
    begins = [0]
    for at, one in enumerate(classes, 1):
        level, override, _ = stack[-1]
        if one == "PDI" and len(begins) > 1:
            while not stack.pop()[2]:
                pass
            begins.pop()
            level, override, _ = stack[-1]
        elif one == "PDF" and len(stack) > 1 and not stack[-1][2]:
            stack.pop()
        levels.append(level)
        isolates.append(begins[-1])
        is_opened = one in _OPENS
        is_isolate = one in _ISOLATES
        resolved.append("BN" if one == "PDF" or (is_opened and not is_isolate) else override or one)
        if is_opened and len(stack) < _DEEPEST:
            direction, of_opened = _OPENS[one]
            if one == "FSI" and _find_base(classes[at : at + _FIRST], is_isolate=True):
                direction = "R"
            odd = direction == "R"
            deeper = level + 1 if (level + 1) % 2 == odd else level + 2
            stack.append((deeper, of_opened, is_isolate))
            begins += [at] if is_isolate else []
    return resolved, levels, isolates


def _resolve_levels(
    classes: Sequence[str], levels: Sequence[int], isolates: Sequence[int], base: int
) -> list[int]:
    """Return the level of each character: rules X10 to I2, for each run of one level.

    Text inside of an isolate does not part the text around it.
    """
    resolved = list(levels)
    kept = [at for at, one in enumerate(classes) if one != "BN"]
    runs: defaultdict[int, list[list[int]]] = defaultdict(list)
    for place, at in enumerate(kept):
        of_isolate = runs[isolates[at]]
        if not of_isolate or levels[kept[of_isolate[-1][-1]]] != levels[at]:
            of_isolate.append([])
        of_isolate[-1].append(place)
    edges = [base, *(levels[at] for at in kept), base]
    for run in (run for of_isolate in runs.values() for run in of_isolate):
        level = levels[kept[run[0]]]
        # An isolate that nothing ends goes on to the end of the line.
        is_open = classes[kept[run[-1]]] in _ISOLATES
        before, after = edges[run[0]], base if is_open else edges[run[-1] + 2]
        before, after = max(level, before), max(level, after)
        sides = "LR"[before % 2], "LR"[after % 2]
        strong = _resolve_strong([classes[kept[place]] for place in run], sides[0])
        for place, new_level in zip(run, _resolve_implicit(strong, level, *sides), strict=True):
            resolved[kept[place]] = new_level
    # A removed character goes with the character before it.
    for at, one in enumerate(classes):
        if one == "BN":
            resolved[at] = resolved[at - 1] if at else base
    return resolved


def _reset(levels: list[int], classes: Sequence[str], base: int) -> list[int]:
    """Return the levels, and for tabs and the spaces before them the level of the line (L1)."""
    is_end = True
    for at in range(len(levels) - 1, -1, -1):
        is_tab = classes[at] in ("S", "B")
        is_end = is_tab or (is_end and classes[at] in _BLANK)
        if is_end:
            levels[at] = base
    return levels


def _resolve_strong(classes: Sequence[str], before: str) -> list[str]:
    """Return the classes of a run: Arabic letters as R, and numbers by what precedes them."""
    run: list[str] = []
    strong = last = before
    for at, one in enumerate(classes):
        kind = last if one == "NSM" else one
        if kind in ("L", "R", "AL"):
            strong = kind
        elif kind == "EN" and strong != "R":
            kind = "L" if strong == "L" else "AN"
        elif (
            kind in ("CS", "ES")
            and last in ("EN", "AN", "L")
            and at + 1 < len(classes)
            and classes[at + 1] == "EN"
        ):
            kind = last
        last = kind
        run.append("R" if kind == "AL" else kind)
    return run


def _resolve_implicit(run: Sequence[str], level: int, before: str, after: str) -> list[int]:
    """Return the levels of a run; neutral characters go with both sides, or with the level."""
    levels: list[int] = []
    waiting = 0
    side = before
    above = {"L": level + level % 2, "R": level + (level + 1) % 2}
    number = level + 2 - level % 2
    default = "LR"[level % 2]
    for one in (*run, after):
        if one in _NEUTRAL:
            waiting += 1
            continue
        here = "L" if one == "L" else "R"
        levels += [above[side if side == here else default]] * waiting
        waiting, side = 0, here
        levels.append(number if one in ("EN", "AN") else above[one])
    return levels[: len(run)]


def _order_visually(levels: Sequence[int]) -> list[int]:
    """Return the places of the characters from left to right: rule L2."""
    order = list(range(len(levels)))
    held = np.array(levels, np.int16)
    for level in range(max(levels, default=0), 0, -1):
        inside = np.concatenate([[False], held >= level, [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1]).tolist()
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            order[begin:end] = order[begin:end][::-1]
    return order
