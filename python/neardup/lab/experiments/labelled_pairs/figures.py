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
_TRUE, _OTHER, _GREY = COLOURS[0], COLOURS[5], "#777777"


def _measures(figure: Any, result: PairsEvaluation) -> None:
    """F1 left out with its interval, the flattering best, and the default's."""
    axes = figure.add_subplot()
    measures = result.measures
    places = list(range(len(measures)))
    left_out = [m.sweep.left_out.f1 for m in measures]
    for place, measure in zip(places, measures, strict=True):
        axes.plot(measure.sweep.left_out_interval, (place, place), color=_TRUE, linewidth=1.4)
    axes.plot(left_out, places, "o", color=_TRUE, label="unseen cut-off, 95 % interval")
    best = [m.sweep.best.f1 for m in measures]
    axes.plot(best, places, "|", color="black", markersize=11, label="best cut-off in sample")
    defaults = [(m.default.f1, i) for i, m in enumerate(measures) if m.default is not None]
    if defaults:
        x, y = zip(*defaults, strict=True)
        axes.plot(x, y, "D", color=COLOURS[1], markersize=5, label="recipe's own cut-off")
    names = [m.name + (" (best)" if m is result.best else "") for m in measures]
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("F1")
    axes.set_title("How well each measure tells duplicates")
    figure.legend(loc="outside lower center", ncols=3)


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
        axes.axvline(default, color=_GREY, linestyle="--", linewidth=1.2, label=f"own: {bound}")
    axes.set_ylim(0, 1.02)
    if not best.measured.by_distance:
        axes.set_xlim(0, 1.02)
    axes.set_xlabel(_axis(result))
    axes.set_title(f"Where to cut {best.name}")
    figure.legend(loc="outside lower center", ncols=3)


def _values(figure: Any, result: PairsEvaluation) -> None:
    """Each pair as a dot in the row of its label."""
    best = result.best
    axes = figure.add_subplot()
    labels = list(result.truth.labels.items())
    places = {label: place for place, (label, _) in enumerate(labels)}
    # Spread by a fixed pattern, so that equal values stay apart.
    seen = dict.fromkeys(places, 0)
    for pair, value in zip(result.truth.pairs, best.measured.values.tolist(), strict=True):
        shift = ((seen[pair.label] * 0.381966) % 1 - 0.5) * 0.5
        seen[pair.label] += 1
        axes.plot(
            value,
            places[pair.label] + shift,
            "o" if pair.duplicate else "s",
            color=_TRUE if pair.duplicate else _OTHER,
            markersize=5,
            alpha=0.75,
            clip_on=False,
        )
    axes.axvline(best.sweep.cut_off, color="black", linewidth=1.2)
    axes.set_yticks(
        range(len(labels)),
        [f"{label} ({count})" for label, (_, count) in labels],
    )
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    if not best.measured.by_distance:
        axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(_axis(result))
    bound = best.measured.bound(best.sweep.cut_off)
    axes.set_title(f"Values of {best.name} by label; the line is the cut-off {bound}")


def _axis(result: PairsEvaluation) -> str:
    by_distance = result.best.measured.by_distance
    return f"distance by {result.best.name}, bits" if by_distance else result.best.name


#: How each figure is drawn: F1 of all measures; their curves; precision, recall and F1 of the
#: best measure that dedup can decide by, at all its cut-offs; its values by label.
FIGURES = {
    "measures": _measures,
    "precision_recall": _curves,
    "cut_offs": _cut_offs,
    "values": _values,
}


def figures(result: PairsEvaluation) -> Figures:
    """Return how to draw the figures of an evaluation, by the names in `FIGURES`."""
    heights = (1.9 + 0.32 * len(result.measures), 5.2, 4.5, 1.6 + 0.6 * len(result.truth.labels))
    return {
        name: (partial(fill, result=result), height)
        for (name, fill), height in zip(FIGURES.items(), heights, strict=True)
    }
