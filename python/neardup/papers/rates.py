"""The counted characters of a paper, and those of them that are copied.

Each character is marked or not, so overlapping spans count once. All rates are computed
from the same marks, so the rates of a report are consistent.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from neardup.papers.results import Aside

__all__ = ["Marks", "marked"]

Mask = NDArray[np.bool_]


def marked(length: int, spans: Iterable[tuple[int, int]]) -> Mask:
    """Return for each of `length` characters whether it is in one of the spans."""
    steps = np.zeros(length + 1, np.int64)
    for begin, end in spans:
        steps[begin] += 1
        steps[end] -= 1
    return np.cumsum(steps)[:length] > 0


class Marks:
    """The counted characters of a paper, and the number of sources that have each.

    `compared` are the begins and ends of the compared letters; invisible letters are not compared
    and therefore not counted.
    """

    def __init__(
        self,
        text: str,
        asides: Iterable[Aside],
        compared: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
    ) -> None:
        letters: Mask = np.fromiter(map(str.isalnum, text), np.bool_, len(text))
        if compared is not None:
            steps = np.zeros(len(text) + 1, np.int64)
            np.add.at(steps, compared[0], 1)
            np.add.at(steps, compared[1], -1)
            letters &= np.cumsum(steps)[: len(text)] > 0
        spans: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        for aside in asides:
            spans[aside.kind == "given"].append((aside.begin, aside.end))
        #: Letters and digits, without excluded text.
        self.counts: Mask = letters & ~marked(len(text), spans[True])
        #: Quotations, references and contents.
        self.set_aside: Mask = marked(len(text), spans[False])
        #: Number of sources that have each character.
        self.sources = np.zeros(len(text), np.int32)

    def of(self, spans: Iterable[tuple[int, int]]) -> Mask:
        """Return the counted characters within spans."""
        return marked(len(self.counts), spans) & self.counts

    def add(self, spans: Iterable[tuple[int, int]]) -> int:
        """Add the spans of a source; return its number of counted characters."""
        found = self.of(spans)
        self.sources += found
        return int(found.sum())

    @property
    def copied(self) -> Mask:
        """The counted characters that occur in a source."""
        return self.sources > 0

    @property
    def total(self) -> int:
        """Number of counted characters."""
        return int(self.counts.sum())

    def rate(self, characters: int) -> float:
        """Return a number of characters as a share of all counted ones; 0 without any."""
        return characters / self.total if self.total else 0.0
