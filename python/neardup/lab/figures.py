"""The style that the figures of both experiments share, as SVG.

Figures are drawn without pyplot, so that the caller's state is not touched; equal results give
equal bytes with one version of matplotlib.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from typing import Any

#: One style for each series, repeated after eight. The colours of Okabe and Ito, which colour-blind
#: readers can distinguish, with grey for black.
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

#: The first one comes with matplotlib. Of the others, which have Chinese names, those installed
#: are used.
_FONTS = (
    "DejaVu Sans",
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
    "legend.frameon": False,
}
#: In inches.
_SIZE = (8.0, 4.5)


def draw_svg(draw: Callable[[Any], None]) -> bytes:
    """Return the figure that a function draws on an empty one."""
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
        settings["font.family"] = [name for name in _FONTS if name in installed]
        figure = Figure(figsize=_SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        data = io.BytesIO()
        figure.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()
