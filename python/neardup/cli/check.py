"""``neardup check``: the parts of a paper that occur in other documents."""

import datetime
import os
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.cli.options import Quiet, ReportLanguage
from neardup.cli.terminal import (
    end_with_problems,
    language,
    print_line,
    print_rows,
    print_table,
    translate,
    use_language,
)
from neardup.options import groups
from neardup.options import options as o

if TYPE_CHECKING:
    from neardup.papers.cover import Cover, RecordTable
    from neardup.papers.report import Report
    from neardup.papers.results import Source


#: Columns of the labels.
_WIDTH = 18
#: Sources that the terminal shows.
_SHOWN = 10
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


class CheckFilesParameters(_ComparisonParameters, groups.CheckParameters, total=False):
    """What `check_files` takes."""


def _cover(help: str, metavar: str | None = None) -> o.Option:
    return o.Option(help, _COVER, metavar=metavar)


class CheckParameters(CheckFilesParameters, total=False):
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
    from neardup.cli.watch import Watch
    from neardup.exceptions import ParameterError
    from neardup.papers.batch import check_files, notes_on_other_files, papers_in
    from neardup.papers.limits import ReportLimits
    from neardup.papers.report_files import ReportFolder, refuse_existing, write_report
    from neardup.papers.verdict import thresholds_of
    from neardup.readers.formats import is_archive
    from neardup.writers.output_conflicts import refuse_input_as_output

    chosen = use_language(language)
    limits = ReportLimits(max_passages, max_source_passages, max_source_text)
    above = _rate(fail_above)
    thresholds = thresholds_of(options["pass_below"], options["reject_above"])
    without = _ids(options["without_sources"])
    if not options["library"] and not options["compare_papers"]:
        raise ParameterError(
            Message(
                "--library must name the documents that the papers are compared with. "
                "To compare the papers with each other, give --compare-papers."
            )
        )
    # A folder counts as several papers, also while it has only one.
    folders = map(_is_folder, (*papers, output, json))
    several = len(papers) > 1 or any(folders) or any(map(is_archive, papers))
    _check_outputs(papers, output, json, several=several)
    read = _files_read(papers, options)
    paths = papers_in(papers, options["format"])
    covers, cover_notes = _covers(paths, options, several=several)
    table = _metadata(options["metadata"])
    date = None if no_date else datetime.datetime.now().astimezone().date()
    folder = None
    if several:
        folder = ReportFolder(
            paths, inputs=read, page=output, json=json, language=chosen, date=date, force=force
        )
    else:
        refuse_input_as_output(read, [output, json])
        if not force:
            refuse_existing(path for path in (output, json) if path not in (None, "-"))
    done: list[Report] = []
    with Watch(quiet=quiet) as watch:
        notes = [*notes_on_other_files(papers, options["format"]), *cover_notes]
        for note in notes:
            watch.note(note)
        values: dict[str, Any] = {**options, "without_sources": without, "progress": watch}
        of_check = {name: values[name] for name in CheckFilesParameters.__annotations__}
        for plain in check_files(list(paths), limits=limits, **of_check):
            checked, report = plain, plain.report
            if report is not None:
                cover = covers[plain.paper].over(report.cover)
                described = _described(report, table)
                report = replace(report, cover=cover, thresholds=thresholds, sources=described)
                checked = replace(plain, report=report)
            if folder is not None:
                folder.write(checked)
            elif report is not None:
                to_file = None if json == "-" else json
                write_report(report, output, to_file, language=chosen, date=date, force=force)
                if json == "-":
                    print(report.to_json(), end="")
            if report is not None:
                done.append(replace(report, text="", passages=()) if several else report)
        unused = set(without) - {left for report in done for left in report.without_sources}
        if done and unused:
            ids = ", ".join(sorted(unused))
            notes.append(Message("--without-source: no paper has such a source: {ids}", ids=ids))
            watch.note(notes[-1])
        sources = [source for report in done for source in report.sources]
        if table and sources and not any(table.record(source.id) for source in sources):
            notes.append(Message("--metadata: {file} lists no source", file=options["metadata"]))
            watch.note(notes[-1])
        page = None if folder is None else folder.finish(notes)
        if page is not None:
            watch.note(Message("reports of all papers: {file}", file=str(page)))
    if not quiet and done:
        if several:
            _print_table(done)
        elif json != "-":
            _print_report(done[0])
        _print_notes(done)
    if watch.problems and not several:
        raise SystemExit(2)
    if watch.problems:
        end_with_problems()
    if above is not None and any(r.rates is not None and r.rates.total > above for r in done):
        raise SystemExit(1)


def _rate(given: str | None) -> float | None:
    from neardup.exceptions import ParameterError

    try:
        rate = None if given is None else float(given)
    except ValueError:
        rate = -1.0
    if rate is not None and not 0 <= rate <= 1:
        raise ParameterError(
            Message(
                "--fail-above must be a number from 0 to 1, such as 0.3 for 30 %. Got "
                "{value} instead.",
                value=given,
            )
        )
    return rate


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


def _covers(
    paths: list[str], options: CheckParameters, *, several: bool
) -> tuple[dict[str, "Cover"], list[Message]]:
    """Return the cover of each paper as the options state it, and notes on the table."""
    from neardup.exceptions import ParameterError
    from neardup.papers.cover import COVER_COLUMNS, Cover, read_table

    own = ("--title", options["title"]), ("--author", options["author"])
    for option, value in (*own, ("--number", options["number"])):
        if several and value is not None:
            raise ParameterError(
                Message(
                    "{option} is for one paper. For several papers, give a table: "
                    "--title-pages FILE.",
                    option=option,
                )
            )
    cover = Cover(options["title"], options["author"], options["number"], options["institution"])
    if options["title_pages"] is None:
        return dict.fromkeys(paths, cover), []
    table = read_table(options["title_pages"], COVER_COLUMNS)
    # For one paper of a class, the other lines are of no interest.
    notes = table.notes(paths) if several else []
    return {path: cover.over(Cover(**table.record(path))) for path in paths}, notes


def _metadata(path: str | None) -> "RecordTable | None":
    from neardup.papers.cover import read_table
    from neardup.papers.library import DESCRIBING

    return None if path is None else read_table(path, ("id", "title", *DESCRIBING))


def _described(report: "Report", table: "RecordTable | None") -> "tuple[Source, ...]":
    """Return the sources with what the table says of them."""
    if table is None:
        return report.sources
    return tuple(replace(source, **table.record(source.id)) for source in report.sources)


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


def _print_table(reports: "list[Report]") -> None:
    """Print a line for each paper, the highest rate first."""
    from neardup.pages.words import load_words
    from neardup.papers.report_files import largest_source
    from neardup.readers.batch import show

    words = load_words(language(), "report")

    verdicts = {
        "pass": Message("passes"),
        "review": Message("to be reviewed"),
        "reject": Message("rejected"),
    }
    rows = []
    has_verdicts = any(report.verdict or report.no_verdict for report in reports)
    for report in sorted(reports, key=lambda report: report.rank):
        rates = report.rates
        first = show(largest_source(report) or "-")
        shares = ["-"] * 3 if rates is None else [f"{share:7.2%}" for share in astuple(rates)]
        verdict = "-" if report.verdict is None else translate(verdicts[report.verdict.result])
        if report.no_verdict is not None:
            verdict = words(f"mark_{report.no_verdict}")
        paper = f"{show(report.paper)}  {first}"
        rows.append([*shares, *([verdict] if has_verdicts else []), paper])
    columns = [Message("copied"), Message("no quot."), Message("largest")]
    if has_verdicts:
        columns.append(Message("verdict"))
    print_table([*columns, Message("paper, and its largest source")], rows, left=(3, 4))
    hiding = [
        (show(report.paper), value)
        for report in reports
        for label, value in _findings(report)[:1]
        if label == "possible hiding"
    ]
    if hiding:
        print(translate(Message("Possible attempts to hide copying:")))
        print_rows(hiding)


def _print_report(report: "Report") -> None:
    from neardup.pages.words import load_words
    from neardup.papers.results import WORDING
    from neardup.readers.batch import show

    rates = report.rates
    paper = Message.counted(
        "{paper}, {count:,} character",
        "{paper}, {count:,} characters",
        paper=show(report.paper),
        count=report.characters,
    )
    library = Message.counted(
        "{library}, {count:,} document",
        "{library}, {count:,} documents",
        library=show(report.library),
        count=report.library_documents,
    )
    largest = f"  {show(report.sources[0].id)}" if report.sources else ""
    rows: list[tuple[str, str]] = [
        (Message("paper"), paper),
        (Message("library"), library),
    ]
    if rates is not None:
        rows += [
            (Message("copied"), f"{rates.total:7.2%}"),
            (Message("without quotations"), f"{rates.without_quotations:7.2%}"),
            (Message("largest source"), f"{rates.largest_source:7.2%}{largest}"),
        ]
    if report.no_verdict is not None:
        words = load_words(language(), "report")
        rows.append((Message("verdict"), words(f"no_verdict_{report.no_verdict}")))
    elif report.verdict is not None:
        rows.append((Message("verdict"), report.verdict.sentence))
    if report.similarity is not None:
        whole = Message("{share:7.2%}  to the most similar source", share=report.similarity)
        rows.append((Message("similarity"), whole))
    count, shown = sum(source.passages for source in report.sources), len(report.passages)
    passages = f"{count:,}"
    if count > shown:
        passages = Message("{found:,}  {shown:,} in the report", found=count, shown=shown)
    rows.append((Message("passages"), passages))
    if report.shared:
        share = report.shared / report.characters
        shared = Message("{share:7.2%}  in many documents, not copied", share=share)
        rows.append((Message("shared text"), shared))
    wording = sum(aside.kind in WORDING and aside.kind != "shared" for aside in report.asides)
    if wording:
        stretches = Message.counted(
            "{count:,} stretch, not counted as copied",
            "{count:,} stretches, not counted as copied",
            count=wording,
        )
        rows.append((Message("wording"), stretches))
    rows += _findings(report)
    print_rows(rows, width=_WIDTH)
    for number, source in enumerate(report.sources[:_SHOWN], 1):
        title = f"  {show(source.title)}" if source.title else ""
        print(f"{number:>6}  {source.rate:7.2%}  {show(source.id)}{title}")
    if len(report.sources) > _SHOWN:
        more = Message.counted(
            "and {count:,} more source",
            "and {count:,} more sources",
            count=len(report.sources) - _SHOWN,
        )
        print(f"        {translate(more)}")


def _findings(report: "Report") -> "list[tuple[str, str]]":
    """Return the rows on what may hide copied text, and on pictures; none without any."""
    from neardup.pages.words import load_words

    words = load_words(language(), "report")
    counts = {finding.kind: finding.count for finding in report.findings}
    pictures = counts.pop("pictures", 0)
    rows: list[tuple[str, str]] = []
    if counts:
        parts = [words(f"hiding_{kind}", count=count) for kind, count in counts.items()]
        rows.append((Message("possible hiding"), "; ".join(parts)))
    if pictures:
        unread = Message("{count:,}, text in them is not read", count=pictures)
        rows.append((Message("pictures"), unread))
    return rows


def _print_notes(reports: "list[Report]") -> None:
    """Print the notes; a note on all papers is printed once."""
    from neardup.papers.copies import SAME_TEXT
    from neardup.papers.report import shown_notes
    from neardup.papers.report_files import split_notes
    from neardup.readers.batch import code_of, show

    # The first two are problems, which were told.
    told = ("damaged_page", "nothing_compared", SAME_TEXT)
    shown = [
        [note for note in shown_notes(report.notes) if code_of(note) not in told]
        for report in reports
    ]
    common, other_notes = split_notes(shown)
    if same := sum(SAME_TEXT in map(code_of, report.notes) for report in reports):
        common.append(Message("{count:,} papers have the text of another paper.", count=same))
    for note in common:
        print_line(translate(Message("note: {note}", note=note)))
    for report, notes in zip(reports, other_notes, strict=True):
        for note in notes:
            line = Message("note: {note}", note=note)
            if len(reports) > 1:
                line = Message("note: {paper}: {note}", paper=show(report.paper), note=note)
            print_line(translate(line))
