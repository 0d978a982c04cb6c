"""What the runs of bench_growth.py gave, as rows to draw and to write about."""

from dataclasses import dataclass

import bench_growth
import results

SIZES = {**bench_growth.NAMES, **bench_growth.LARGEST}


@dataclass(frozen=True)
class Row:
    """One engine, and by size what was stored of it: measures, or why there are none."""

    label: str
    cells: dict

    @property
    def ours(self):
        """Return whether this is neardup."""
        return self.label.startswith("neardup")

    @property
    def done(self):
        """Return the cells that have measures, by size."""
        return {size: cell for size, cell in self.cells.items() if "seconds" in cell}


def f1(cell):
    """Return the harmonic mean of recall and precision."""
    return cell["quality"]["f1"]


def stored():
    """Return size -> result, of what was measured."""
    found = {documents: results.stored(name) for documents, name in SIZES.items()}
    return {size: result for size, result in found.items() if result and "missing" not in result}


def rows(measured):
    """Return the engines in their order, each with what it did at every size."""
    cells = {
        (row["engine"], size): row for size, result in measured.items() for row in result["rows"]
    }
    return [
        Row(label, {size: cells[label, size] for size in measured if (label, size) in cells})
        for label in (engine.label for engine in bench_growth.ENGINES)
    ]
