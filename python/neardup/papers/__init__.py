"""Paper check: the parts of a text that occur in other documents.

`check` compares one paper with a library, `check_files` many; `align` compares two
texts. The modules:

==============  ======================================================
``check``       one paper: candidates, passages, rates
``batch``       many papers, and papers against each other
``paper_inputs``
                papers, folders of papers, and texts to be excluded
``library``     the documents that papers are compared with
``align``       the common passages of two texts; ``edits``: the words that
                only one of them has
``variants``    traditional and simplified characters
``wording``     furniture, names and common wording, which are no copies
``rates``       which characters count, and which are copied
``structure``   sections, quotations, references, contents
``report``      the report, as values, JSON and a page
==============  ======================================================
"""

from neardup.papers.align import Difference, SharedPassage, align
from neardup.papers.batch import Checked, check_files
from neardup.papers.check import check
from neardup.papers.library import Library, LibraryDocument, open_library
from neardup.papers.report.limits import ReportLimits
from neardup.papers.report.report import Report
from neardup.papers.report.results import Aside, Passage, Piece, Rates, Section, Source

__all__ = [
    "Aside",
    "Checked",
    "Difference",
    "Library",
    "LibraryDocument",
    "Passage",
    "Piece",
    "Rates",
    "Report",
    "ReportLimits",
    "Section",
    "SharedPassage",
    "Source",
    "align",
    "check",
    "check_files",
    "open_library",
]
