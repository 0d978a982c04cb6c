"""``neardup check``: the parts of a paper that occur in other documents."""

from typing import Annotated, Any, TypedDict, Unpack

from neardup.cli.options import Quiet, ReportLanguage
from neardup.cli.terminal import use_language
from neardup.options import groups
from neardup.options import options as o

#: Panel of the help.
_COVER = "Cover"


class _ComparisonParameters(TypedDict, total=False):
    """The library of the papers."""

    library: Annotated[
        list[str] | None,
        o.Option(
            "Documents that the papers are compared with: folders of text files; files in every "
            "format that dedup reads; or an index made by `neardup index`. May be repeated.",
            "Library",
            short="-l",
            metavar="DIR|FILE|INDEX",
        ),
    ]
    compare_papers: Annotated[
        bool, o.Option("Compare each paper with all the others too.", "Library")
    ]
    exclude: Annotated[
        list[str],
        o.Option(
            "Exclude the text of this file, such as a template. It is neither copied nor "
            "counted. May be repeated.",
            "Library",
            default=(),
            short="-x",
            metavar="FILE",
        ),
    ]
    without_sources: Annotated[
        list[str],
        o.Option(
            "Leave a source out: the document of the library with this id, as in the report. No "
            "rate counts it. @FILE for a file of ids, one on each line. May be repeated.",
            "Library",
            default=(),
            flag="--without-source",
            metavar="ID",
        ),
    ]


def _declare_cover(help: str, metavar: str | None = None) -> o.Option:
    return o.Option(help, _COVER, metavar=metavar)


class CheckParameters(_ComparisonParameters, groups.CheckParameters, total=False):
    """The options of `check_files`, and the statements on the cover of a report."""

    metadata: Annotated[
        str | None,
        o.Option(
            "Table of the sources for the report: a CSV with the columns id (or file), title, "
            "author, year and journal. Each line is a document of the library.",
            "Library",
            metavar="FILE",
        ),
    ]
    title: Annotated[
        str | None,
        _declare_cover(
            "Title of the paper. By default from the document's properties, else its name."
        ),
    ]
    author: Annotated[
        str | None,
        _declare_cover("Author of the paper. By default from the document's properties."),
    ]
    number: Annotated[str | None, _declare_cover("Number of the student or of the paper.")]
    institution: Annotated[str | None, _declare_cover("Institution, the same for all papers.")]
    title_pages: Annotated[
        str | None,
        _declare_cover(
            "The same for a class: a CSV with the columns file, title, author, number and "
            "institution. It has a line for each paper.",
            "FILE",
        ),
    ]
    pass_below: Annotated[
        str | None,
        _declare_cover(
            "Give a verdict: a paper passes if its total rate is below this percentage, such as "
            "15. By default there is no verdict. It does not change the exit code.",
            "PERCENT",
        ),
    ]
    reject_above: Annotated[
        str | None,
        _declare_cover(
            "Give a verdict: a paper is rejected if its total rate is above this percentage, such "
            "as 30; between the two it is to be reviewed.",
            "PERCENT",
        ),
    ]


def run(
    *,
    papers: Annotated[
        list[str],
        o.Argument("Papers (.docx .pdf .txt .md .html), or folders of papers.", metavar="PAPER..."),
    ],
    max_passages: Annotated[
        int,
        o.Option(
            "Largest number of passages that a report shows; all of them count.",
            o.OUTPUT,
            default=1000,
        ),
    ],
    max_source_passages: Annotated[
        int,
        o.Option(
            "Largest number of passages that a report shows for each source.", o.OUTPUT, default=200
        ),
    ],
    max_source_text: Annotated[
        int,
        o.Option(
            "Limit on the source text shown next to the passages, in code points.",
            o.OUTPUT,
            default=1_000_000,
        ),
    ],
    output: Annotated[
        str | None,
        o.Option(
            "The report: an .html file; .pdf, printed by Chromium, Chrome or Edge; or .docx, the "
            "paper with comments. For several papers, or a folder of them, a folder: one .html "
            "report for each paper, and index.html and index.csv with all rates.",
            o.OUTPUT,
            short="-o",
            metavar="FILE|DIR",
        ),
    ],
    json: Annotated[
        str | None,
        o.Option(
            "The report as JSON, with all offsets; - for standard output. For several "
            "papers, a folder.",
            o.OUTPUT,
            metavar="FILE|DIR",
        ),
    ],
    language: ReportLanguage,
    no_date: Annotated[
        bool,
        o.Option(
            "Leave today's date out of the report, so that equal reports are equal files.", o.OUTPUT
        ),
    ],
    force: o.Force,
    fail_above: Annotated[
        str | None,
        o.Option(
            "Exit with 1 if the total rate of a paper is above this one: from 0 to 1, such as "
            "0.3 for 30 %.",
            metavar="RATE",
        ),
    ],
    quiet: Quiet,
    **options: Unpack[CheckParameters],
) -> None:
    """Find the parts of a paper that occur in other documents.

    Examples:
        neardup check essay.txt --library essays/ -o report.html
        neardup check essay.txt --library essays/ --exclude template.txt
        neardup check essays/ --compare-papers --language en -o reports/
    """
    from neardup.cli.check_papers import check_papers

    limits = (max_passages, max_source_passages, max_source_text)
    shared: dict[str, Any] = {"page": output, "json": json, "language": use_language(language)}
    shared |= {"date": not no_date, "force": force, "fail_above": fail_above, "quiet": quiet}
    check_papers(papers, options, limits, **shared)
