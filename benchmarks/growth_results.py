"""What the runs of bench_growth.py gave, as rows to draw and to write about."""

from dataclasses import dataclass, field

import bench_growth
import results

SIZES = {**bench_growth.NAMES, **bench_growth.LARGEST}


@dataclass(frozen=True)
class Cell:
    """One engine at one size: measures, or why there are none."""

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
    found = {documents: results.stored(name) for documents, name in SIZES.items()}
    return {size: result for size, result in found.items() if result and "missing" not in result}


def rows(measured):
    """Return the engines in their order, each with what it did at every size."""
    return [
        Row(
            engine.label,
            {
                documents: cell(row)
                for documents, result in measured.items()
                for row in result["rows"]
                if row["engine"] == engine.label
            },
        )
        for engine in bench_growth.ENGINES
    ]


def cell(row):
    """Return what a stored row says."""
    if "seconds" in row:
        return Cell(row["seconds"], row["peak_mb"], row["quality"])
    return Cell(ended=row.get("stopped") or "failed: " + row.get("failure", "no run"))
