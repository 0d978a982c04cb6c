"""The report of the comparison of methods: what is best, and what of the paper is reproduced."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import neardup
from neardup.base.reprs import plain_table
from neardup.lab.datasets.collection import OVERALL
from neardup.lab.datasets.edit_model import RATES
from neardup.lab.experiments.zhang_he_2020.cases import REPOSTS
from neardup.lab.experiments.zhang_he_2020.measures import PUBLISHED, PublishedResult, Run
from neardup.lab.figures import Figures, draw_bars, draw_legend, draw_lines
from neardup.lab.metrics import Scores
from neardup.lab.report import Tables, by_column, image, markdown_table

__all__ = ["FIGURES", "figures", "findings", "markdown", "tables", "terminal", "verdict"]

#: A figure at most this far from the paper's, above or below, counts as reproduced.
_MARGIN = 0.05
#: With fewer copies than this, a difference of a few copies decides.
_FEW = 100

#: What the paper reports of its methods: it gives the figures of `improved` only.
_OF_PAPER = {"improved": "{:.3f} / {:.3f}".format(*PUBLISHED)} | dict.fromkeys(
    ("Shingle", "traditional"), "behind"
)

_HOW = """\
Zhang and He (Computer Science and Application 10(2), 2020, doi 10.12677/csa.2020.102038) count
documents by topic, and name no distance; here it is 3 of 64 bits. Their texts are not public, and
they do not say how their similar documents were made, so these are other texts. The paper does
not give the sample size of Shingle and whether stop words were kept, so two readings of each are
shown; and `improved` twice, since a marker of one or two characters marks only itself by default,
and every word that contains it in the paper.

{copies} One half of each topic's documents are originals; one copy of each takes the place of the
other half. {natural:,} pairs of untouched documents repeat each other by themselves, with a
resemblance(5) of at least .5. They are neither right nor wrong; *strict* is the precision of pairs
with all of them counted as wrong. Seconds are medians of five runs with texts in memory. `runs.csv`
has the counts of every run by topic. The guide, *Measure methods and thresholds*, defines all
figures."""

_REPOSTS = """\
A copy is made by `neardup.lab.RepostModel`: the same article with a line added at the head, the
tail or both (agency, editor, source, time). Here a line adds {lengthened:.1%} to the text on
average, and {unchanged:.1%} of the copies are unchanged."""

_EDITS = """\
A copy is made by `neardup.lab.EditModel`: characters, words and sentences are inserted, deleted,
replaced and reordered, and lines of source and editor at head and tail change. What is inserted
comes from the half that takes no part. Edited characters: {rate}."""

#: MinHash and the paper's three methods: of two readings, the one that it describes best.
_SHOWN = ("MinHash", "Shingle, sample of 64", "traditional, stop words out", "improved")
_THEIRS = "improved, in the paper"


def terminal(result: PublishedResult) -> str:
    """Return the verdict, the table of methods, and what is reproduced, as plain text."""
    parts = [
        *verdict(result),
        "",
        f"Documents by topic, copies are {result.copies}",
        plain_table(*by_column(list(map(_row, result.complete)))),
        "",
        *findings(result.runs, markdown=False),
    ]
    return "\n".join(parts)


def markdown(result: PublishedResult) -> str:
    """Return the report as Markdown; figures are named by relative path."""
    parts = [
        "# Methods on near-duplicates of known origin",
        f"{result.documents:,} documents, {len(result.topics)} topics, {result.true_pairs:,} true "
        f"pairs of an original and its copy. Seed {result.seed}, neardup {neardup.__version__}.",
        "\n".join(f"- {line}" for line in verdict(result)),
        "Precision and recall of documents, the mean of the topics; *with distractors* counts "
        "all documents at once.",
        markdown_table(*by_column(list(map(_row, result.complete)))),
        "\n".join(f"- {finding}" for finding in findings(result.runs)),
        "Precision / recall of documents by topic:",
        _by_topic(result),
        "Precision / recall of documents (mean of the topics) and time, by number of documents:",
        _by_size(result),
        *(image(name, title) for name, (title, _) in FIGURES.items()),
        "## How it was done",
        _HOW.format(copies=_copies(result), natural=result.natural),
    ]
    return "\n\n".join(parts) + "\n"


def _row(run: Run) -> dict[str, str]:
    """Cells of a method by heading."""
    scores, pairs = run.everywhere, run.overall.scores
    seconds = map(_seconds, (run.seconds, min(run.times), max(run.times)))
    return {
        "method": run.name,
        "cut-off": run.bound,
        "precision": f"{run.precision:.3f}",
        "recall": f"{run.recall:.3f}",
        "paper's": _OF_PAPER.get(_kind(run), "-"),
        "with distractors": f"{scores.precision:.3f} / {scores.recall:.3f}",
        "of pairs": f"{pairs.precision:.3f} / {pairs.recall:.3f}",
        "F1": f"{pairs.f1:.3f}",
        "strict": f"{run.overall.strict_precision:.3f}",
        "seconds": "{} ({}-{})".format(*seconds),
    }


def _copies(result: PublishedResult) -> str:
    """How copies were made."""
    if result.copies == REPOSTS:
        return _REPOSTS.format(lengthened=result.lengthened, unchanged=result.unchanged)
    if result.rate is not None:
        return _EDITS.format(rate=f"{result.rate:.0%} of each text")
    low, high = RATES
    return _EDITS.format(rate=f"{low:.0%} to {high:.0%} of each text, drawn for each copy")


def _by_topic(result: PublishedResult) -> str:
    rows = (
        (
            run.name,
            *(f"{t.scores.precision:.3f} / {t.scores.recall:.3f}" for t in run.by_document),
        )
        for run in result.complete
    )
    return markdown_table(("method", *result.topics, OVERALL), rows)


def _by_size(result: PublishedResult) -> str:
    cells: dict[str, list[str]] = {}
    for run in result.runs:
        cell = f"{run.precision:.3f} / {run.recall:.3f}, {_seconds(run.seconds)} s"
        cells.setdefault(run.name, []).append(cell)
    sizes = sorted({run.documents for run in result.runs})
    rows = ((name, *row) for name, row in cells.items())
    return markdown_table(("method", *(f"{size:,}" for size in sizes)), rows)


def _seconds(seconds: float) -> str:
    """Three digits that count, or two decimals."""
    return f"{seconds:.{2 if seconds >= 1 else 3 if seconds >= 0.1 else 4}f}"


def tables(result: PublishedResult) -> Tables:
    """Return header and rows of the CSV file, by name."""
    runs = [
        {
            "method": run.name,
            "recipe_id": run.method.recipe.id,
            "cut_off": f"{run.method.cut_off:g}",
            "documents": run.documents,
            "counted": counted,
            "topic": tally.topic,
            "tp": tally.scores.tp,
            "fp": tally.scores.fp,
            "fn": tally.scores.fn,
            "precision": f"{tally.scores.precision:.6f}",
            "recall": f"{tally.scores.recall:.6f}",
            "f1": f"{tally.scores.f1:.6f}",
            "aside": tally.aside,
            "seconds": f"{run.seconds:.4f}",
        }
        for run in result.runs
        for counted, tallies in (("documents", run.by_document), ("pairs", run.pairs))
        for tally in tallies
    ]
    return {"runs": by_column(runs)}


def _paper_topics(figure: Any, result: PublishedResult, measure: str, paper: float) -> None:
    """A measure of documents by topic, with the paper's figure as a line."""
    axes = figure.add_subplot()
    series = {
        f"{run.name} {run.bound}": [
            *(_value(tally.scores, measure) for tally in run.by_document[:-1]),
            getattr(run, measure),
        ]
        for run in result.complete
        if run.name in _SHOWN
    }
    draw_bars(axes, measure, [*result.topics, "mean of topics"], series)
    axes.axhline(paper, color="black", linewidth=1, linestyle="--", label=_THEIRS)
    axes.set_title(f"{measure.capitalize()} of documents by topic")
    draw_legend(figure, axes, columns=2, last=_THEIRS)


def _value(scores: Scores, measure: str) -> float:
    """A share; none where nothing was found, of which all would be right."""
    if measure == "precision" and not scores.tp + scores.fp:
        return math.nan
    return scores.precision if measure == "precision" else scores.recall


def _paper_times(figure: Any, result: PublishedResult) -> None:
    """A line a method over numbers of documents."""
    runs = [run for run in result.runs if run.name in _SHOWN]
    axes = figure.add_subplot()
    lines: dict[str, list[tuple[float, float]]] = {run.name: [] for run in runs}
    for run in sorted(runs, key=lambda run: run.documents):
        lines[run.name].append((run.documents, run.seconds))
        axes.vlines(run.documents, min(run.times), max(run.times), color="#444444", linewidth=1)
    draw_lines(axes, lines)
    axes.set_ylim(0, 1.05 * max(max(run.times) for run in runs))
    sizes = sorted({run.documents for run in runs})
    axes.set_xlim(0, sizes[-1] * 1.03)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlabel("documents")
    axes.set_ylabel("seconds, median and range of 5 runs")
    axes.set_title("Time by number of documents, as published")
    draw_legend(figure, axes, columns=4)


#: The figures of the paper: what each one shows, and how it is drawn.
FIGURES: Mapping[str, tuple[str, Callable[..., None]]] = {
    "published_precision_by_topic": (
        "Precision by topic",
        partial(_paper_topics, measure="precision", paper=PUBLISHED[0]),
    ),
    "published_recall_by_topic": (
        "Recall by topic",
        partial(_paper_topics, measure="recall", paper=PUBLISHED[1]),
    ),
    "published_time_by_documents": ("Time by number of documents", _paper_times),
}


def figures(result: PublishedResult) -> Figures:
    """Return how to draw the figures of a result, by the names in `FIGURES`."""
    return {name: partial(fill, result=result) for name, (_, fill) in FIGURES.items()}


def verdict(result: PublishedResult) -> list[str]:
    """Return what the experiment says, one sentence or two each.

    The best of several equal methods is the last, which is the user's own; the others are named.
    """
    runs = result.complete
    f1 = max(run.overall.scores.f1 for run in runs)
    *tied, best = (run for run in runs if run.overall.scores.f1 == f1)
    lines = [f"Best on these copies: {best.name} {best.bound}, F1 {f1:.3f} of pairs."]
    if tied:
        lines.append(f"A tie: F1 is the same for {_listed(run.name for run in tied)}.")
    results = findings(result.runs, markdown=False)
    count = sum(line.startswith("Reproduced") for line in results)
    lines.append(f"Reproduced on these texts: {count} of the paper's {len(results)} results.")
    if result.true_pairs < _FEW:
        lines.append(f"{result.true_pairs} copies are few: one more or less moves the figures.")
    return lines


def findings(runs: Sequence[Run], *, markdown: bool = True) -> list[str]:
    """Return which results of the paper are reproduced, one sentence each."""
    documents = max(run.documents for run in runs)
    by_size = sorted((run for run in runs if run.name == "improved"), key=lambda run: run.documents)
    runs = [run for run in runs if run.documents == documents and _kind(run) in _OF_PAPER]
    improved = by_size[-1]
    shingle = [run for run in runs if _kind(run) == "Shingle"]
    traditional = [run for run in runs if _kind(run) == "traditional"]
    others = [*traditional, improved]
    reached = all(
        abs(measured - paper) <= _MARGIN
        for measured, paper in zip((improved.precision, improved.recall), PUBLISHED, strict=True)
    )
    ahead = all(improved.f1 > run.f1 for run in traditional)
    last = max(run.f1 for run in shingle) < min(run.f1 for run in others)
    faster = [run for run in runs if run.seconds < improved.seconds and _kind(run) != "improved"]
    growth = by_size[-1].seconds / by_size[0].seconds
    more = by_size[-1].documents / by_size[0].documents
    claims = [
        (
            reached,
            "the precision of {:.3f} and the recall of {:.3f} of `improved`: ".format(*PUBLISHED)
            + f"here {improved.precision:.3f} and {improved.recall:.3f} by topic, at most "
            f"{_MARGIN} from these in either direction is reproduced; "
            f"{improved.everywhere.precision:.3f} and {improved.everywhere.recall:.3f} "
            "distractors included",
        ),
        (
            ahead,
            f"`improved` before traditional SimHash: F1 {improved.f1:.3f} against "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in traditional)
            + ("" if ahead else _tie(improved, traditional)),
        ),
        (
            last,
            "Shingle last: F1 "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in shingle)
            + f" against {min(run.f1 for run in others):.3f} of the weakest other method"
            + ("" if last else _tie(min(others, key=lambda run: run.f1), shingle)),
        ),
        (
            not faster,
            f"`improved` fastest: {improved.seconds:.3g} s against "
            + _listed(f"{run.seconds:.3g} s ({run.name})" for run in runs if run is not improved),
        ),
    ]
    if len(improved.by_document) > 2:  # At least two topics, and all documents.
        claims.append(
            (
                all(improved.spread < run.spread for run in traditional),
                "`improved` more stable over topics than traditional SimHash: the standard "
                f"deviation of its recall is {improved.spread:.3f}, against "
                + _listed(f"{run.spread:.3f} ({_reading(run)})" for run in traditional)
                + "; that of Shingle is "
                + _listed(f"{run.spread:.3f} ({_reading(run)})" for run in shingle),
            )
        )
    if more > 1:
        hardly = growth <= math.sqrt(more)
        why = "" if hardly else ", since each document is segmented and weighed"
        claims.append(
            (
                hardly,
                f"time that hardly grows: {by_size[0].seconds:.3g} s for "
                f"{by_size[0].documents:,} documents and {improved.seconds:.3g} s for "
                f"{documents:,}, {growth:.1f} times for {more:.1f} times as many documents"
                f"{why}; at most {math.sqrt(more):.1f} times, the square root, is reproduced",
            )
        )
    lines = [
        f"**{'Reproduced' if holds else 'Not reproduced'}**: {claim}." for holds, claim in claims
    ]
    return lines if markdown else [re.sub("[*`]", "", line) for line in lines]


def _tie(run: Run, others: Sequence[Run]) -> str:
    """Return that a run is as good as the best of others, if it is."""
    return ", a tie" if run.f1 == max(other.f1 for other in others) else ""


def _kind(run: Run) -> str:
    """The method as the paper calls it; its reading follows after a comma."""
    return run.name.partition(", ")[0]


def _reading(run: Run) -> str:
    return run.name.partition(", ")[2]


def _listed(parts: Iterable[str]) -> str:
    *first, final = parts
    return f"{', '.join(first)} and {final}" if first else final
