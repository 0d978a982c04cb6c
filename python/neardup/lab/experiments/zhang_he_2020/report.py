"""The report of the published experiment, and all its files together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import neardup
from neardup.lab.datasets.edit_model import RATES
from neardup.lab.datasets.split import OVERALL, REPOSTS
from neardup.lab.experiments.zhang_he_2020.as_published import IMPROVED, PAPER, findings
from neardup.lab.experiments.zhang_he_2020.figures import FIGURES, draw
from neardup.lab.experiments.zhang_he_2020.tables import csv_files, plain_table
from neardup.lab.metrics import bootstrap_interval, f1_of_sums

if TYPE_CHECKING:
    from neardup.lab.experiments.zhang_he_2020.results import PublishedResult, Run
    from neardup.lab.metrics import Scores

__all__ = ["FILES", "REPORT", "as_published_section", "files_of", "markdown", "table", "terminal"]

#: File name of the report.
REPORT = "report.md"
#: Names of all files of the results.
FILES = (
    REPORT,
    *(
        f"{name}.csv"
        for name in ("as_published", "published", "choices", "sweep", "rates", "sizes")
    ),
    *(f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")),
)

_HOW = """\
## How it was done

- Of each topic's documents a seeded shuffle takes one half as originals. The other half takes no
  part; one copy of each original takes its place. So each original has one true pair.
- {copies} A copy keeps the title of its original, which favours a recipe that reads titles.
- Each method is one call of `neardup.pairs` with its recipe. The best cut-off is the one of
  highest F1 on a *development* split: the halves change places, and copies are made again; the
  distractors are the same. All figures here are of the *test* split, of a run at that very
  cut-off.
- *By topic* counts the pairs with at least one document of the topic; pairs of two distractors
  count only for *all*. As published, a document is right if it was found together with its own
  copy or original; precision is the share of right documents among all documents found, recall
  their share among the originals and copies of the topic. Elsewhere pairs are counted.
- Seconds are medians of three runs with texts in memory: sketching, then search and verification.
  A run at fewer documents has originals together with their copies, and distractors in the same
  proportion.
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

## Files

`as_published.csv` has the documents counted by method of the paper, number of documents and topic;
`published.csv` the pairs by method, cut-off and topic; `choices.csv` the cut-offs and times;
`sweep.csv` all cut-offs on the development split; `rates.csv` and `sizes.csv` what the last two
figures show. Figures are there as SVG and PNG.
"""

_PAPER = """\
Zhang and He (Computer Science and Application 10(2), 2020, doi 10.12677/csa.2020.102038) report
for their method, here `improved`, a precision of about 95.3 % and a recall of about 94.0 %, better
and faster than sampled shingles and traditional SimHash, which comes second. They count
documents by topic, at distance 3. Their texts are not public, and they do not say how their similar
documents were made, so these are other texts. The paper does not give the sample size of Shingle
and whether stop words were kept, so two readings of each are shown."""

_REPOSTS = """\
A copy is made by `neardup.lab.RepostModel`: the same article with a line added at the head, the
tail or both (agency, editor, source, time). Here a line adds {lengthened:.1%} to the text on
average, and {unchanged:.1%} of the copies are unchanged."""

_EDITS = """\
A copy is made by `neardup.lab.EditModel`: characters, words and sentences are inserted, deleted,
replaced and reordered, and lines of source and editor at head and tail change. What is inserted
comes from the half that takes no part. Edited characters: {rate} of each text{drawn}."""


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
    """Return plain tables: as published, then all methods at the best and at their own cut-offs."""
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
    parts = [
        f"As published: documents by topic, copies are {result.copies}",
        plain_table(_AS_PUBLISHED, _as_published(result)),
        *findings(result.paper_methods, markdown=False),
        "",
        "All methods: pairs",
        plain_table(header, rows),
    ]
    return "\n".join(parts)


def markdown(result: PublishedResult) -> str:
    """Return the report as Markdown; figures are named by relative path.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    str
    """
    parts = [
        "# Methods on near-duplicates of known origin",
        f"{result.documents:,} documents, {len(result.topics)} topics, {result.true_pairs:,} true "
        f"pairs of an original and its copy, {_made(result)}. "
        f"Seed {result.seed}, neardup {neardup.__version__}.",
        as_published_section(result),
        _image("as_published_topics", "As published: precision and recall by topic"),
        _image("as_published_sizes", "As published: precision, recall and time by size"),
        "## At the best cut-off",
        "Pairs, of all methods.",
        _overall(result.chosen("best")),
        "## At the recipe's own cut-off",
        _overall(result.chosen("default")),
        "## By topic",
        "Precision / recall of pairs at the best cut-off.",
        _by_topic(result),
        _image("precision", "Precision by topic"),
        _image("recall", "Recall by topic"),
        "## Time by number of documents",
        "Seconds at the best cut-off.",
        _by_size(result),
        _image("time", "Time by number of documents"),
        "## By edit rate",
        "Precision / recall over all documents at the best cut-off if every copy is edited at one "
        "rate instead.",
        _by_rate(result),
        _image("rates", "Recall and precision by edit rate"),
        _HOW.format(copies=_copies(result), natural=result.natural),
    ]
    return "\n\n".join(parts)


def as_published_section(result: PublishedResult) -> str:
    """Return the comparison as the paper counts it, as a section of Markdown."""
    by_topic = [
        (run.name, *(_both(tally.scores) for tally in run.tallies)) for run in result.paper_methods
    ]
    sizes = sorted({run.documents for run in result.as_published})
    by_size = [
        (
            one.name,
            *(
                f"{run.precision:.3f} / {run.recall:.3f}, {_seconds(run.seconds)} s"
                for run in sorted(result.as_published, key=lambda run: run.documents)
                if run.name == one.name
            ),
        )
        for one in result.paper_methods
    ]
    return "\n\n".join(
        (
            "## As published",
            _PAPER,
            "Precision and recall of documents, the mean of the topics; *with distractors* counts "
            "all documents at once.",
            table(_AS_PUBLISHED, _as_published(result)),
            "\n".join(f"- {finding}" for finding in findings(result.paper_methods)),
            "Precision / recall of documents by topic:",
            table(("method", *result.topics, OVERALL), by_topic),
            "Precision / recall of documents (mean of the topics) and time, by number of "
            "documents:",
            table(("method", *(f"{size:,}" for size in sizes)), by_size),
        )
    )


_AS_PUBLISHED = (
    "method",
    "cut-off",
    "precision",
    "recall",
    "paper's",
    "with distractors",
    "of pairs",
    "seconds",
)


def _as_published(result: PublishedResult) -> list[tuple[str, ...]]:
    return [
        (
            run.name,
            run.bound,
            f"{run.precision:.3f}",
            f"{run.recall:.3f}",
            "{:.3f} / {:.3f}".format(*PAPER) if run.kind == IMPROVED else "behind",
            _both(run.everywhere),
            _both(run.pairs.scores),
            _seconds(run.seconds),
        )
        for run in result.paper_methods
    ]


def _made(result: PublishedResult) -> str:
    """How copies were made, in a few words."""
    if result.copies == REPOSTS:
        return "re-posts with a line added at head, tail or both"
    return f"{_rate(result)} of the characters edited"


def _copies(result: PublishedResult) -> str:
    """How copies were made, in full."""
    if result.copies == REPOSTS:
        text = _REPOSTS.format(lengthened=result.lengthened, unchanged=result.unchanged)
    else:
        drawn = ", drawn for each copy" if result.rate is None else ""
        text = _EDITS.format(rate=_rate(result), drawn=drawn)
    return text.replace("\n", "\n  ")


def _rate(result: PublishedResult) -> str:
    low, high = RATES
    return f"{low:.0%} to {high:.0%}" if result.rate is None else f"{result.rate:.0%}"


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
    return bootstrap_interval(np.repeat(np.eye(3), counts, axis=0), f1_of_sums)


def _both(scores: Scores) -> str:
    return f"{scores.precision:.3f} / {scores.recall:.3f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _image(name: str, title: str) -> str:
    return f"![{title}]({name}.svg)"
