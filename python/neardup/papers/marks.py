"""The counted characters of a paper, and the copied ones: the base of all rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.base.lazy import _core
from neardup.papers.results import CountedRuns, ExcludedSpan

Mask = NDArray[np.bool_]
Places = NDArray[np.integer[Any]] | list[int]


def count_depths(length: int, begins: Places, ends: Places) -> NDArray[np.int32]:
    """Return for each of `length` characters in how many of the spans it is."""
    steps = np.zeros(length + 1, np.int32)
    np.add.at(steps, begins, 1)
    np.add.at(steps, ends, -1)
    return np.cumsum(steps, dtype=np.int32, out=steps)[:length]


def count_span_depths(length: int, spans: Iterable[tuple[int, int]]) -> NDArray[np.int32]:
    """Return the same as `count_depths`, from spans."""
    bounds = np.array(list(spans), np.int64).reshape(-1, 2)
    return count_depths(length, bounds[:, 0], bounds[:, 1])


def mark_spans(length: int, spans: Iterable[tuple[int, int]]) -> Mask:
    """Return for each of `length` characters whether it is in one of the spans."""
    return count_span_depths(length, spans) > 0


def find_spans(mask: Mask) -> list[tuple[int, int]]:
    """Return the spans of the characters that a mask marks, in order."""
    bounds = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(bounds[::2], bounds[1::2], strict=True))


class Marks:
    """The counted characters of a paper, and the number of sources that have each.

    `compared` are the begins and ends of the compared letters; invisible letters are not compared
    and therefore not counted. Links, names and tags at the ends of the text are not counted either.
    """

    def __init__(
        self,
        text: str,
        asides: Iterable[ExcludedSpan],
        compared: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
    ) -> None:
        letters: Mask = np.fromiter(map(str.isalnum, text), np.bool_, len(text))
        # A lone surrogate is one character too.
        inside = _core.inside(text.encode(errors="replace").decode())
        letters &= mark_spans(len(text), [inside])
        if compared is not None:
            letters &= count_depths(len(text), *compared) > 0
        spans: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        for aside in asides:
            spans[aside.kind == "given"].append((aside.begin, aside.end))
        #: Excluded text; letters and digits without it.
        self.given: Mask = mark_spans(len(text), spans[True])
        self.counts: Mask = letters & ~self.given
        #: Quotations, references and contents.
        self.set_aside: Mask = mark_spans(len(text), spans[False])
        #: Number of sources that have each character.
        self.sources = np.zeros(len(text), np.int32)

    def select(self, spans: Iterable[tuple[int, int]]) -> Mask:
        """Return the counted characters within spans."""
        return mark_spans(len(self.counts), spans) & self.counts

    def add(self, spans: Iterable[tuple[int, int]]) -> int:
        """Add the spans of a source; return its number of counted characters."""
        characters = self.select(spans)
        self.sources += characters
        return int(characters.sum())

    @property
    def copied(self) -> Mask:
        """The counted characters that occur in a source."""
        return self.sources > 0

    @property
    def total(self) -> int:
        """Number of counted characters."""
        return int(self.counts.sum())

    def cut_runs(
        self, sources: Sequence[Iterable[tuple[int, int]]], cuts: Iterable[int]
    ) -> CountedRuns:
        """Return the counted runs between all bounds of the sources' spans, and other cuts."""
        of_sources = [list(spans) for spans in sources]
        inside = np.flatnonzero(np.diff(self.set_aside)) + 1
        bounds = {0, len(self.counts), *cuts, *inside.tolist()}
        bounds.update(bound for spans in of_sources for span in spans for bound in span)
        begins = np.array(sorted(bounds), np.int64)
        characters = np.diff(np.concatenate(([0], np.cumsum(self.counts)))[begins])
        signs = np.where(self.set_aside[begins[:-1]], -1, 1)
        runs = CountedRuns(tuple(begins.tolist()), tuple((characters * signs).tolist()), ())
        return replace(runs, sources=tuple(map(runs.locate, of_sources)))

    def compute_rate(self, characters: int) -> float:
        """Return a number of characters as a share of all counted ones; 0 without any."""
        return characters / self.total if self.total else 0.0
