"""The figures of an evaluation of labelled pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from neardup.lab.experiments.labelled_pairs.result import PairsEvaluation
from neardup.lab.figures import COLOURS, MARKERS, Figures

__all__ = ["FIGURES", "figures"]

#: Most curves in one figure; more would be unreadable.
_CURVES = 5


def _curves(figure: Any, result: PairsEvaluation) -> None:
    axes = figure.add_subplot()
    shown = list(result.measures[:_CURVES])
    if result.best not in shown:
        shown[-1] = result.best
    for style, measure in enumerate(shown):
        its = measure.sweep
        has_true = its.recall > 0
        recall, precision = its.recall[has_true], its.precision[has_true]
        # From recall 0 on, with the precision where the first true pair is found.
        axes.step(
            [0.0, *recall],
            [*precision[:1], *precision],
            where="pre",
            color=COLOURS[style],
            # Of curves that coincide the later is the thinner one.
            linewidth=3.6 - 0.6 * style,
            label=f"{measure.name}, AP {its.average_precision:.3f}",
            clip_on=False,
        )
        axes.plot(
            its.best.recall,
            its.best.precision,
            MARKERS[style],
            color=COLOURS[style],
            markeredgecolor="white",
            markersize=8,
            clip_on=False,
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.set_title("Precision and recall of the best; marks at the best cut-off")
    figure.legend(loc="outside lower center", ncols=3)


def _cut_offs(figure: Any, result: PairsEvaluation) -> None:
    best = result.best
    axes = figure.add_subplot()
    x, precision, recall = best.sweep.cut_offs, best.sweep.precision, best.sweep.recall
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    low, high = best.sweep.interval
    axes.axvspan(low, high, color="#E8E8E8", linewidth=0, zorder=0, label="95 % of best cut-offs")
    for style, (name, y) in enumerate((("precision", precision), ("recall", recall), ("F1", f1))):
        # A cut-off between two values takes all that is on the similar side.
        axes.step(x, y, where="post", color=COLOURS[style], linewidth=1.8, label=name)
    bound = best.measured.bound(best.sweep.cut_off)
    axes.axvline(best.sweep.cut_off, color="black", linewidth=1.2, label=f"best: {bound}")
    default = best.measured.own_cut_off
    if default is not None:
        bound = best.measured.bound(default)
        axes.axvline(default, color="#777777", linestyle="--", linewidth=1.2, label=f"own: {bound}")
    axes.set_ylim(0, 1.02)
    if not best.measured.by_distance:
        axes.set_xlim(0, 1.02)
    axes.set_xlabel(_axis(result))
    axes.set_title(f"Where to cut {best.name}")
    figure.legend(loc="outside lower center", ncols=3)


def _axis(result: PairsEvaluation) -> str:
    by_distance = result.best.measured.by_distance
    return f"distance by {result.best.name}, bits" if by_distance else result.best.name


#: How each figure is drawn: the curves of the best measures; precision, recall and F1 of the best
#: measure that dedup can decide by, at all its cut-offs.
FIGURES = {"precision_recall": _curves, "cut_offs": _cut_offs}


def figures(result: PairsEvaluation) -> Figures:
    """Return how to draw the figures of an evaluation, by the names in `FIGURES`."""
    return {name: partial(fill, result=result) for name, fill in FIGURES.items()}
