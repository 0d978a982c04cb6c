"""Shared parts of the figures of all experiments: style, bars, lines, SVG and PNG.

Figures are drawn without pyplot, so that the caller's state is not touched; equal results give
equal bytes with one version of matplotlib.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neardup.base.extras import require
from neardup.base.messages import N_

__all__ = ["COLOURS", "MARKERS", "Figures", "draw_bars", "draw_legend", "draw_lines", "render"]

#: By name: a function that fills an empty figure.
Figures = Mapping[str, Callable[[Any], None]]

#: One style per method, in the order of the methods; styles repeat after eight. The colours of
#: Okabe and Ito, which colour-blind readers can distinguish, with grey for black.
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
#: Fonts for Chinese names; the first one installed is used.
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
    "axes.titlelocation": "left",
    "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.4,
    "legend.frameon": False,
}
#: In inches.
_SIZE = (8.0, 4.5)
_DOTS = 144
#: Share of the place between two groups that their bars fill.
_FILLED = 0.82


def render(figures: Figures) -> dict[str, bytes]:
    """Return figures by file name, each as ``.svg`` and ``.png``."""
    require(N_("Figures"), "lab", "matplotlib")
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    files = {}
    with mpl.rc_context(), warnings.catch_warnings():
        # Names in a script that no font here has are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        # Matplotlib's types list the names of all settings.
        settings: Any = mpl.rcParams
        settings.update(_STYLE)
        installed = {font.name for font in font_manager.fontManager.ttflist}
        settings["font.family"] = [_FONT, *(name for name in _FALLBACKS if name in installed)]
        for name, fill in figures.items():
            figure = Figure(figsize=_SIZE, layout="constrained")
            FigureCanvasAgg(figure)
            fill(figure)
            for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
                data = io.BytesIO()
                figure.savefig(data, format=kind, dpi=_DOTS, metadata=metadata)
                files[f"{name}.{kind}"] = data.getvalue()
    return files


def draw_lines(axes: Any, lines: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Draw a line for each series of points."""
    for index, (name, points) in enumerate(lines.items()):
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            label=name,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            markersize=5,
            linewidth=1.6,
            # Do not clip a line at the very top.
            clip_on=False,
        )


def draw_bars(
    axes: Any,
    measure: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
) -> None:
    """Draw a bar for each series in each group."""
    width = _FILLED / len(series)
    for index, (label, values) in enumerate(series.items()):
        axes.bar(
            [group - _FILLED / 2 + width * (index + 0.5) for group in range(len(groups))],
            values,
            width,
            label=label,
            color=COLOURS[index % len(COLOURS)],
            hatch=_HATCHES[index % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0, labelbottom=True)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel(measure)


def draw_legend(figure: Any, axes: Any, *, columns: int, last: str | None = None) -> None:
    """Draw the legend of one panel below the figure, with the entry `last` behind all others."""
    handles, labels = axes.get_legend_handles_labels()
    entries = sorted(zip(labels, handles, strict=True), key=lambda entry: entry[0] == last)
    figure.legend(
        [handle for _, handle in entries],
        [label for label, _ in entries],
        loc="outside lower center",
        ncols=columns,
    )
