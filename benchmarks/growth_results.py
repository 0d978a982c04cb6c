"""The results of bench_growth.py, as rows for plots and text."""

from dataclasses import dataclass

import bench_growth
import results

SIZES = {**bench_growth.NAMES, **bench_growth.LARGEST}


@dataclass(frozen=True)
class Row:
    """One engine and its results by size.

    A result has figures, or the reason why there are none.
    """

    label: str
    cells: dict

    @property
    def ours(self):
        """Return whether this engine is neardup."""
        return self.label.startswith("neardup")

    @property
    def done(self):
        """Return the cells that have figures, by size."""
        return {size: cell for size, cell in self.cells.items() if "seconds" in cell}


def f1(cell):
    """Return the harmonic mean of recall and precision."""
    return cell["quality"]["f1"]


def stored():
    """Return the stored results, by size."""
    found = {documents: results.stored(name) for documents, name in SIZES.items()}
    return {size: result for size, result in found.items() if result and "missing" not in result}


def rows(measured):
    """Return the engines in order, each with its results at every size."""
    cells = {
        (row["engine"], size): row for size, result in measured.items() for row in result["rows"]
    }
    return [
        Row(label, {size: cells[label, size] for size in measured if (label, size) in cells})
        for label in (engine.label for engine in bench_growth.ENGINES)
    ]
