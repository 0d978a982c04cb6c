"""The report of the published experiment, and all its files together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import neardup
from neardup.lab.bootstrap import bootstrap_interval
from neardup.lab.edit_model import RATES
from neardup.lab.figures import FIGURES, draw
from neardup.lab.tables import csv_files, plain_table
from neardup.lab.trial import OVERALL

if TYPE_CHECKING:
    from neardup.lab.metrics import Scores
    from neardup.lab.published import PublishedResult, Run

__all__ = ["FILES", "REPORT", "files_of", "markdown", "table", "terminal"]

#: File name of the report.
REPORT = "report.md"
#: Names of all files of the results.
FILES = (
    REPORT,
    *(f"{name}.csv" for name in ("published", "choices", "sweep", "rates", "sizes")),
    *(f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")),
)

_HOW = """\
## How it was done

- Of each topic's documents a seeded shuffle takes one half as originals. The other half takes no
  part; in its place stands one edited copy of each original. So each original has one true pair.
- A copy is made by `neardup.lab.EditModel`: characters, words and sentences are inserted, deleted,
  replaced and reordered, and lines of source and editor at head and tail change. What is inserted
  comes from the half that takes no part. Edited characters: {rate} of each text{drawn}. A copy
  keeps the title of its original, which favours a recipe that reads titles.
- Each method is one call of `neardup.pairs` with its recipe. The best cut-off is the one of
  highest F1 on a *development* split: the halves change places, and edits are drawn anew; the
  distractors are the same. All figures here are of the *test* split, of a run at that very
  cut-off.
- A pair counts for the topics of both its documents; pairs of two distractors count only for
  *all*.
- Seconds are medians of three runs with texts in memory: sketching, then search and verification.
  The time of a run at fewer documents is that of the first so many in shuffled order.
- Intervals hold 95 % of 1,000 bootstrap resamples of the pairs.

## What was set aside

{natural:,} pairs of untouched documents repeat each other by themselves: all that have a
resemblance(5) of at least .5, found exactly by the recipe `shingle`. These pairs are neither right
nor wrong, for all methods alike, and so are pairs of a copy with a natural repeat of its original.
The column *strict* is the precision with all of them counted as wrong.

Setting them aside favours methods that verify resemblance in one way: among untouched documents
they cannot be wrong at cut-offs of .5 and more. Pairs that other methods find there resemble each
other less than that on their texts, and count as wrong though a few of them are of one form or one
event.

## Beside the published figures

Zhang and He (Computer Science and Application 10(2), 2020, doi 10.12677/csa.2020.102038) report
for their method, here `improved`, a precision of about 95.3 % and a recall of about 94.0 %, ahead
of sampled shingles and traditional SimHash. The texts and the near-duplicates here are others than
theirs: this repeats the shape of that experiment and not its data.

## Files

`published.csv` has the counts by method, cut-off and topic; `choices.csv` the cut-offs and times;
`sweep.csv` all cut-offs on the development split; `rates.csv` and `sizes.csv` what the last two
figures show. Figures are there as SVG and PNG.
"""


def files_of(result: PublishedResult) -> dict[str, bytes]:
    """Return tables, figures and report, by file name.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    dict of str to bytes

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    return {**csv_files(result), **draw(result), REPORT: markdown(result).encode()}


def terminal(result: PublishedResult) -> str:
    """Return the methods as a plain table, at their best and at their own cut-offs."""
    header = ("method", "cut-off", "precision", "recall", "F1", "strict", "seconds")
    rows = []
    for choice in ("best", "default"):
        for run in result.chosen(choice):
            scores = run.overall.scores
            shares = (scores.precision, scores.recall, scores.f1, run.overall.strict_precision)
            of = "best" if choice == "best" else "own"
            rows.append(
                (
                    run.method,
                    f"{of} {run.bound}",
                    *(f"{share:.3f}" for share in shares),
                    _seconds(run.seconds),
                )
            )
    return plain_table(header, rows)


def markdown(result: PublishedResult) -> str:
    """Return the report as Markdown; figures are named by relative path.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    str
    """
    low, high = RATES
    drawn = result.rate is None
    rate = f"{low:.0%} to {high:.0%}" if drawn else f"{result.rate:.0%}"
    parts = [
        "# Methods on near-duplicates of known origin",
        f"{result.documents:,} documents, {len(result.topics)} topics, {result.true_pairs:,} true "
        f"pairs of an original and its copy, {rate} of the characters edited. "
        f"Seed {result.seed}, neardup {neardup.__version__}.",
        "## At the best cut-off",
        _overall(result.chosen("best")),
        "## At the recipe's own cut-off",
        _overall(result.chosen("default")),
        "## By topic",
        "Precision / recall at the best cut-off.",
        _by_topic(result),
        _image("precision", "Precision by topic"),
        _image("recall", "Recall by topic"),
        "## Time by number of documents",
        "Seconds at the best cut-off.",
        _by_size(result),
        _image("time", "Time by number of documents"),
        "## By edit rate",
        "Precision / recall over all documents at the best cut-off, every copy edited at one rate.",
        _by_rate(result),
        _image("rates", "Recall and precision by edit rate"),
        _HOW.format(
            rate=rate, drawn=", drawn for each copy" if drawn else "", natural=result.natural
        ),
    ]
    return "\n\n".join(parts)


def _overall(runs: Sequence[Run]) -> str:
    header = (
        "method",
        "cut-off",
        "precision",
        "recall",
        "F1",
        "95 %",
        "strict",
        "set aside",
        "seconds",
        "sketch",
        "search",
    )
    rows = []
    for run in runs:
        scores = run.overall.scores
        low, high = _f1_interval(scores)
        rows.append(
            (
                f"`{run.method}`",
                run.bound,
                f"{scores.precision:.3f}",
                f"{scores.recall:.3f}",
                f"{scores.f1:.3f}",
                f"{low:.3f}-{high:.3f}",
                f"{run.overall.strict_precision:.3f}",
                f"{run.overall.aside:,}",
                _seconds(run.seconds),
                _seconds(run.sketch_seconds),
                _seconds(run.search_seconds),
            )
        )
    return table(header, rows)


def _by_topic(result: PublishedResult) -> str:
    rows = ((run.label, *(_both(tally.scores) for tally in run.tallies)) for run in result.chosen())
    return table(("method", *result.topics, OVERALL), rows)


def _by_size(result: PublishedResult) -> str:
    sizes = sorted({time.documents for time in result.sizes})
    rows = []
    for run in result.chosen():
        mine = {t.documents: t.seconds for t in result.sizes if t.method == run.method}
        rows.append((run.label, *(_seconds(mine[size]) for size in sizes)))
    return table(("method", *(f"{size:,}" for size in sizes)), rows)


def _by_rate(result: PublishedResult) -> str:
    rates = sorted({point.rate for point in result.rates if point.rate is not None})
    rows = []
    for run in result.chosen():
        mine = {p.rate: _both(p.scores) for p in result.rates if p.method == run.method}
        rows.append((run.label, *(mine[rate] for rate in rates)))
    return table(("method", *(f"{rate:.0%}" for rate in rates)), rows)


def _seconds(seconds: float) -> str:
    """Three digits that count, or two decimals."""
    return f"{seconds:.{2 if seconds >= 1 else 3 if seconds >= 0.1 else 4}f}"


def _f1_interval(scores: Scores) -> tuple[float, float]:
    counts = (scores.tp, scores.fp, scores.fn)
    return bootstrap_interval(np.repeat(np.eye(3), counts, axis=0), _f1)


def _f1(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # Each pair is one of the three, so no resample sums up to nothing.
    tp, fp, fn = sums
    values: npt.NDArray[np.float64] = 2 * tp / (2 * tp + fp + fn)
    return values


def _both(scores: Scores) -> str:
    return f"{scores.precision:.3f} / {scores.recall:.3f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _image(name: str, title: str) -> str:
    return f"![{title}]({name}.svg)"
