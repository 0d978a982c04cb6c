"""The check of a paper: a row of steps, and each adds to one draft of the report.

| step | adds to the draft |
|---|---|
| `read` | the text that is compared, and which characters of it count |
| `find_sources` | the documents of the library that may have passages of the paper |
| `align` | those that have passages, and where |
| `set_aside` | the passages that are wording and not copies |
| `mark` | which characters are copied, and the sources, the largest first |
| `rate` | the rates of the paper, its sources and its sections |
| `report` | the report, with its notes |

`draft` is what they hand on.
"""

from __future__ import annotations

from neardup.papers.library import Library
from neardup.papers.report import Report
from neardup.papers.settings import CheckSettings, Paper
from neardup.papers.steps.align import align
from neardup.papers.steps.find_sources import find_sources
from neardup.papers.steps.mark import mark
from neardup.papers.steps.rate import rate
from neardup.papers.steps.read import read
from neardup.papers.steps.report import report
from neardup.papers.steps.set_aside import set_aside


def check_paper(settings: CheckSettings, library: Library, paper: Paper) -> Report:
    """Compare one paper with a library."""
    draft = read(settings, library, paper)
    for step in (find_sources, align, set_aside, mark, rate):
        step(draft)
    return report(draft)
