"""The figures of the published experiment, as SVG and PNG.

Drawn without pyplot, so that no state of the caller's is touched. Colours are
those of Okabe and Ito, which all eyes tell apart, with grey for black; bars
have hatches and lines have markers besides. An SVG has no date and fixed ids:
equal results give equal bytes.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neardup.lab.datasets.split import OVERALL
from neardup.lab.experiments.zhang_he_2020.as_published import PAPER

if TYPE_CHECKING:
    from neardup.lab.experiments.zhang_he_2020.results import PublishedResult, Run
    from neardup.lab.metrics import Scores

__all__ = ["COLOURS", "FIGURES", "MARKERS", "draw", "line", "rendered"]

#: One look a method, in the order of the methods; they repeat after eight.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#888888",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++", "oo")

#: Comes with matplotlib.
_FONT = "DejaVu Sans"
#: For Chinese names, where the machine has one of them.
_FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
)

_STYLE: Mapping[str, Any] = {
    "svg.hashsalt": "neardup",
    # Text as outlines looks the same where a font is missing.
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.4,
    "legend.frameon": False,
}
#: The figures of the published experiment.
FIGURES = ("as_published_topics", "as_published_sizes", "precision", "recall", "time", "rates")

_WIDTH, _HEIGHT = 8.0, 4.5
_DOTS = 144
_THEIRS = "improved, in the paper"
_OWN = "at the recipe's own cut-off"
#: Share of the place between two topics that their bars fill.
_FILLED = 0.82


def draw(result: PublishedResult) -> dict[str, bytes]:
    """Return the figures of a result, by file name.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    dict of str to bytes
        Those of `FIGURES`, each with ``.svg`` and ``.png``.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.

    Notes
    -----
    The bytes are the same for the same result and version of matplotlib.
    """
    figures: dict[str, Callable[[Any], None]] = {
        "as_published_topics": lambda figure: _paper_topics(figure, result),
        "as_published_sizes": lambda figure: _paper_sizes(figure, result),
        "precision": lambda figure: _bars(figure, result, "precision"),
        "recall": lambda figure: _bars(figure, result, "recall"),
        "time": lambda figure: _times(figure, result),
        "rates": lambda figure: _rates(figure, result),
    }
    files: dict[str, bytes] = {}
    for name, fill in figures.items():
        height = 1.4 * _HEIGHT if name == "as_published_topics" else _HEIGHT
        for extension, data in rendered(fill, height).items():
            files[f"{name}.{extension}"] = data
    return files


def rendered(fill: Callable[[Any], None], height: float = _HEIGHT) -> dict[str, bytes]:
    """Return a figure by extension, ``svg`` and ``png``; `height` is in inches."""
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # Names in a script that no font here has are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        # Matplotlib's types list the names of all settings.
        settings: Any = mpl.rcParams
        settings.update(_STYLE)
        installed = {font.name for font in font_manager.fontManager.ttflist}
        settings["font.family"] = [_FONT, *(name for name in _FALLBACKS if name in installed)]
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasAgg(figure)
        fill(figure)
        files = {}
        for extension, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            data = io.BytesIO()
            figure.savefig(data, format=extension, dpi=_DOTS, metadata=metadata)
            files[extension] = data.getvalue()
    return files


def _paper_topics(figure: Any, result: PublishedResult) -> None:
    """Precision and recall of documents by topic, with the paper's figure as a line."""
    runs = result.paper_methods
    groups = [*result.topics, "mean of topics"]
    width = _FILLED / len(runs)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, measure, paper in zip(panels, ("precision", "recall"), PAPER, strict=True):
        for at, run in enumerate(runs):
            values = [_drawn(tally.scores, measure) for tally in run.tallies[:-1]]
            axes.bar(
                [group - _FILLED / 2 + width * (at + 0.5) for group in range(len(groups))],
                [*values, getattr(run, measure)],
                width,
                label=run.name,
                color=COLOURS[at],
                hatch=_HATCHES[at],
                edgecolor="white",
                linewidth=0.4,
            )
        axes.axhline(paper, color="black", linewidth=1, linestyle="--", label=_THEIRS)
        axes.set_xticks(range(len(groups)), groups)
        axes.tick_params(axis="x", length=0, labelbottom=True)
        axes.set_ylim(0, 1.02)
        axes.set_ylabel(measure)
        axes.set_title(f"{measure.capitalize()} of documents by topic, as published", loc="left")
    _legend(figure, panels[0], columns=3)


def _paper_sizes(figure: Any, result: PublishedResult) -> None:
    """Precision, recall and time of the paper's methods by number of documents."""
    panels = figure.subplots(1, 3)
    sizes = sorted({run.documents for run in result.as_published})
    for axes, measure in zip(panels, ("precision", "recall", "seconds"), strict=True):
        for at, one in enumerate(result.paper_methods):
            mine = sorted(
                (run for run in result.as_published if run.name == one.name),
                key=lambda run: run.documents,
            )
            line(axes, at, one.name, sizes, [getattr(run, measure) for run in mine])
        axes.set_xlim(0, sizes[-1] * 1.03)
        if measure == "seconds":
            axes.set_ylim(bottom=0)
        else:
            low = min(min(run.precision, run.recall) for run in result.as_published)
            # Down to the tenth below the lowest value, since all may be near 1.
            axes.set_ylim(max(0.0, math.ceil(10 * low - 1) / 10), 1.005)
        axes.set_xlabel("documents")
        of = "" if measure == "seconds" else " of documents"
        axes.set_title(f"{measure.capitalize()}{of}", loc="left")
    _legend(figure, panels[0], columns=3)


def _bars(figure: Any, result: PublishedResult, measure: str) -> None:
    """Grouped bars by topic; a tick at the value of the recipe's own cut-off."""
    axes = figure.add_subplot()
    best, default = result.chosen("best"), result.chosen("default")
    groups = [*result.topics, OVERALL]
    width = _FILLED / len(best)
    for at, (run, own) in enumerate(zip(best, default, strict=True)):
        places = [group - _FILLED / 2 + width * (at + 0.5) for group in range(len(groups))]
        axes.bar(
            places,
            _values(run, measure),
            width,
            label=run.label,
            color=COLOURS[at % len(COLOURS)],
            hatch=_HATCHES[at % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
        axes.hlines(
            _values(own, measure),
            [place - width * 0.45 for place in places],
            [place + width * 0.45 for place in places],
            color="black",
            linewidth=1.4,
            label=_OWN if at == len(best) - 1 else None,
        )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel(measure)
    axes.set_title(f"{measure.capitalize()} by topic, at the best cut-off", loc="left")
    _legend(figure, axes)


def _times(figure: Any, result: PublishedResult) -> None:
    axes = figure.add_subplot()
    for at, name in enumerate(_names(result)):
        mine = [time for time in result.sizes if time.method == name]
        line(axes, at, name, [t.documents for t in mine], [t.seconds for t in mine])
    sizes = sorted({time.documents for time in result.sizes})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlim(0, sizes[-1] * 1.03)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("documents")
    axes.set_ylabel("seconds, median of 3 runs")
    axes.set_title("Time by number of documents, at the best cut-off", loc="left")
    _legend(figure, axes)


def _rates(figure: Any, result: PublishedResult) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, measure in ((left, "recall"), (right, "precision")):
        for at, name in enumerate(_names(result)):
            mine = [point for point in result.rates if point.method == name]
            values = [_drawn(point.scores, measure) for point in mine]
            line(axes, at, name, [100 * (point.rate or 0.0) for point in mine], values)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("edited characters, %")
        axes.set_ylabel(measure)
        axes.set_title(f"{measure.capitalize()} by edit rate", loc="left")
        axes.yaxis.set_tick_params(labelleft=True)
    _legend(figure, left)


def line(axes: Any, at: int, name: str, x: Sequence[float], y: Sequence[float]) -> None:
    """Draw a line in the colour and with the marker of a place."""
    axes.plot(
        x,
        y,
        label=name,
        color=COLOURS[at % len(COLOURS)],
        marker=MARKERS[at % len(MARKERS)],
        markersize=5,
        linewidth=1.6,
        # A line at the very top is not cut in half.
        clip_on=False,
    )


def _legend(figure: Any, axes: Any, columns: int = 4) -> None:
    handles, labels = axes.get_legend_handles_labels()
    # What is no method comes last, whatever kind of mark it is.
    entries = sorted(
        zip(labels, handles, strict=True), key=lambda entry: entry[0] in (_OWN, _THEIRS)
    )
    figure.legend(
        [handle for _, handle in entries],
        [label for label, _ in entries],
        loc="outside lower center",
        ncols=columns,
    )


def _values(run: Run, measure: str) -> list[float]:
    return [_drawn(tally.scores, measure) for tally in run.tallies]


def _drawn(scores: Scores, measure: str) -> float:
    """A share; none where nothing was found, of which all would be right."""
    if measure == "precision" and not scores.tp + scores.fp:
        return math.nan
    return scores.precision if measure == "precision" else scores.recall


def _names(result: PublishedResult) -> list[str]:
    return [run.method for run in result.chosen()]
