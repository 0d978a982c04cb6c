"""The runs of the published comparison: pairs that each method finds, and the right ones.

Pairs are counted, and documents: a document counts once, however many pairs it is in.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.base.display import ReprMixin
from neardup.base.lazy import pa
from neardup.lab.datasets.collection import OVERALL, Places, parse_places
from neardup.lab.experiments import format_bound
from neardup.lab.experiments.zhang_he_2020.cases import Cases
from neardup.lab.scores import Scores
from neardup.recipe import Recipe, load_recipe
from neardup.tasks import pairs as task

#: How often a run is timed.
_REPEATS = 5
#: Documents of the run before the first timed one, which loads word lists.
_WARM_UP = 20

#: Precision and recall of `improved` in the paper; it gives no comparable figures for the others.
PUBLISHED = (0.953, 0.940)

RIGHT, WRONG, ASIDE = 1, 0, -1

#: Originals with at least this resemblance repeat each other naturally; finding them is no mistake.
_NATURAL = 0.5


def list_methods() -> tuple[Recipe, ...]:
    """Return MinHash and the paper's methods in its order, as recipes of these names.

    The paper does not give the sample size and the stop words. So Shingle and traditional SimHash
    come in two readings each; `improved` matches short markers as whole words, and as the paper
    does, inside words. A name is the paper's, then the reading. The paper names no distance; 3 of
    64 bits is the usual one.
    """
    sample, classic = load_recipe("shingle-sample"), load_recipe("classic")
    improved = load_recipe("improved")
    recipes = {
        "MinHash": load_recipe("minhash").replace(decide={"threshold": 0.5}),
        "Shingle, sample of 8": sample.replace(sketch={"size": 8}),
        "Shingle, sample of 64": sample,
        "traditional, stop words kept": classic.replace(weigh={"stop_words": "none"}),
        "traditional, stop words out": classic,
        "improved, markers inside words": improved.replace(weigh={"marker_match": "contains"}),
        "improved": improved,
    }
    return tuple(recipe.replace(name=name) for name, recipe in recipes.items())


def find_pairs(recipe: Recipe, table: pa.Table, *, workers: int = 0) -> Places:
    """Return the pairs that a recipe finds, by the places of both documents."""
    pairs = task.pairs(table, recipe=recipe, workers=workers).table
    return np.column_stack([parse_places(pairs["id_a"]), parse_places(pairs["id_b"])])


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
    """Counts what is right and what is wrong among found pairs.

    A pair of a copy and its own original is right. A pair whose originals repeat each
    other naturally is set aside: neither right nor wrong. All other pairs are wrong.
    """

    def __init__(self, cases: Cases, table: pa.Table, *, workers: int = 0) -> None:
        alike = load_recipe("shingle").replace(decide={"threshold": _NATURAL})
        self._cases = cases
        #: Places of the pairs that repeat each other naturally; of shape (n_pairs, 2).
        self.natural: Places = np.sort(
            find_pairs(alike, table.filter(cases.untouched), workers=workers), axis=1
        )
        self._codes_of_natural = np.unique(self._number_pairs(self.natural))

    def label_pairs(self, pairs: Places) -> npt.NDArray[np.int8]:
        """Return for each pair whether it is RIGHT, WRONG or set ASIDE."""
        bases = self._cases.base[pairs]
        labels = np.full(len(pairs), WRONG, np.int8)
        labels[np.isin(self._number_pairs(bases), self._codes_of_natural)] = ASIDE
        labels[bases[:, 0] == bases[:, 1]] = RIGHT
        return labels

    def count_pairs(self, pairs: Places, among: Places | None = None) -> tuple[Tally, ...]:
        """Return the counts of pairs by topic, and then of all documents."""
        tallies = []
        for topic, labels, _, true in self._split_topics(pairs, among):
            right, wrong, aside = (int((labels == label).sum()) for label in (RIGHT, WRONG, ASIDE))
            tallies.append(Tally(topic, Scores(right, wrong, true - right), aside))
        return tuple(tallies)

    def count_documents(self, pairs: Places, among: Places | None = None) -> tuple[Tally, ...]:
        """Return the counts of documents by topic, and then of all documents."""
        tallies = []
        for topic, labels, places, true in self._split_topics(pairs, among):
            right, wrong, aside = (
                np.unique(places[labels == label]) for label in (RIGHT, WRONG, ASIDE)
            )
            fp = len(np.setdiff1d(wrong, right))
            unseen = len(np.setdiff1d(aside, np.union1d(right, wrong)))
            tallies.append(Tally(topic, Scores(len(right), fp, 2 * true - len(right)), unseen))
        return tuple(tallies)

    def _split_topics(
        self, pairs: Places, among: Places | None
    ) -> Iterator[tuple[str, npt.NDArray[np.int8], Places, int]]:
        """Each topic, then all: its name, labels and places of its pairs, its true pairs."""
        cases = self._cases
        labels = self.label_pairs(pairs)
        copies = np.flatnonzero(~cases.untouched)
        if among is not None:
            copies = copies[np.isin(copies, among) & np.isin(cases.base[copies], among)]
        for number, name in enumerate(cases.topics):
            is_of_topic = (cases.topic[pairs] == number).any(axis=1)
            yield (
                name,
                labels[is_of_topic],
                pairs[is_of_topic],
                int((cases.topic[copies] == number).sum()),
            )
        yield OVERALL, labels, pairs, len(copies)

    def _number_pairs(self, pairs: Places) -> Places:
        """A number for each unordered pair."""
        codes: Places = pairs.min(axis=1) * len(self._cases.base) + pairs.max(axis=1)
        return codes


@dataclass(frozen=True)
class Run:
    """The findings of one recipe among a number of documents.

    `pairs` and `by_document` count by topic, then all; `times` are the seconds of several runs.
    """

    recipe: Recipe
    documents: int
    pairs: tuple[Tally, ...]
    by_document: tuple[Tally, ...]
    times: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the recipe."""
        return self.recipe.name

    @property
    def cut_off(self) -> float:
        """The largest distance in bits or the smallest similarity, both inclusive."""
        decide = self.recipe.decide
        return decide.threshold if decide.threshold is not None else decide.max_distance or 0

    @property
    def bound(self) -> str:
        """The cut-off, for people."""
        return format_bound(self.cut_off, by_distance=self.recipe.decide.threshold is None)

    @property
    def seconds(self) -> float:
        """The median time."""
        return statistics.median(self.times)

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


def time_run(
    recipe: Recipe, table: pa.Table, scorer: Scorer, places: Places, *, workers: int = 0
) -> Run:
    """Run a recipe five times over the documents at `places`; it finds the same each time."""
    documents = table.take(places)
    find_pairs(recipe, documents.slice(0, _WARM_UP), workers=workers)
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        pairs = find_pairs(recipe, documents, workers=workers)
        times.append(time.perf_counter() - begin)
    counts = scorer.count_pairs(pairs, places), scorer.count_documents(pairs, places)
    return Run(recipe, len(places), *counts, tuple(times))


@dataclass(frozen=True, repr=False)
class PublishedResult(ReprMixin):
    """The results of the experiment.

    Parameters
    ----------
    topics : tuple of str
    documents : int
    true_pairs : int
        Pairs of a copy and its original.
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
    runs : tuple of Run
        By method, then by number of documents; all documents come last.
    folder : Path or None
        Where the table, the figure and the report are; None if none were written.
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
    runs: tuple[Run, ...]
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "documents", self.documents
        yield "topics", ", ".join(self.topics)
        yield "copies", f"{self.true_pairs:,}, {self.copies}"
        for index, run in enumerate(sorted(self.complete, key=lambda run: -run.overall.scores.f1)):
            f1 = f"{run.overall.scores.f1:.3f} {run.name} {run.bound}"
            yield "" if index else "F1 of pairs", f1
        yield "folder", self.folder or "-"

    @property
    def complete(self) -> tuple[Run, ...]:
        """The runs over all documents, by method."""
        return tuple(run for run in self.runs if run.documents == self.documents)
