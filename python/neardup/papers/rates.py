"""Which characters of a paper count, and which of them stand elsewhere.

A character is marked or it is not: spans that overlap count once. The same marks give every
rate, so the rates of a report agree with each other.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from neardup.papers.report.results import Aside

__all__ = ["Marks", "marked"]

Mask = NDArray[np.bool_]


def marked(length: int, spans: Iterable[tuple[int, int]]) -> Mask:
    """Return for each of so many characters whether it stands in one of some spans."""
    steps = np.zeros(length + 1, np.int64)
    for begin, end in spans:
        steps[begin] += 1
        steps[end] -= 1
    return np.cumsum(steps)[:length] > 0


class Marks:
    """What counts in a paper, and how much of it each source has.

    Parameters
    ----------
    text : str
        The paper's text.
    asides : iterable of Aside
        What is set aside.
    compared : tuple of two arrays or None, default=None
        Begins and ends of the letters that are compared at all. Letters that nobody sees
        are not, and so count nowhere either; None for all.
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
        #: Letters and digits, but for what was given to be excluded.
        self.counts: Mask = letters & ~marked(len(text), spans[True])
        #: Quotations, references and contents.
        self.set_aside: Mask = marked(len(text), spans[False])
        #: How many sources have each character.
        self.sources = np.zeros(len(text), np.int32)

    def of(self, spans: Iterable[tuple[int, int]]) -> Mask:
        """Return the characters that count among some spans."""
        return marked(len(self.counts), spans) & self.counts

    def add(self, spans: Iterable[tuple[int, int]]) -> int:
        """Add what a source has; return how many characters that count it has."""
        found = self.of(spans)
        self.sources += found
        return int(found.sum())

    @property
    def copied(self) -> Mask:
        """The characters that count and stand in a source."""
        return self.sources > 0

    @property
    def total(self) -> int:
        """How many characters count."""
        return int(self.counts.sum())

    def rate(self, characters: int) -> float:
        """Return characters as a share of all that count; 0 where none does."""
        return characters / self.total if self.total else 0.0
