"""Paper check: which parts of a text stand elsewhere?

`check` holds one paper against a library, `check_files` many; `align` holds one text
against another. Inside:

==============  ======================================================
``check``       one paper: candidates, passages, rates
``batch``       many papers, and papers against each other
``given``       papers, folders of papers, and texts to be excluded
``library``     the documents that papers are held against
``align``       the passages of two texts
``variants``    traditional and simplified characters
``rates``       which characters count, and which are copied
``structure``   sections, quotations, references, contents; its docstring
                has a table of the files behind it
``results``     the report and what is in it; how many passages it shows:
                ``report_limits``
``notes``       which notes a report tells, and why a paper was not checked
``excerpts``    what is shown around a passage; which words of it were
                edited: ``edits``
``html``        the report as a page, from ``marking`` and ``evidence``;
                ``templating``: what it has in common with other pages;
                ``json_report`` as JSON; both as files: ``report_files``
==============  ======================================================
"""

from neardup.papers.align import SharedPassage, align
from neardup.papers.batch import Checked, check_files
from neardup.papers.check import check
from neardup.papers.library import Library, LibraryDocument, open_library
from neardup.papers.report_limits import ReportLimits
from neardup.papers.results import Aside, Passage, Piece, Rates, Report, Section, Source

__all__ = [
    "Aside",
    "Checked",
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
