"""What the experiment says: which method is best, and what of Zhang and He (2020) is reproduced."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from neardup.lab.experiments.zhang_he_2020.results import DEFAULT, PublishedResult, Run
from neardup.recipe import NAMES

__all__ = ["PUBLISHED", "findings", "verdict"]

#: Precision and recall of `improved` in the paper; it gives none that can be set beside the others.
PUBLISHED = (0.953, 0.940)
#: A figure at most this far from the paper's, above or below, counts as reproduced.
_MARGIN = 0.05
#: With fewer copies than this, a difference of a few copies decides.
_FEW = 100


def verdict(result: PublishedResult) -> list[str]:
    """Return what the experiment says, one sentence or two each.

    The best of several equal methods is the default, then the first; the others are named.

    Parameters
    ----------
    result : PublishedResult

    Returns
    -------
    list of str
        Plain text; the first names the best method and its cut-off.
    """
    default, own = NAMES[0], {run.name: run for run in result.chosen(DEFAULT)}
    best = max(result.chosen(), key=lambda run: (run.overall.scores.f1, run.name == default))
    lines = [
        f"Best on these copies: {best.name}, F1 {best.overall.scores.f1:.3f} with the cut-off "
        f"{best.bound}, and {own[best.name].overall.scores.f1:.3f} with its own, "
        f"{own[best.name].bound}."
    ]
    f1 = best.overall.scores.f1
    tied = [run.name for run in result.chosen() if run.overall.scores.f1 == f1 and run is not best]
    if tied:
        lines.append(f"A tie: F1 is the same at the best cut-off of {_listed(tied)}.")
    if best.name != default and default in own:
        usual = own[default]
        lines.append(f"The default, {usual.label}, has F1 {usual.overall.scores.f1:.3f}.")
    said = findings(result.as_published, markdown=False)
    count = sum(line.startswith("Reproduced") for line in said)
    lines.append(f"Reproduced on these texts: {count} of the paper's {len(said)} results.")
    if result.true_pairs < _FEW:
        lines.append(f"{result.true_pairs} copies are few: one more or less moves the figures.")
    return lines


def findings(runs: Sequence[Run], *, markdown: bool = True) -> list[str]:
    """Return which results of the paper are reproduced, one sentence each.

    Parameters
    ----------
    runs : sequence of Run
        Of the paper's methods, by number of documents.
    markdown : bool, default=True
        False leaves out the marks of Markdown.

    Returns
    -------
    list of str
        Each begins with *Reproduced* or *Not reproduced*.
    """
    documents = max(run.documents for run in runs)
    by_size = sorted((run for run in runs if run.name == "improved"), key=lambda run: run.documents)
    runs = [run for run in runs if run.documents == documents]
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
    said = [
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
        said.append(
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
        said.append(
            (
                hardly,
                f"time that hardly grows: {by_size[0].seconds:.3g} s for "
                f"{by_size[0].documents:,} documents and {improved.seconds:.3g} s for "
                f"{documents:,}, {growth:.1f} times for {more:.1f} times as many documents"
                f"{why}; at most {math.sqrt(more):.1f} times, the square root, is reproduced",
            )
        )
    lines = [f"**{'Reproduced' if is_so else 'Not reproduced'}**: {what}." for is_so, what in said]
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
