"""Tricks that hide copied text from a comparison: look-alikes, invisible text, another order.

`reveal` returns the text that is compared, and the findings. Every character has its place of the
original text. The core finds look-alikes. Full-width letters, mathematical letters and
compatibility ideographs do not need this module: NFKC folds them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from neardup.base.lazy import _core
from neardup.papers.directions import find_reordered_lines
from neardup.papers.edits import replace_spans, union_spans
from neardup.papers.results import Finding, Place
from neardup.readers.document_text import FileText, HiddenText

#: Places that a finding names; its count includes all.
MOST_PLACES = 1000

#: Invisible characters nearer than this are one place: a report would show each with the others.
_NEAR = 16

_REORDERED = "reordered_text"

#: Latin, Greek and Cyrillic.
_LETTERS = (
    "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
    "\u0370-\u0373\u0376-\u037d\u037f-\u03ff\u1f00-\u1fff"
    "\u0400-\u0481\u048a-\u052f\u1c80-\u1c88\ua640-\ua66e\ua680-\ua69d"
)
_HAN = "\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff\uff66-\uff9f"
_HANGUL = "\u1100-\u115e\u1161-\u11ff\u3131-\u3163\uac00-\ud7a3"

#: Characters without a glyph that no word of these scripts needs.
_UNSEEN = (
    "\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e007f"
)
#: Between two letters of one class. A soft hyphen is innocent in a word of an alphabet.
_INVISIBLE = re.compile(
    f"(?<=[{_LETTERS}])[{_UNSEEN}]+(?=[{_LETTERS}])"
    f"|(?<=[{_HAN}{_KANA}])[{_UNSEEN}\u00ad]+(?=[{_HAN}{_KANA}])"
    f"|(?<=[{_HANGUL}])[\u200b-\u200f\u202a-\u202e\u2060\ufeff]+(?=[{_HANGUL}])"
)


def reorder_paper(paper: FileText) -> FileText:
    """Return a paper whose letters are in the order in which a reader reads them.

    Where directional marks move letters, the text is as shown, and a part of `hidden`.
    """
    # In a PDF, places decide what is shown.
    moved = [] if paper.format == "pdf" else list(find_reordered_lines(paper.text))
    if not moved:
        return paper
    parts = [
        HiddenText(begin, end, _REORDERED, sum(map(str.isalnum, read)))
        for begin, end, read in moved
    ]
    text = replace_spans(paper.text, moved)
    return replace(paper, text=text, hidden=(*paper.hidden, *parts))


def reveal(paper: FileText) -> tuple[str, tuple[Finding, ...]]:
    """Return the text of a paper that is compared, and what would have hidden copied text.

    The text has spaces in place of letters that no reader of the paper sees. Look-alikes become
    letters of the word's own script. Pictures are counted, since text may be in them.
    """
    hidden: dict[str, list[HiddenText]] = {}
    for part in paper.hidden:
        hidden.setdefault(part.kind, []).append(part)
    # Garbled letters do not count as letters of the paper.
    unread = [(part.begin, part.end) for part in paper.hidden if part.kind != _REORDERED]
    unread += paper.garbled_spans
    blanks = ((begin, end, " " * (end - begin)) for begin, end in union_spans(unread))
    text = replace_spans(paper.text, blanks)
    compared, words = _core.unmask(text)
    unseen = [match.span() for match in _INVISIBLE.finditer(text)]
    parts_of_kind = {
        "look_alikes": [HiddenText(begin, end, "", count) for begin, end, count in words],
        "invisible": [HiddenText(begin, end, "", end - begin) for begin, end in unseen],
        **hidden,
        "pictures": [HiddenText(offset, offset, "", 1) for offset in paper.pictures],
    }
    findings = (
        _make_finding(kind, parts, paper.pages) for kind, parts in parts_of_kind.items() if parts
    )
    return compared, tuple(findings)


def _make_finding(kind: str, parts: Sequence[HiddenText], pages: Sequence[int]) -> Finding:
    places: list[Place] = []
    for part in parts:
        if kind == "invisible" and places and part.begin < places[-1].end + _NEAR:
            places[-1] = replace(places[-1], end=part.end)
            continue
        page = bisect_right(pages, part.begin) or None
        places.append(Place(part.begin, part.end, page, part.text))
    return Finding(kind, sum(part.count for part in parts), tuple(places[:MOST_PLACES]))


def unmask(text: str) -> str:
    r"""Return a text with the letters of each word's own script in place of look-alikes.

    Every character keeps its place.

    Examples
    --------
    >>> unmask("The f\u0435rry l\u0435aves at nine.") == "The ferry leaves at nine."
    True
    >>> unmask("Паром уходит в 9.")
    'Паром уходит в 9.'
    """
    return _core.unmask(text)[0]
