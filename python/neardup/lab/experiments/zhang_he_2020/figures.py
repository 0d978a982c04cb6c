"""The figures of the comparison of methods."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from neardup.lab.datasets.collection import OVERALL
from neardup.lab.experiments.zhang_he_2020.findings import PUBLISHED
from neardup.lab.experiments.zhang_he_2020.results import DEFAULT, PublishedResult, Run
from neardup.lab.experiments.zhang_he_2020.scoring import Tally
from neardup.lab.figures import Figures, draw_bars, draw_legend, draw_lines
from neardup.lab.metrics import Scores

__all__ = ["FIGURES", "figures"]

FIGURES = ("as_published_topics", "as_published_sizes", "precision", "recall", "time", "rates")

_THEIRS = "improved, in the paper"
_OWN = "at the recipe's own cut-off"
_APART = "equal values are drawn a little apart"


def figures(result: PublishedResult) -> Figures:
    """Return how to draw the figures of a result, by the names in `FIGURES`."""
    fills = (_paper_topics, _paper_sizes, _precision, _recall, _times, _rates)
    return {
        name: (partial(fill, result=result), 6.3 if fill is _paper_topics else 4.5)
        for name, fill in zip(FIGURES, fills, strict=True)
    }


def _paper_topics(figure: Any, result: PublishedResult) -> None:
    """Precision and recall of documents by topic, with the paper's figure as a line."""
    groups = [*result.topics, "mean of topics"]
    panels = figure.subplots(2, 1, sharex=True)
    for axes, measure, paper in zip(panels, ("precision", "recall"), PUBLISHED, strict=True):
        series = {
            run.name: [*_values(run.by_document[:-1], measure), getattr(run, measure)]
            for run in result.paper_methods
        }
        draw_bars(axes, measure, groups, series)
        axes.axhline(paper, color="black", linewidth=1, linestyle="--", label=_THEIRS)
        axes.set_title(f"{measure.capitalize()} of documents by topic, as published")
    draw_legend(figure, panels[0], columns=3, last=_THEIRS)


def _paper_sizes(figure: Any, result: PublishedResult) -> None:
    """Precision, recall and time of the paper's methods by number of documents."""
    panels = figure.subplots(1, 3)
    low = min(min(run.precision, run.recall) for run in result.as_published)
    for axes, measure in zip(panels, ("precision", "recall", "seconds"), strict=True):
        # Down to the tenth below the lowest value, since all may be near 1.
        floor = 0.0 if measure == "seconds" else max(0.0, math.ceil(10 * low - 1) / 10)
        _draw_sizes(axes, result.as_published, measure, floor)
        axes.set_xlabel("documents")
        of_documents = "" if measure == "seconds" else " of documents"
        axes.set_title(f"{measure.capitalize()}{of_documents}")
    draw_legend(figure, panels[0], columns=3, note=_APART)


def _precision(figure: Any, result: PublishedResult) -> None:
    _by_topic(figure, result, "precision")


def _recall(figure: Any, result: PublishedResult) -> None:
    _by_topic(figure, result, "recall")


def _by_topic(figure: Any, result: PublishedResult, measure: str) -> None:
    """Pairs by topic; a tick at the value of the recipe's own cut-off."""
    axes = figure.add_subplot()
    series = {run.label: _values(run.pairs, measure) for run in result.chosen()}
    ticks = [_values(run.pairs, measure) for run in result.chosen(DEFAULT)]
    draw_bars(axes, measure, [*result.topics, OVERALL], series, ticks, _OWN)
    axes.set_title(f"{measure.capitalize()} by topic, at the best cut-off")
    draw_legend(figure, axes, last=_OWN)


def _times(figure: Any, result: PublishedResult) -> None:
    axes = figure.add_subplot()
    _draw_sizes(axes, result.sizes, "seconds")
    sizes = sorted({run.documents for run in result.sizes})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlabel("documents")
    axes.set_ylabel("seconds, median of 3 runs")
    axes.set_title("Time by number of documents, at the best cut-off")
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


def _draw_sizes(axes: Any, runs: tuple[Run, ...], measure: str, low: float = 0.0) -> None:
    """A line a method over numbers of documents."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for run in sorted(runs, key=lambda run: run.documents):
        lines.setdefault(run.name, []).append((run.documents, getattr(run, measure)))
    high = 1.005 if measure != "seconds" else 1.05 * max(run.seconds for run in runs)
    draw_lines(axes, {run.name: lines[run.name] for run in runs}, low, high)
    axes.set_xlim(0, max(run.documents for run in runs) * 1.03)


def _values(tallies: tuple[Tally, ...], measure: str) -> list[float]:
    return [_value(tally.scores, measure) for tally in tallies]


def _value(scores: Scores, measure: str) -> float:
    """A share; none where nothing was found, of which all would be right."""
    if measure == "precision" and not scores.tp + scores.fp:
        return math.nan
    return scores.precision if measure == "precision" else scores.recall
