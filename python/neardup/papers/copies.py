"""Papers with the same text: the search has two of them, so that each has another one as source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from neardup.base.messages import Message

#: The code of the note on papers with the same text.
SAME_TEXT = "same_text"

#: Papers that a note names.
_NAMED = 5


@dataclass(frozen=True)
class Copies:
    """Which papers are searched, and which of them are not the sources of a paper.

    Parameters
    ----------
    searched : list of int
        The papers that stand for all, in their order: of those with one text the first two.
    skipped : list of int
        For each paper the place in `searched` that it is not compared with: its own, and from the
        third paper with a text on that of the second, so that a text is one source.
    groups : list of list of int
        For each paper all papers with its text, itself included.
    names : list of str
    """

    searched: list[int]
    skipped: list[int]
    groups: list[list[int]]
    names: list[str]

    def note(self, paper: int) -> Message | None:
        """Return the note that names the others with the text of a paper; None without any."""
        group = self.groups[paper]
        if len(group) == 1:
            return None
        shown = [self.names[other] for other in group[: _NAMED + 1] if other != paper][:_NAMED]
        if len(group) - 1 > len(shown):
            shown.append("…")
        return Message.counted(
            "1 other paper has the same text: {names}.",
            "{count:,} other papers have the same text: {names}.",
            count=len(group) - 1,
            names=", ".join(shown),
            code=SAME_TEXT,
        )


def find_copies(papers: Iterable[tuple[str, str]]) -> Copies:
    """Return which of these papers, each a name and a text, are the same."""
    names: list[str] = []
    groups: list[list[int]] = []
    by_text: dict[str, list[int]] = {}
    for name, text in papers:
        group = by_text.setdefault(text, [])
        group.append(len(names))
        groups.append(group)
        names.append(name)
    searched = sorted(paper for group in by_text.values() for paper in group[:2])
    place = {paper: at for at, paper in enumerate(searched)}
    skipped = [
        place[paper if paper in group[:2] else group[1]] for paper, group in enumerate(groups)
    ]
    return Copies(searched, skipped, groups, names)
