"""The result of an evaluation of labelled pairs, and what its settings do to the collection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import neardup
from neardup.base.reprs import ReprMixin
from neardup.compare import Comparison
from neardup.lab.datasets.collection import Documents, Places, places_of
from neardup.lab.datasets.labels import Truth
from neardup.lab.experiments.labelled_pairs.measures import Pairs, components
from neardup.lab.experiments.labelled_pairs.settings import (
    Choice,
    MeasureResult,
    Setting,
    sentences,
)
from neardup.lab.metrics import (
    BCubed,
    Flags,
    KeptScores,
    b_cubed,
    kept_scores,
)

__all__ = ["Consequence", "PairsEvaluation", "consequence", "implied_clusters"]


@dataclass(frozen=True)
class Consequence:
    """A run of `neardup.dedup` over the collection, judged on the labelled documents."""

    name: str
    rule: str
    dropped_in_all: int
    adjusted_rand: float
    b_cubed: BCubed
    kept: KeptScores


def implied_clusters(pairs: Pairs, is_true: Flags) -> tuple[Places, Places, int]:
    """Return the labelled documents by place, their cluster, and the number of contradictions.

    Documents that labelled duplicates join, directly or over others, are one cluster. A
    contradiction is a pair of one cluster that is labelled as no duplicate.
    """
    places, clusters = components(pairs, is_true)
    a, b = (clusters[np.searchsorted(places, side)] for side in (pairs.a, pairs.b))
    return places, clusters, int((a == b)[~is_true].sum())


def consequence(
    name: str,
    setting: Setting,
    pairs: Pairs,
    labelled: Places,
    true: Places,
    *,
    workers: int = 0,
) -> Consequence:
    """Run `neardup.dedup` by a setting, and judge what becomes of the labelled.

    A labelled document may be dropped for one that is not labelled. The first labelled one of
    such a cluster then represents it.
    """
    from sklearn.metrics import adjusted_rand_score

    result = neardup.dedup(pairs.documents.table(), recipe=setting.recipe(), workers=workers)
    kept_of = np.arange(len(pairs.documents))
    kept_of[places_of(result.removed["id"])] = places_of(result.removed["kept_id"])
    keepers = kept_of[labelled]
    first_of: dict[int, int] = {place: i for i, place in enumerate(labelled.tolist())}
    kept = np.array([first_of.setdefault(place, i) for i, place in enumerate(keepers.tolist())])
    plan = result.plan
    if plan.threshold is None:
        rule = f"distance ≤ {plan.max_distance}"
    else:
        rule = f"{plan.measure} ≥ {plan.threshold:g}"
    return Consequence(
        name=name,
        rule=f"{setting.decider.name}: {rule}",
        dropped_in_all=len(result.removed),
        adjusted_rand=float(adjusted_rand_score(true, keepers)),
        b_cubed=b_cubed(keepers, true),
        kept=kept_scores(kept, true),
    )


@dataclass(frozen=True, repr=False)
class PairsEvaluation(ReprMixin):
    """Evaluation of measures, recipes and thresholds on labelled pairs.

    Parameters
    ----------
    documents : Documents
        Those of the input that have a text.
    truth : Truth
    pairs : Pairs
        The labelled pairs, by place in `documents`.
    measures : tuple of MeasureResult
        The best first: by F1 on unseen pairs, then fewer false positives, then
        simpler.
    choice : Choice
        The default and the best setting, compared.
    evidence : tuple of Comparison
        What the advised setting finds in each pair; `verdict` says why it decides as it does.
    consequences : tuple of Consequence
        What `neardup.dedup` does by default, and with the best setting.
    contradictions : int
        Pairs labelled as no duplicates that other labels join.
    problems : int
        Records of the input without a usable text; they were left out.
    folder : Path or None
        Where tables, figures and the report are.
    """

    documents: Documents
    truth: Truth
    pairs: Pairs
    measures: tuple[MeasureResult, ...]
    choice: Choice
    evidence: tuple[Comparison, ...]
    consequences: tuple[Consequence, ...]
    contradictions: int
    problems: int
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        duplicates = int(self.is_true.sum())
        yield "documents", len(self.documents)
        yield "labels", f"{duplicates:,} duplicates, {len(self.is_true) - duplicates:,} others"
        yield "verdict", sentences(self.choice)[0]
        for name, setting in (("default", self.choice.default), ("best", self.choice.best)):
            low, high = setting.accuracy.f1
            rule = f"{setting.measured.name} {setting.measured.bound(setting.cut_off)}"
            yield name, f"F1 {setting.accuracy.scores.f1:.3f} ({low:.3f} to {high:.3f}), {rule}"
        yield "errors", sum(len(self.mistakes(found=found)) for found in (True, False))
        yield "folder", self.folder or "-"

    @property
    def best(self) -> MeasureResult:
        """The measure of the best setting."""
        chosen = self.choice.best.measured
        return next(measure for measure in self.measures if measure.measured is chosen)

    @property
    def is_true(self) -> Flags:
        """Whether each pair is labelled as duplicate."""
        return np.array([pair.duplicate for pair in self.truth.pairs], np.bool_)

    def mistakes(self, *, found: bool) -> list[int]:
        """Return the pairs that the advised setting is wrong about, the worst first.

        Parameters
        ----------
        found : bool
            True for pairs that it wrongly calls duplicates, False for those
            that it misses.

        Returns
        -------
        list of int
            Places in `truth.pairs`.
        """
        advised = self.choice.advised
        wrong = advised.called != self.is_true
        wrong &= self.is_true != found
        values = advised.measured.values
        likeness = np.nan_to_num(-values if advised.measured.by_distance else values, nan=-np.inf)
        order = np.argsort(-likeness if found else likeness, kind="stable")
        return [place for place in order.tolist() if wrong[place]]
