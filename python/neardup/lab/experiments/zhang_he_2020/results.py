"""What the published experiment measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from neardup.lab.experiments.zhang_he_2020.as_published import AsPublished
from neardup.lab.experiments.zhang_he_2020.scoring import Tally
from neardup.lab.metrics import Scores

__all__ = ["BEST", "DEFAULT", "PublishedResult", "Run", "SizeTime", "SweepPoint"]

DEFAULT, BEST = "default", "best"


@dataclass(frozen=True)
class Run:
    """One method at one cut-off on the test split.

    Parameters
    ----------
    method : str
    recipe_id : str
    choice : {"default", "best"}
        Whose cut-off: the recipe's own, or the best on the development split.
    measure : {"max_distance", "threshold"}
        What the cut-off is: a largest distance in bits, or a smallest
        similarity; both inclusive.
    cut_off : int or float
    tallies : tuple of Tally
        By topic, then of all documents.
    seconds, sketch_seconds, search_seconds : float
        Median of three runs over all documents; the parts are of the median
        run.
    """

    method: str
    recipe_id: str
    choice: str
    measure: str
    cut_off: float
    tallies: tuple[Tally, ...]
    seconds: float
    sketch_seconds: float
    search_seconds: float

    @property
    def label(self) -> str:
        """The method and its cut-off, for people."""
        return f"{self.method} {self.bound}"

    @property
    def bound(self) -> str:
        """The cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        return f"{'≥' if self.measure == 'threshold' else '≤'} {self.cut_off:g}"

    @property
    def overall(self) -> Tally:
        """The counts of all documents."""
        return self.tallies[-1]


@dataclass(frozen=True)
class SweepPoint:
    """Counts over all documents at one cut-off, or at one edit rate.

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


@dataclass(frozen=True)
class SizeTime:
    """Time of one method on a number of documents.

    Parameters
    ----------
    method : str
    cut_off : int or float
    documents : int
    seconds : float
        Median of three runs.
    """

    method: str
    cut_off: float
    documents: int
    seconds: float


@dataclass(frozen=True)
class PublishedResult:
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
    as_published : tuple of AsPublished
        By method of the paper, then by number of documents; all documents come
        last.
    runs : tuple of Run
        By method; the default cut-off, then the best.
    sweep : tuple of SweepPoint
        By method and cut-off, on the development split.
    sizes : tuple of SizeTime
        By method and number of documents, at the best cut-off.
    rates : tuple of SweepPoint
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
    as_published: tuple[AsPublished, ...]
    runs: tuple[Run, ...]
    sweep: tuple[SweepPoint, ...]
    sizes: tuple[SizeTime, ...]
    rates: tuple[SweepPoint, ...]
    folder: Path | None

    @property
    def paper_methods(self) -> tuple[AsPublished, ...]:
        """The methods of the paper over all documents."""
        return tuple(run for run in self.as_published if run.documents == self.documents)

    def chosen(self, choice: str = BEST) -> tuple[Run, ...]:
        """Return the runs at the ``"best"`` or at the ``"default"`` cut-offs."""
        return tuple(run for run in self.runs if run.choice == choice)
