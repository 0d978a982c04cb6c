"""What the experiment measures: runs of methods, points of sweeps, and all of them together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.base.reprs import ReprMixin
from neardup.lab.experiments.zhang_he_2020.methods import Found, Method
from neardup.lab.experiments.zhang_he_2020.scoring import Places, Scorer, Tally
from neardup.lab.metrics import Scores
from neardup.recipe import load_recipe

__all__ = ["BEST", "DEFAULT", "PAPER", "Point", "PublishedResult", "Run", "score_run"]

PAPER, DEFAULT, BEST = "paper", "default", "best"


@dataclass(frozen=True)
class Run:
    """What one method finds at one cut-off on the test split.

    Parameters
    ----------
    method : Method
    choice : {"paper", "default", "best"}
        Whose cut-off: the paper's, the recipe's own, or the best on the development split.
    cut_off : int or float
    documents : int
        Number of documents searched.
    pairs, by_document : tuple of Tally
        Pairs and documents by topic, then of all documents.
    seconds, sketch_seconds, search_seconds : float
        Median of five runs; the parts are of the median run.
    fastest, slowest : float
        Of the five runs.
    """

    method: Method
    choice: str
    cut_off: float
    documents: int
    pairs: tuple[Tally, ...]
    by_document: tuple[Tally, ...]
    seconds: float
    sketch_seconds: float
    search_seconds: float
    fastest: float
    slowest: float

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
        return load_recipe(self.method.recipe).id

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
    method: Method, choice: str, cut_off: float, found: Found, scorer: Scorer, places: Places
) -> Run:
    """Return the counts of what a method found among the documents at `places`."""
    return Run(
        method=method,
        choice=choice,
        cut_off=cut_off,
        documents=len(places),
        pairs=tuple(scorer.tallies(found, places)),
        by_document=tuple(scorer.document_tallies(found, places)),
        seconds=found.seconds,
        sketch_seconds=found.sketch_seconds,
        search_seconds=found.search_seconds,
        fastest=found.fastest,
        slowest=found.slowest,
    )


@dataclass(frozen=True)
class Point:
    """Pairs of all documents at one cut-off, or at one edit rate.

    Parameters
    ----------
    method : str
    cut_off : int or float
    rate : float or None
        Share of edited characters; None for each copy's own.
    scores : Scores
    """

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
    sizes : tuple of Run
        By method and number of documents, at the best cut-off.
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
    sizes: tuple[Run, ...]
    rates: tuple[Point, ...]
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "documents", self.documents
        yield "topics", ", ".join(self.topics)
        yield "copies", f"{self.true_pairs:,}, {self.copies}"
        for at, run in enumerate(sorted(self.chosen(), key=lambda run: -run.overall.scores.f1)):
            yield "" if at else "F1 of pairs", f"{run.overall.scores.f1:.3f} {run.label}"
        yield "folder", self.folder or "-"

    @property
    def paper_methods(self) -> tuple[Run, ...]:
        """The methods of the paper over all documents."""
        return tuple(run for run in self.as_published if run.documents == self.documents)

    def chosen(self, choice: str = BEST) -> tuple[Run, ...]:
        """Return the runs at the ``"best"`` or at the ``"default"`` cut-offs."""
        return tuple(run for run in self.runs if run.choice == choice)
