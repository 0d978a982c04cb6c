"""Which results of Zhang and He (2020) are reproduced, and which are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from neardup.lab.experiments.zhang_he_2020.results import Run

__all__ = ["PUBLISHED", "findings"]

#: Precision and recall of `improved` in the paper; it gives none that can be set beside the others.
PUBLISHED = (0.953, 0.940)
#: A figure at most this much below the paper's counts as reproduced.
_MARGIN = 0.03


def findings(runs: Sequence[Run], *, markdown: bool = True) -> list[str]:
    """Return which results of the paper are reproduced, one sentence each.

    Parameters
    ----------
    runs : sequence of Run
        Of the paper's methods over all documents.
    markdown : bool, default=True
        False leaves out the marks of Markdown.

    Returns
    -------
    list of str
        Each begins with *Reproduced* or *Not reproduced*.
    """
    improved = next(run for run in runs if _kind(run) == "improved")
    shingle = [run for run in runs if _kind(run) == "Shingle"]
    traditional = [run for run in runs if _kind(run) == "traditional"]
    others = [*traditional, improved]
    reached = all(
        measured >= paper - _MARGIN
        for measured, paper in zip((improved.precision, improved.recall), PUBLISHED, strict=True)
    )
    ahead = all(improved.f1 > run.f1 for run in traditional)
    last = max(run.f1 for run in shingle) < min(run.f1 for run in others)
    slower = [run for run in runs if run.seconds < improved.seconds]
    said = [
        (
            reached,
            "the precision of {:.3f} and the recall of {:.3f} of `improved`: ".format(*PUBLISHED)
            + f"here {improved.precision:.3f} and {improved.recall:.3f} by topic, "
            f"{improved.everywhere.precision:.3f} and {improved.everywhere.recall:.3f} "
            "distractors included",
        ),
        (
            ahead,
            f"`improved` before traditional SimHash: F1 {improved.f1:.3f} against "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in traditional),
        ),
        (
            last,
            "Shingle last: F1 "
            + _listed(f"{run.f1:.3f} ({_reading(run)})" for run in shingle)
            + f" against {min(run.f1 for run in others):.3f} of the weakest other method",
        ),
        (
            not slower,
            f"`improved` fastest: {improved.seconds:.2f} s against "
            + _listed(f"{run.seconds:.2f} s ({run.name})" for run in runs if run is not improved),
        ),
    ]
    lines = [f"**{'Reproduced' if is_so else 'Not reproduced'}**: {what}." for is_so, what in said]
    return lines if markdown else [re.sub("[*`]", "", line) for line in lines]


def _kind(run: Run) -> str:
    """The method as the paper calls it; its reading follows after a comma."""
    return run.name.partition(", ")[0]


def _reading(run: Run) -> str:
    return run.name.partition(", ")[2]


def _listed(parts: Iterable[str]) -> str:
    *first, final = parts
    return f"{', '.join(first)} and {final}" if first else final
