"""What the experiment measures: which found pairs are right, runs of methods, and all results.

Pairs are counted, and documents: a document counts once, however many pairs it is in.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neardup.base.reprs import ReprMixin
from neardup.lab.datasets.collection import OVERALL, Places
from neardup.lab.datasets.split import Split
from neardup.lab.experiments.zhang_he_2020.methods import Matches, Method, find
from neardup.lab.metrics import Scores
from neardup.recipe import load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ASIDE",
    "BEST",
    "DEFAULT",
    "PAPER",
    "PUBLISHED",
    "RIGHT",
    "WRONG",
    "Point",
    "PublishedResult",
    "Run",
    "Scorer",
    "Tally",
    "score_run",
]

RIGHT, WRONG, ASIDE = 1, 0, -1

#: Originals with at least this resemblance repeat each other naturally; finding them is no mistake.
_NATURAL = 0.5
_RESEMBLES = Method("natural repeats", load_recipe("shingle"), (_NATURAL,))


@dataclass(frozen=True)
class Tally:
    """Counts of one topic, or of all documents."""

    topic: str
    scores: Scores
    aside: int

    @property
    def strict_precision(self) -> float:
        """Precision if what is set aside counts as wrong."""
        strict = Scores(self.scores.tp, self.scores.fp + self.aside, self.scores.fn)
        return strict.precision


class Scorer:
    """Counts what is right and what is wrong among found pairs of one split.

    A pair of a copy and its own original is right. A pair whose originals repeat each
    other naturally is set aside: neither right nor wrong. All other pairs are wrong.
    """

    def __init__(self, split: Split, table: pa.Table, *, workers: int = 0) -> None:
        matches = find(_RESEMBLES, table.filter(split.untouched), _NATURAL, workers=workers)
        self._split = split
        self._codes_of_natural = np.unique(self._codes(matches.a, matches.b))
        #: Places of the pairs that repeat each other naturally; of shape (n_pairs, 2).
        self.natural: Places = np.sort(np.column_stack([matches.a, matches.b]), axis=1)
        #: Number of pairs of a copy and its original.
        self.true_pairs = int((~split.untouched).sum())

    def labels(self, a: Places, b: Places) -> npt.NDArray[np.int8]:
        """Return for each pair whether it is RIGHT, WRONG or set ASIDE."""
        base = self._split.base
        labels = np.full(len(a), WRONG, np.int8)
        labels[np.isin(self._codes(base[a], base[b]), self._codes_of_natural)] = ASIDE
        labels[base[a] == base[b]] = RIGHT
        return labels

    def sweep(self, matches: Matches, method: Method) -> list[tuple[float, Scores]]:
        """Return the counts at each cut-off of a method, the strictest first."""
        labels = self.labels(matches.a, matches.b)
        strictest_first = sorted(method.cut_offs, reverse=method.by_threshold)
        rows = []
        for cut_off in strictest_first:
            passed = labels[method.passes(matches.value, cut_off)]
            tp, fp = int((passed == RIGHT).sum()), int((passed == WRONG).sum())
            rows.append((cut_off, Scores(tp, fp, self.true_pairs - tp)))
        return rows

    def tallies(self, matches: Matches, among: Places | None = None) -> list[Tally]:
        """Return the counts of pairs by topic, and then of all documents."""
        tallies = []
        for topic, labels, _, true in self._topics(matches, among):
            right, wrong, aside = (int((labels == label).sum()) for label in (RIGHT, WRONG, ASIDE))
            tallies.append(Tally(topic, Scores(right, wrong, true - right), aside))
        return tallies

    def document_tallies(self, matches: Matches, among: Places | None = None) -> list[Tally]:
        """Return the counts of documents by topic, and then of all documents."""
        tallies = []
        for topic, labels, pairs, true in self._topics(matches, among):
            right, wrong, aside = (
                np.unique(pairs[labels == label]) for label in (RIGHT, WRONG, ASIDE)
            )
            fp = len(np.setdiff1d(wrong, right))
            unseen = len(np.setdiff1d(aside, np.union1d(right, wrong)))
            tallies.append(Tally(topic, Scores(len(right), fp, 2 * true - len(right)), unseen))
        return tallies

    def _topics(
        self, matches: Matches, among: Places | None
    ) -> Iterator[tuple[str, npt.NDArray[np.int8], Places, int]]:
        """Each topic, then all: its name, labels and places of its pairs, its true pairs."""
        split = self._split
        labels = self.labels(matches.a, matches.b)
        pairs = np.column_stack([matches.a, matches.b])
        copies = np.flatnonzero(~split.untouched)
        if among is not None:
            copies = copies[np.isin(copies, among) & np.isin(split.base[copies], among)]
        for number, name in enumerate(split.topics):
            mine = (split.topic[pairs] == number).any(axis=1)
            yield name, labels[mine], pairs[mine], int((split.topic[copies] == number).sum())
        yield OVERALL, labels, pairs, len(copies)

    def _codes(self, a: Places, b: Places) -> Places:
        """A number for each unordered pair."""
        return np.minimum(a, b) * len(self._split.base) + np.maximum(a, b)


PAPER, DEFAULT, BEST = "paper", "default", "best"


#: Precision and recall of `improved` in the paper; it gives none that can be set beside the others.
PUBLISHED = (0.953, 0.940)


@dataclass(frozen=True)
class Run:
    """What one method finds at one cut-off among a number of documents of the test split.

    `choice` says whose cut-off it is: that of the paper, the recipe's own, or the best one on
    the development split. `pairs` and `by_document` count by topic, then all; `times` are the
    seconds of several runs.
    """

    method: Method
    choice: str
    cut_off: float
    documents: int
    pairs: tuple[Tally, ...]
    by_document: tuple[Tally, ...]
    times: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """The median time."""
        return statistics.median(self.times)

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    @property
    def bound(self) -> str:
        """The cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        return self.method.bound(self.cut_off)

    @property
    def label(self) -> str:
        """The method and its cut-off, for people."""
        return f"{self.name} {self.bound}"

    @property
    def recipe_id(self) -> str:
        """Id of the method's recipe."""
        return self.method.recipe.id

    @property
    def overall(self) -> Tally:
        """Pairs of all documents."""
        return self.pairs[-1]

    @property
    def everywhere(self) -> Scores:
        """Documents of the whole collection, distractors included."""
        return self.by_document[-1].scores

    @property
    def precision(self) -> float:
        """Mean of the topics' precisions over documents, as the paper counts."""
        return statistics.fmean(tally.scores.precision for tally in self.by_document[:-1])

    @property
    def recall(self) -> float:
        """Mean of the topics' recalls over documents, as the paper counts."""
        return statistics.fmean(tally.scores.recall for tally in self.by_document[:-1])

    @property
    def spread(self) -> float:
        """Standard deviation of the topics' recalls over documents."""
        return statistics.pstdev(tally.scores.recall for tally in self.by_document[:-1])

    @property
    def f1(self) -> float:
        """Harmonic mean of the two means."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score_run(
    method: Method, choice: str, cut_off: float, matches: Matches, scorer: Scorer, places: Places
) -> Run:
    """Return the counts of what a method found among the documents at `places`."""
    return Run(
        method=method,
        choice=choice,
        cut_off=cut_off,
        documents=len(places),
        pairs=tuple(scorer.tallies(matches, places)),
        by_document=tuple(scorer.document_tallies(matches, places)),
        times=matches.times,
    )


@dataclass(frozen=True)
class Point:
    """Pairs of all documents at one cut-off, or at one edit rate."""

    method: str
    cut_off: float
    rate: float | None
    scores: Scores


@dataclass(frozen=True, repr=False)
class PublishedResult(ReprMixin):
    """What the experiment measured.

    Parameters
    ----------
    topics : tuple of str
    documents : int
        Of the test split.
    true_pairs : int
        Pairs of a copy and its original, of the test split.
    natural : int
        Pairs of untouched documents that repeat each other by themselves.
    seed : int
    copies : {"reposts", "edits"}
        How the copies were made.
    rate : float or None
        Share of edited characters; None for each copy's own, and for re-posts.
    lengthened : float
        Mean share of its original's characters by which a copy is longer.
    unchanged : float
        Share of the copies that equal their originals.
    as_published : tuple of Run
        By method of the paper, then by number of documents; all documents come
        last.
    runs : tuple of Run
        Of all documents by method; the default cut-off, then the best.
    sweep : tuple of Point
        By method and cut-off, on the development split.
    rates : tuple of Point
        By method and edit rate, on the test split, at the best cut-off; always of
        edits.
    folder : Path or None
        Where tables, figures and the report are; None if none were written.
    """

    topics: tuple[str, ...]
    documents: int
    true_pairs: int
    natural: int
    seed: int
    copies: str
    rate: float | None
    lengthened: float
    unchanged: float
    as_published: tuple[Run, ...]
    runs: tuple[Run, ...]
    sweep: tuple[Point, ...]
    rates: tuple[Point, ...]
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "documents", self.documents
        yield "topics", ", ".join(self.topics)
        yield "copies", f"{self.true_pairs:,}, {self.copies}"
        for index, run in enumerate(sorted(self.chosen(), key=lambda run: -run.overall.scores.f1)):
            yield "" if index else "F1 of pairs", f"{run.overall.scores.f1:.3f} {run.label}"
        yield "folder", self.folder or "-"

    @property
    def paper_methods(self) -> tuple[Run, ...]:
        """The methods of the paper over all documents."""
        return tuple(run for run in self.as_published if run.documents == self.documents)

    def chosen(self, choice: str = BEST) -> tuple[Run, ...]:
        """Return the runs at the ``"best"`` or at the ``"default"`` cut-offs."""
        return tuple(run for run in self.runs if run.choice == choice)
