"""What the runs of bench_growth.py gave, as rows to draw and to write about."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import bench_growth

RESULTS = Path(__file__).resolve().parent / "results"
SIZES = {**bench_growth.NAMES, **bench_growth.LARGEST}


@dataclass(frozen=True)
class Cell:
    """One engine at one size: measures, or why there are none."""

    documents: int
    seconds: float = 0.0
    peak_mb: float = 0.0
    quality: dict = field(default_factory=dict)
    #: Why it did not finish: a limit, or a failure.
    ended: str = ""

    @property
    def f1(self):
        """Return the harmonic mean of recall and precision."""
        return self.quality["f1"]


@dataclass(frozen=True)
class Row:
    """One engine at all sizes."""

    label: str
    cells: dict

    @property
    def ours(self):
        """Return whether this is neardup."""
        return self.label.startswith("neardup")

    @property
    def done(self):
        """Return the cells that have measures, by size."""
        return {size: cell for size, cell in self.cells.items() if not cell.ended}


def stored():
    """Return size -> result, of what was measured."""
    found = {}
    for documents, name in SIZES.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            result = json.loads(path.read_text("utf-8"))
            if "missing" not in result:
                found[documents] = result
    return found


def rows(results):
    """Return the engines in their order, each with what it did at every size."""
    return [
        Row(
            engine.label,
            {
                documents: cell(documents, row)
                for documents, result in results.items()
                for row in result["rows"]
                if row["engine"] == engine.label
            },
        )
        for engine in bench_growth.ENGINES
    ]


def cell(documents, row):
    """Return what a stored row says."""
    if "seconds" in row:
        return Cell(documents, row["seconds"], row["peak_mb"], row["quality"])
    return Cell(documents, ended=row.get("stopped") or "failed: " + row.get("failure", "no run"))
