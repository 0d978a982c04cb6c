"""Paper check: the parts of a text that occur in other documents.

`check` compares one paper with a library, `check_files` many; `align` compares two
texts. The modules:

| module | contents |
|---|---|
| `check` | one paper: candidates, passages, rates |
| `batch` | many papers, and papers against each other |
| `library` | the documents that papers are compared with |
| `align` | the common passages of two texts |
| `edits` | the words that only one of two texts has |
| `hiding` | look-alike letters, invisible characters and hidden text, undone and reported |
| `wording` | furniture, names and common wording, which are no copies |
| `shared` | text of any length that many documents of a library share |
| `rates` | which characters count, and which are copied |
| `limits` | how many passages a report shows |
| `structure` | sections, quotations, references, contents |
| `cover`, `verdict` | whose paper it is; whether it passes, by thresholds of an institution |
| `results` | what a report consists of |
| `report` | the report, as values, JSON and a page; `evidence`: each passage beside its source |
| `word` | the report as a Word document with comments |
| `report_files` | reports as files, and a page and a table of all of them |
| `among` | what papers have in common: pairs, groups, properties of their files |
"""

from neardup.papers.align import Difference, SharedPassage, align
from neardup.papers.batch import CheckResult, check_files
from neardup.papers.check import check
from neardup.papers.cover import Cover
from neardup.papers.library import Library, LibraryDocument, open_library
from neardup.papers.limits import ReportLimits
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
