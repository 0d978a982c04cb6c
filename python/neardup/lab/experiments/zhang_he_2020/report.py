"""The report of the comparison of methods: what is best, and what of the paper is reproduced."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

import neardup
from neardup.base.reprs import plain_table
from neardup.lab.datasets.collection import OVERALL
from neardup.lab.datasets.edit_model import RATES
from neardup.lab.datasets.split import REPOSTS
from neardup.lab.experiments.zhang_he_2020.results import (
    BEST,
    DEFAULT,
    PUBLISHED,
    PublishedResult,
    Run,
)
from neardup.lab.metrics import Scores, bootstrap_interval, f1_of_sums
from neardup.lab.report import Tables, by_column, image, markdown_table
from neardup.recipe import NAMES

__all__ = ["findings", "markdown", "tables", "terminal", "verdict"]

#: A figure at most this far from the paper's, above or below, counts as reproduced.
_MARGIN = 0.05
#: With fewer copies than this, a difference of a few copies decides.
_FEW = 100

_HOW = """\
## How it was done

- Of each topic's documents a seeded shuffle takes one half as originals. The other half takes no
  part; one copy of each original takes its place. So each original has one true pair.
- {copies}
- The best cut-off is the one of highest F1 on a *development* split: the halves change places, and
  copies are made again. All figures here are of the *test* split.
- {natural:,} pairs of untouched documents repeat each other by themselves: all that have a
  resemblance(5) of at least .5. They are neither right nor wrong; *strict* is the precision with
  all of them counted as wrong.
- Seconds are medians of five runs with texts in memory. Intervals hold 95 % of 1,000 bootstrap
  resamples of the pairs.

The guide, *Measure methods and thresholds*, defines all figures. `runs.csv` has the counts of every
run by topic, of documents and of pairs; `cut_offs.csv` all cut-offs on the development split;
`rates.csv` what the last figure shows.
"""

#: What the paper reports of a method; it says that all others are behind.
_OF_PAPER = {"improved": "{:.3f} / {:.3f}".format(*PUBLISHED), "MinHash": "-"}

_PAPER = """\
Zhang and He (Computer Science and Application 10(2), 2020, doi 10.12677/csa.2020.102038) report
for their method, here `improved`, a precision of about 95.3 % and a recall of about 94.0 %, better
and faster than sampled shingles and traditional SimHash, which comes second. They count
documents by topic, and name no distance; here it is 3 of 64 bits. Their texts are not public, and
they do not say how their similar documents were made, so these are other texts. The paper does
not give the sample size of Shingle and whether stop words were kept, so two readings of each are
shown; and `improved` twice, since a marker of one or two characters marks only itself by default,
and every word that contains it in the paper. MinHash, which the paper does not have, is beside
them."""

_REPOSTS = """\
A copy is made by `neardup.lab.RepostModel`: the same article with a line added at the head, the
tail or both (agency, editor, source, time). Here a line adds {lengthened:.1%} to the text on
average, and {unchanged:.1%} of the copies are unchanged."""

_EDITS = """\
A copy is made by `neardup.lab.EditModel`: characters, words and sentences are inserted, deleted,
replaced and reordered, and lines of source and editor at head and tail change. What is inserted
comes from the half that takes no part. Edited characters: {rate} of each text{drawn}."""


def terminal(result: PublishedResult) -> str:
    """Return the verdict and plain tables: as published, then all methods at two cut-offs."""
    rows = [
        {"method": run.name, "whose": whose} | _row(run)
        for whose, choice in (("best", BEST), ("own", DEFAULT))
        for run in result.chosen(choice)
    ]
    parts = [
        *verdict(result),
        "",
        f"As published: documents by topic, copies are {result.copies}",
        plain_table(*by_column(list(map(_as_published, result.paper_methods)))),
        *findings(result.as_published, markdown=False),
        "",
        "All methods: pairs, at the cut-off that is best on other copies, and at the recipe's own",
        plain_table(*by_column(rows)),
    ]
    return "\n".join(parts)


def markdown(result: PublishedResult) -> str:
    """Return the report as Markdown; figures are named by relative path."""
    paper, best = result.paper_methods, result.chosen()
    parts = [
        "# Methods on near-duplicates of known origin",
        f"{result.documents:,} documents, {len(result.topics)} topics, {result.true_pairs:,} true "
        f"pairs of an original and its copy, {_made(result)}. "
        f"Seed {result.seed}, neardup {neardup.__version__}.",
        "\n".join(f"- {line}" for line in verdict(result)),
        "## As published",
        _PAPER,
        "Precision and recall of documents, the mean of the topics; *with distractors* counts "
        "all documents at once.",
        markdown_table(*by_column(list(map(_as_published, paper)))),
        "\n".join(f"- {finding}" for finding in findings(result.as_published)),
        "Precision / recall of documents by topic:",
        _by_topic(result, ((run.name, [t.scores for t in run.by_document]) for run in paper)),
        "Precision / recall of documents (mean of the topics) and time, by number of documents:",
        _by_size(result),
        image("published_precision_by_topic", "As published: precision by topic"),
        image("published_recall_by_topic", "As published: recall by topic"),
        image("published_time_by_documents", "As published: time by number of documents"),
        "## At the best cut-off",
        "Pairs, of all methods.",
        _overall(best),
        "## At the recipe's own cut-off",
        _overall(result.chosen(DEFAULT)),
        "## By topic",
        "Precision / recall of pairs at the best cut-off.",
        _by_topic(result, ((run.label, [t.scores for t in run.pairs]) for run in best)),
        "## By edit rate",
        "Precision / recall over all documents at the best cut-off if every copy is edited at one "
        "rate instead.",
        _by_rate(result),
        image("pairs_by_edit_rate", "Recall and precision by edit rate"),
        _HOW.format(copies=_copies(result), natural=result.natural),
    ]
    return "\n\n".join(parts)


def _as_published(run: Run) -> dict[str, str]:
    """Cells of a method of the paper by heading: documents by topic."""
    seconds = map(_seconds, (run.seconds, min(run.times), max(run.times)))
    return {
        "method": run.name,
        "cut-off": run.bound,
        "precision": f"{run.precision:.3f}",
        "recall": f"{run.recall:.3f}",
        "paper's": _OF_PAPER.get(_kind(run), "behind"),
        "with distractors": _both(run.everywhere),
        "of pairs": _both(run.overall.scores),
        "seconds": "{} ({}-{})".format(*seconds),
    }


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
    return markdown_table(*by_column([_row(run) for run in runs]))


def _row(run: Run) -> dict[str, str]:
    """Cells of a run by heading: pairs of all documents."""
    scores = run.overall.scores
    counts = (scores.tp, scores.fp, scores.fn)
    low, high = bootstrap_interval(np.repeat(np.eye(3), counts, axis=0), f1_of_sums)
    return {
        "method": run.name,
        "cut-off": run.bound,
        "precision": f"{scores.precision:.3f}",
        "recall": f"{scores.recall:.3f}",
        "F1": f"{scores.f1:.3f}",
        "95 %": f"{low:.3f}-{high:.3f}",
        "strict": f"{run.overall.strict_precision:.3f}",
        "set aside": f"{run.overall.aside:,}",
        "seconds": _seconds(run.seconds),
    }


def _by_topic(result: PublishedResult, rows: Iterable[tuple[str, Sequence[Scores]]]) -> str:
    header = ("method", *result.topics, OVERALL)
    return markdown_table(header, ((label, *map(_both, scores)) for label, scores in rows))


def _by_size(result: PublishedResult) -> str:
    runs = result.as_published
    sizes = sorted({run.documents for run in runs})
    cells = {
        (run.name, run.documents): f"{run.precision:.3f} / {run.recall:.3f}, "
        f"{_seconds(run.seconds)} s"
        for run in runs
    }
    rows = ((run.name, *(cells[run.name, n] for n in sizes)) for run in result.paper_methods)
    return markdown_table(("method", *(f"{size:,}" for size in sizes)), rows)


def _by_rate(result: PublishedResult) -> str:
    rates = sorted({point.rate for point in result.rates if point.rate is not None})
    cells = {(point.method, point.rate): _both(point.scores) for point in result.rates}
    rows = ((run.label, *(cells[run.name, rate] for rate in rates)) for run in result.chosen())
    return markdown_table(("method", *(f"{rate:.0%}" for rate in rates)), rows)


def _seconds(seconds: float) -> str:
    """Three digits that count, or two decimals."""
    return f"{seconds:.{2 if seconds >= 1 else 3 if seconds >= 0.1 else 4}f}"


def _both(scores: Scores) -> str:
    return f"{scores.precision:.3f} / {scores.recall:.3f}"


def tables(result: PublishedResult) -> Tables:
    """Return header and rows of the CSV files, by name."""
    runs = [
        {
            "method": run.name,
            "recipe_id": run.recipe_id,
            "choice": run.choice,
            "cut_off": f"{run.cut_off:g}",
            "documents": run.documents,
            "counted": counted,
            "topic": tally.topic,
            **_counts(tally.scores),
            "aside": tally.aside,
            "seconds": f"{run.seconds:.4f}",
        }
        for run in (*result.as_published, *result.runs)
        for counted, tallies in (("documents", run.by_document), ("pairs", run.pairs))
        for tally in tallies
    ]
    points = {
        name: [
            {
                "method": point.method,
                "cut_off": f"{point.cut_off:g}",
                **({} if point.rate is None else {"rate": f"{point.rate:g}"}),
                **_counts(point.scores),
            }
            for point in of_name
        ]
        for name, of_name in (("cut_offs", result.sweep), ("rates", result.rates))
    }
    return {name: by_column(rows) for name, rows in {"runs": runs, **points}.items()}


def _counts(scores: Scores) -> dict[str, object]:
    shares = {name: f"{getattr(scores, name):.6f}" for name in ("precision", "recall", "f1")}
    return {"tp": scores.tp, "fp": scores.fp, "fn": scores.fn, **shares}


def verdict(result: PublishedResult) -> list[str]:
    """Return what the experiment says, one sentence or two each.

    The best of several equal methods is the default, then the first; the others are named.
    """
    default, of_default = NAMES[0], {run.name: run for run in result.chosen(DEFAULT)}
    best = max(result.chosen(), key=lambda run: (run.overall.scores.f1, run.name == default))
    lines = [
        f"Best on these copies: {best.name}, F1 {best.overall.scores.f1:.3f} with the cut-off "
        f"{best.bound}, and {of_default[best.name].overall.scores.f1:.3f} with its own, "
        f"{of_default[best.name].bound}."
    ]
    f1 = best.overall.scores.f1
    tied = [run.name for run in result.chosen() if run.overall.scores.f1 == f1 and run is not best]
    if tied:
        lines.append(f"A tie: F1 is the same at the best cut-off of {_listed(tied)}.")
    if best.name != default and default in of_default:
        usual = of_default[default]
        lines.append(f"The default, {usual.label}, has F1 {usual.overall.scores.f1:.3f}.")
    results = findings(result.as_published, markdown=False)
    count = sum(line.startswith("Reproduced") for line in results)
    lines.append(f"Reproduced on these texts: {count} of the paper's {len(results)} results.")
    if result.true_pairs < _FEW:
        lines.append(f"{result.true_pairs} copies are few: one more or less moves the figures.")
    return lines


def findings(runs: Sequence[Run], *, markdown: bool = True) -> list[str]:
    """Return which results of the paper are reproduced, one sentence each."""
    documents = max(run.documents for run in runs)
    by_size = sorted((run for run in runs if run.name == "improved"), key=lambda run: run.documents)
    runs = [run for run in runs if run.documents == documents and _kind(run) != "MinHash"]
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
