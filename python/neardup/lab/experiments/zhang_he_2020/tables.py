"""The results of the published experiment as CSV files; how tables are written.

One file a question; numbers are rounded to six places, seconds to four.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.lab.experiments.zhang_he_2020.results import PublishedResult, SweepPoint
    from neardup.lab.metrics import Scores

__all__ = ["csv_files", "plain_table", "written"]

_COUNTS = ("tp", "fp", "fn", "precision", "recall", "f1")


def csv_files(result: PublishedResult) -> dict[str, bytes]:
    """Return the tables of a result, by file name.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    dict of str to bytes
        UTF-8 with a header line and line feeds. ``as_published.csv`` has a row
        for each method of the paper, number of documents and topic, and counts
        documents; the topic ``all pairs`` counts pairs instead. ``published.csv``
        has a row for each method, cut-off and topic and counts pairs; a
        recipe's own cut-off comes first, and only once if it is also the best.
        The topic ``all`` means all documents, and seconds are those of the
        whole run. ``choices.csv`` says which cut-offs these are, and what was set aside;
        ``sweep.csv``, ``rates.csv`` and ``sizes.csv`` have the sweeps.
    """
    return {
        "as_published.csv": _as_published(result),
        "published.csv": _published(result),
        "choices.csv": _choices(result),
        "sweep.csv": _swept(("method", "cut_off", *_COUNTS), result.sweep, rate=False),
        "rates.csv": _swept(("method", "cut_off", "rate", *_COUNTS), result.rates, rate=True),
        "sizes.csv": written(
            ("method", "cut_off", "documents", "seconds"),
            (
                (time.method, f"{time.cut_off:g}", time.documents, f"{time.seconds:.4f}")
                for time in result.sizes
            ),
        ),
    }


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for a terminal: columns as wide as needed, numbers to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _as_published(result: PublishedResult) -> bytes:
    header = ("method", "recipe_id", "cut_off", "documents", "topic", *_COUNTS, "seconds")
    rows = []
    for run in result.as_published:
        counted = [(tally.topic, tally.scores) for tally in run.tallies]
        for topic, scores in (*counted, ("all pairs", run.pairs.scores)):
            key = (run.name, run.recipe_id, run.bound[2:], run.documents, topic)
            rows.append((*key, *_counts(scores), f"{run.seconds:.4f}"))
    return written(header, rows)


def _published(result: PublishedResult) -> bytes:
    rows: dict[tuple[str, str, str], Sequence[object]] = {}
    for run in result.runs:
        for tally in run.tallies:
            key = (run.method, f"{run.cut_off:g}", tally.topic)
            rows.setdefault(key, (*key, *_counts(tally.scores), f"{run.seconds:.4f}"))
    return written(("method", "cut_off", "topic", *_COUNTS, "seconds"), rows.values())


def _choices(result: PublishedResult) -> bytes:
    header = (
        "method",
        "recipe_id",
        "choice",
        "measure",
        "cut_off",
        "aside",
        "strict_precision",
        "seconds",
        "sketch_seconds",
        "search_seconds",
    )
    return written(
        header,
        (
            (
                run.method,
                run.recipe_id,
                run.choice,
                run.measure,
                f"{run.cut_off:g}",
                run.overall.aside,
                f"{run.overall.strict_precision:.6f}",
                f"{run.seconds:.4f}",
                f"{run.sketch_seconds:.4f}",
                f"{run.search_seconds:.4f}",
            )
            for run in result.runs
        ),
    )


def _swept(header: Sequence[str], points: Iterable[SweepPoint], *, rate: bool) -> bytes:
    return written(
        header,
        (
            (
                point.method,
                f"{point.cut_off:g}",
                *([f"{point.rate:g}"] if rate else []),
                *_counts(point.scores),
            )
            for point in points
        ),
    )


def _counts(scores: Scores) -> tuple[object, ...]:
    shares = (scores.precision, scores.recall, scores.f1)
    return (scores.tp, scores.fp, scores.fn, *(f"{share:.6f}" for share in shares))


def written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV, with a header line and line feeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
