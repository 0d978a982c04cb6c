"""The comparison of Zhang and He (2020) as they count it.

Distance 3, documents instead of pairs, precision and recall averaged over the
topics. Shingle and traditional SimHash are measured in two readings each,
since the paper does not give the sample size and the stop words.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neardup.lab.experiments.zhang_he_2020.methods import Found, Method
from neardup.lab.experiments.zhang_he_2020.scoring import Places, Scorer, Tally
from neardup.lab.metrics import Scores
from neardup.recipe import load_recipe

__all__ = [
    "IMPROVED",
    "PAPER",
    "AsPublished",
    "Contender",
    "as_published",
    "contenders",
    "findings",
]

#: Precision and recall of `improved` in the paper; it gives none that can be set beside the others.
PAPER = (0.953, 0.940)
#: A figure at most this much below the paper's counts as reproduced.
_MARGIN = 0.03

SHINGLE, TRADITIONAL, IMPROVED = "Shingle", "traditional", "improved"


@dataclass(frozen=True)
class Contender:
    """One method of the paper in one reading.

    Parameters
    ----------
    kind : {"Shingle", "traditional", "improved"}
        The method as the paper calls it.
    method : Method
        With one cut-off.
    """

    kind: str
    method: Method

    @property
    def name(self) -> str:
        """The method and its reading."""
        return self.method.name

    @property
    def cut_off(self) -> float:
        """The cut-off of the comparison."""
        return self.method.cut_offs[0]


def contenders() -> tuple[Contender, ...]:
    """Return the methods of the paper, in its order."""
    sample, classic = load_recipe("shingle-sample"), load_recipe("classic")
    with_stop_words = classic.replace(weigh={"stop_words": "none"})
    few = sample.replace(sketch={"size": 8})
    return (
        Contender(SHINGLE, Method("Shingle, sample of 8", few, "threshold", (0.5,))),
        Contender(SHINGLE, Method("Shingle, sample of 64", sample, "threshold", (0.5,))),
        Contender(
            TRADITIONAL,
            Method("traditional, stop words kept", with_stop_words, "max_distance", (3,)),
        ),
        Contender(
            TRADITIONAL, Method("traditional, stop words out", classic, "max_distance", (3,))
        ),
        Contender(IMPROVED, Method("improved", "improved", "max_distance", (3,))),
    )


@dataclass(frozen=True)
class AsPublished:
    """What one method of the paper finds among a number of documents.

    Parameters
    ----------
    kind, name : str
        See :class:`Contender`.
    recipe_id : str
    bound : str
        The cut-off, for people.
    documents : int
        Number of documents searched.
    tallies : tuple of Tally
        Documents by topic, then of all documents.
    pairs : Tally
        Pairs of all documents.
    seconds : float
        Median of three runs.
    """

    kind: str
    name: str
    recipe_id: str
    bound: str
    documents: int
    tallies: tuple[Tally, ...]
    pairs: Tally
    seconds: float

    @property
    def precision(self) -> float:
        """Mean of the topics' precisions, over documents."""
        return statistics.fmean(tally.scores.precision for tally in self.tallies[:-1])

    @property
    def recall(self) -> float:
        """Mean of the topics' recalls, over documents."""
        return statistics.fmean(tally.scores.recall for tally in self.tallies[:-1])

    @property
    def f1(self) -> float:
        """Harmonic mean of the two means."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def everywhere(self) -> Scores:
        """Documents of the whole collection, distractors included."""
        return self.tallies[-1].scores


def as_published(contender: Contender, found: Found, scorer: Scorer, places: Places) -> AsPublished:
    """Count what a method found among the documents at `places`."""
    return AsPublished(
        kind=contender.kind,
        name=contender.name,
        recipe_id=load_recipe(contender.method.recipe).id,
        bound=contender.method.bound(contender.cut_off),
        documents=len(places),
        tallies=tuple(scorer.document_tallies(found, places)),
        pairs=scorer.tallies(found, places)[-1],
        seconds=found.seconds,
    )


def findings(runs: Sequence[AsPublished], *, markdown: bool = True) -> list[str]:
    """Return what is reproduced of the paper and what is not, one sentence each.

    Parameters
    ----------
    runs : sequence of AsPublished
        Over all documents, one for each contender.
    markdown : bool, default=True
        False leaves out the marks of Markdown.

    Returns
    -------
    list of str
        Each begins with *Reproduced* or *Not reproduced*.
    """
    improved = next(run for run in runs if run.kind == IMPROVED)
    shingle = [run for run in runs if run.kind == SHINGLE]
    traditional = [run for run in runs if run.kind == TRADITIONAL]
    others = [*traditional, improved]
    reached = all(
        measured >= paper - _MARGIN
        for measured, paper in zip((improved.precision, improved.recall), PAPER, strict=True)
    )
    ahead = all(improved.f1 > run.f1 for run in traditional)
    last = max(run.f1 for run in shingle) < min(run.f1 for run in others)
    slower = [run for run in runs if run.seconds < improved.seconds]
    said = [
        (
            reached,
            f"the precision of {PAPER[0]:.3f} and the recall of {PAPER[1]:.3f} of `improved`: "
            f"here {improved.precision:.3f} and {improved.recall:.3f} by topic, "
            f"{improved.everywhere.precision:.3f} and {improved.everywhere.recall:.3f} "
            "distractors included",
        ),
        (
            ahead,
            f"`improved` before traditional SimHash: F1 {improved.f1:.3f} against "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in traditional),
        ),
        (
            last,
            "Shingle last: F1 "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in shingle)
            + f" against {min(run.f1 for run in others):.3f} of the weakest other method",
        ),
        (
            not slower,
            f"`improved` fastest: {improved.seconds:.2f} s against "
            + _listed(f"{run.seconds:.2f} s ({run.name})" for run in runs if run.kind != IMPROVED),
        ),
    ]
    lines = [f"**{'Reproduced' if is_so else 'Not reproduced'}**: {what}." for is_so, what in said]
    return lines if markdown else [re.sub("[*`]", "", line) for line in lines]


def _reading(run: AsPublished) -> str:
    return run.name.partition(", ")[2]


def _listed(parts: Iterable[str]) -> str:
    *first, final = parts
    return f"{', '.join(first)} and {final}" if first else final
