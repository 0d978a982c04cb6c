"""Paper check: the parts of a text that occur in other documents.

`check` compares one paper with a library, `check_files` many; `align` compares two
texts. The modules:

| module | contents |
|---|---|
| `reading` | papers as they are read: files, folders, archives |
| `paper_check`, `settings` | the check of one paper, of many, and of papers with each other |
| `steps` | the check of one paper: a row of steps, from its text to the report |
| `library` | the documents that papers are compared with |
| `alignment` | the common passages of two texts |
| `edits` | the words that only one of two texts has |
| `hiding` | look-alike letters, invisible characters and hidden text, undone and reported |
| `wording` | furniture, names and common wording, which are not copies |
| `shared` | text of any length that many documents of a library share |
| `marks` | which characters count, and which are copied |
| `limits` | how many passages a report shows |
| `structure` | sections, quotations, references, contents |
| `cover`, `verdict` | whose paper it is; whether it passes, by thresholds of an institution |
| `results` | what a report consists of |
| `report` | the report, as values, JSON and a page |
| `report_parts`, `evidence` | the parts of that page; each passage next to its source |
| `word` | the report as a Word document with comments |
| `report_files` | reports as files, and a page and a table of all of them |
| `among` | what papers have in common: pairs, groups, properties of their files |
"""

from typing import TYPE_CHECKING

from neardup.base.lazy import parts

if TYPE_CHECKING:
    from neardup.papers.alignment import Difference, SharedPassage, align
    from neardup.papers.cover import Cover
    from neardup.papers.library import Library, LibraryDocument, open_library
    from neardup.papers.limits import ReportLimits
    from neardup.papers.paper_check import CheckResult, check, check_files
    from neardup.papers.report import Report
    from neardup.papers.results import (
        ExcludedSpan,
        Finding,
        Passage,
        Piece,
        Place,
        Rates,
        Section,
        Source,
    )
    from neardup.papers.verdict import Thresholds, Verdict

__all__ = [
    "CheckResult",
    "Cover",
    "Difference",
    "ExcludedSpan",
    "Finding",
    "Library",
    "LibraryDocument",
    "Passage",
    "Piece",
    "Place",
    "Rates",
    "Report",
    "ReportLimits",
    "Section",
    "SharedPassage",
    "Source",
    "Thresholds",
    "Verdict",
    "align",
    "check",
    "check_files",
    "open_library",
]

# Two texts are compared without what only a check needs.
__getattr__ = parts(
    __name__,
    {
        "alignment": "Difference SharedPassage align",
        "cover": "Cover",
        "library": "Library LibraryDocument open_library",
        "limits": "ReportLimits",
        "paper_check": "CheckResult check check_files",
        "report": "Report",
        "results": "ExcludedSpan Finding Passage Piece Place Rates Section Source",
        "verdict": "Thresholds Verdict",
    },
)
