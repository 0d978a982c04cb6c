"""``neardup check``: the parts of a paper that occur in other documents."""

import datetime
import os
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.cli.options import Quiet, ReportLanguage
from neardup.cli.terminal import end_with_problems, use_language
from neardup.options import groups
from neardup.options import options as o

if TYPE_CHECKING:
    from neardup.cli.watch import Watch
    from neardup.papers.cover import Covers, RecordTable
    from neardup.papers.report import Report

_PAGES = (".html", ".htm", ".pdf", ".docx")
#: Panel of the help.
_COVER = "Cover"


class _ComparisonParameters(TypedDict, total=False):
    """The library of the papers."""

    library: Annotated[
        list[str] | None,
        o.Option(
            "Documents that the papers are compared with: folders of text files, files in every "
            "format that dedup reads, or an index made by `neardup index`. May be repeated.",
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
            "Exclude text: text in this file, such as a template or earlier work, is neither "
            "copied nor counted. May be repeated.",
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


def _cover(help: str, metavar: str | None = None) -> o.Option:
    return o.Option(help, _COVER, metavar=metavar)


class CheckParameters(_ComparisonParameters, groups.CheckParameters, total=False):
    """What `check_files` takes, and what the cover of a report states."""

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
        _cover("Title of the paper. By default from the document's properties, else its name."),
    ]
    author: Annotated[
        str | None, _cover("Author of the paper. By default from the document's properties.")
    ]
    number: Annotated[str | None, _cover("Number of the student or of the paper.")]
    institution: Annotated[str | None, _cover("Institution, the same for all papers.")]
    title_pages: Annotated[
        str | None,
        _cover(
            "The same for a class: a CSV with the columns file, title, author, number and "
            "institution, one line for each paper.",
            "FILE",
        ),
    ]
    pass_below: Annotated[
        str | None,
        _cover(
            "Give a verdict: a paper passes if its total rate is below this percentage, such as "
            "15. By default there is no verdict. It does not change the exit code.",
            "PERCENT",
        ),
    ]
    reject_above: Annotated[
        str | None,
        _cover(
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
            "The report: an .html file, .pdf (printed by Chromium, Chrome or Edge) or .docx (the "
            "paper with comments). For several papers, or a folder of them, a folder: one .html "
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
            "Exit with 1 if the total rate of a paper is above this rate, from 0 to 1: 0.3 "
            "for 30 %.",
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
    from neardup.cli.check_output import print_checked
    from neardup.cli.watch import Watch
    from neardup.papers.check import checked_files, settings_of
    from neardup.papers.limits import ReportLimits
    from neardup.papers.reading import notes_on_other_files, papers_in
    from neardup.papers.report import shortened
    from neardup.papers.report_files import ReportFile, ReportFolder
    from neardup.papers.verdict import thresholds_of
    from neardup.readers.formats import is_archive

    chosen = use_language(language)
    limits = ReportLimits(max_passages, max_source_passages, max_source_text)
    above = _rate(fail_above)
    thresholds = thresholds_of(options["pass_below"], options["reject_above"])
    without = _ids(options["without_sources"])
    _check_compared(options)
    # A folder counts as several papers, also while it has only one.
    folders = map(_is_folder, (*papers, output, json))
    several = len(papers) > 1 or any(folders) or any(map(is_archive, papers))
    _check_outputs(papers, output, json, several=several)
    read = _files_read(papers, options)
    paths = papers_in(papers, options["format"])
    covers = _covers(options, several=several)
    table = _metadata(options["metadata"])
    date = None if no_date else datetime.datetime.now().astimezone().date()
    to_file = None if json == "-" else json
    shared: dict[str, Any] = {"inputs": read, "page": output, "json": to_file, "language": chosen}
    shared |= {"date": date, "force": force}
    files = ReportFolder(paths, **shared) if several else ReportFile(**shared)
    done: list[Report] = []
    with Watch(quiet=quiet) as watch:
        notes = notes_on_other_files(papers, options["format"])
        # For one paper of a class, the other lines are of no interest.
        notes += covers.notes(paths, unused=several)
        for note in notes:
            watch.note(note)
        given = _completed(options, watch)
        settings = settings_of(given, options["exclude"], without, limits, thresholds, table)
        library, among = options["library"], options["compare_papers"]
        for checked in checked_files(
            paths, library, settings, given, compare_papers=among, covers=covers
        ):
            files.write(checked)
            if checked.report is not None:
                if json == "-":
                    print(checked.report.to_json(), end="")
                done.append(shortened(checked.report) if several else checked.report)
        for note in _unused(done, without, table, options):
            notes.append(note)
            watch.note(note)
        if (page := files.finish(notes)) is not None:
            watch.note(Message("reports of all papers: {file}", file=str(page)))
    if not quiet and done:
        print_checked(done, several=several, is_json=json == "-")
    if watch.problems:
        if several:
            end_with_problems()
        raise SystemExit(2)
    if any(report.rates is not None and report.rates.total > above for report in done):
        raise SystemExit(1)


def _completed(options: CheckParameters, watch: "Watch") -> dict[str, Any]:
    """Return the options of `check_files`, checked."""
    from neardup.options.signatures import complete_options
    from neardup.papers.check import check_files

    values: dict[str, Any] = {**options, "progress": watch}
    return complete_options(
        check_files, {name: values[name] for name in groups.CheckParameters.__annotations__}
    )


def _rate(given: str | None) -> float:
    """Return the rate above which a check fails; 1 if none is given."""
    from neardup.exceptions import ParameterError

    try:
        rate = 1.0 if given is None else float(given)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ParameterError(
            Message(
                "--fail-above must be a number from 0 to 1, such as 0.3 for 30 %. Got "
                "{value} instead.",
                value=given,
            )
        )
    return rate


def _check_compared(options: CheckParameters) -> None:
    from neardup.exceptions import ParameterError

    if not options["library"] and not options["compare_papers"]:
        raise ParameterError(
            Message(
                "--library must name the documents that the papers are compared with. "
                "To compare the papers with each other, give --compare-papers."
            )
        )


def _ids(given: list[str]) -> list[str]:
    """Return ids of sources; ``@FILE`` stands for the ids in a file."""
    from neardup.base.files import lines_of
    from neardup.readers.encodings import decode
    from neardup.readers.streams import read_unpacked

    ids: list[str] = []
    for value in given:
        if value.startswith("@"):
            lines = lines_of(decode(read_unpacked(value[1:])).text)
            ids += filter(None, map(str.strip, lines))
        else:
            ids.append(value)
    return ids


def _covers(options: CheckParameters, *, several: bool) -> "Covers":
    """Return what the options state of the papers."""
    from neardup.papers.cover import COVER_COLUMNS, Covers, read_table, stated_cover

    values = {
        "title": options["title"],
        "author": options["author"],
        "number": options["number"],
        "institution": options["institution"],
    }
    cover, path = stated_cover(values, several=several), options["title_pages"]
    return Covers(cover, None if path is None else read_table(path, COVER_COLUMNS))


def _metadata(path: str | None) -> "RecordTable | None":
    from neardup.papers.cover import read_table
    from neardup.papers.library import DESCRIBING

    return None if path is None else read_table(path, ("id", "title", *DESCRIBING))


def _unused(
    done: "list[Report]", without: list[str], table: "RecordTable | None", options: CheckParameters
) -> list[Message]:
    """Return notes on sources that are named, and that no report has."""
    notes = []
    unused = set(without) - {left for report in done for left in report.without_sources}
    if done and unused:
        ids = ", ".join(sorted(unused))
        notes.append(Message("--without-source: no paper has such a source: {ids}", ids=ids))
    sources = [source for report in done for source in report.sources]
    if table and sources and not any(table.record(source.id) for source in sources):
        notes.append(Message("--metadata: {file} lists no source", file=options["metadata"]))
    return notes


def _files_read(papers: list[str], options: CheckParameters) -> list[str]:
    """Return the files and folders that a check reads."""
    from neardup.run.file_run import read_by_indexes

    library = options["library"] or []
    tables = (options["metadata"], options["title_pages"])
    ids = (name[1:] for name in options["without_sources"] if name.startswith("@"))
    files = [*papers, *library, *options["exclude"], *filter(None, tables), *ids]
    return [*files, *read_by_indexes(library)]


def _check_outputs(
    papers: list[str], output: str | None, json: str | None, *, several: bool
) -> None:
    """Refuse output names that do not fit the number of papers, and a PDF that nothing prints."""
    from neardup.exceptions import ParameterError
    from neardup.pages.printing import find_browser

    if several and json == "-":
        raise ParameterError(Message("For several papers, --json needs a folder: --json DIR."))
    for option, path, kinds in (("-o", output, _PAGES), ("--json", json, (".json",))):
        if path is None:
            continue
        named = path.lower().endswith(kinds)
        if several and named and not os.path.isdir(path):
            raise ParameterError(
                Message(
                    "{option} must be a folder for several papers, or for a folder of "
                    "them. Got the file {file} instead.",
                    option=option,
                    file=path,
                )
            )
        # Of a paper that is missing the reader says so.
        if not several and option == "-o" and not named and os.path.exists(papers[0]):
            raise ParameterError(
                Message(
                    "-o must end in .html, .pdf or .docx for one paper. The name of a folder must "
                    "end with a slash: {file}/",
                    file=path,
                )
            )
        if not several and path.lower().endswith(".pdf"):
            find_browser()
        if not several and path.lower().endswith(".docx"):
            require(N_("A Word report"), "papers", "docx")


def _is_folder(path: str | None) -> bool:
    return path is not None and (path.endswith(("/", os.sep)) or os.path.isdir(path))
