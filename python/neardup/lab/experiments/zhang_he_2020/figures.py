"""The figures of the comparison of methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from neardup.lab.experiments.zhang_he_2020.results import (
    PUBLISHED,
    PublishedResult,
)
from neardup.lab.figures import Figures, draw_bars, draw_legend, draw_lines
from neardup.lab.metrics import Scores

__all__ = ["FIGURES", "figures"]

#: MinHash and the paper's three methods: of two readings, the one that it describes best.
_SHOWN = ("MinHash", "Shingle, sample of 64", "traditional, stop words out", "improved")

_THEIRS = "improved, in the paper"
_APART = "equal values are drawn a little apart"


def _paper_topics(figure: Any, result: PublishedResult, measure: str, paper: float) -> None:
    """A measure of documents by topic, with the paper's figure as a line."""
    axes = figure.add_subplot()
    series = {
        run.label: [
            *(_value(tally.scores, measure) for tally in run.by_document[:-1]),
            getattr(run, measure),
        ]
        for run in result.paper_methods
        if run.name in _SHOWN
    }
    draw_bars(axes, measure, [*result.topics, "mean of topics"], series)
    axes.axhline(paper, color="black", linewidth=1, linestyle="--", label=_THEIRS)
    axes.set_title(f"{measure.capitalize()} of documents by topic")
    draw_legend(figure, axes, columns=2, last=_THEIRS)


def _paper_times(figure: Any, result: PublishedResult) -> None:
    """A line a method over numbers of documents."""
    runs = [run for run in result.as_published if run.name in _SHOWN]
    axes = figure.add_subplot()
    lines: dict[str, list[tuple[float, float]]] = {}
    for run in sorted(runs, key=lambda run: run.documents):
        lines.setdefault(run.name, []).append((run.documents, run.seconds))
    high = 1.05 * max(max(run.times) for run in runs)
    draw_lines(axes, {run.name: lines[run.name] for run in runs}, 0.0, high)
    for run in runs:
        axes.vlines(run.documents, min(run.times), max(run.times), color="#444444", linewidth=1)
    sizes = sorted({run.documents for run in runs})
    axes.set_xlim(0, sizes[-1] * 1.03)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlabel("documents")
    axes.set_ylabel("seconds, median and range of 5 runs")
    axes.set_title("Time by number of documents, as published")
    draw_legend(figure, axes)


def _rates(figure: Any, result: PublishedResult) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for axes, measure in zip(panels, ("recall", "precision"), strict=True):
        lines = {
            run.name: [
                (100 * (point.rate or 0.0), _value(point.scores, measure))
                for point in result.rates
                if point.method == run.name
            ]
            for run in result.chosen()
        }
        draw_lines(axes, lines, 0, 1.02)
        axes.set_xlim(left=0)
        axes.set_xlabel("edited characters, %")
        axes.set_ylabel(measure)
        axes.set_title(f"{measure.capitalize()} by edit rate")
        axes.yaxis.set_tick_params(labelleft=True)
    draw_legend(figure, panels[0], note=_APART)


def _value(scores: Scores, measure: str) -> float:
    """A share; none where nothing was found, of which all would be right."""
    if measure == "precision" and not scores.tp + scores.fp:
        return math.nan
    return scores.precision if measure == "precision" else scores.recall


#: How each figure is drawn; the first three are those of the paper.
FIGURES: Mapping[str, Callable[..., None]] = {
    "published_precision_by_topic": partial(_paper_topics, measure="precision", paper=PUBLISHED[0]),
    "published_recall_by_topic": partial(_paper_topics, measure="recall", paper=PUBLISHED[1]),
    "published_time_by_documents": _paper_times,
    "pairs_by_edit_rate": _rates,
}


def figures(result: PublishedResult) -> Figures:
    """Return how to draw the figures of a result, by the names in `FIGURES`."""
    return {name: partial(fill, result=result) for name, fill in FIGURES.items()}
