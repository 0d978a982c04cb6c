"""The check of papers by `neardup check`: inputs, reports, exit code."""

import datetime
import os
from collections.abc import Mapping
from typing import Any

from neardup.base.extras import require
from neardup.base.files import lines_of
from neardup.base.messages import N_, Language, Message
from neardup.cli.check_output import print_results
from neardup.cli.terminal import end_with_problems
from neardup.cli.watch import Watch
from neardup.exceptions import ParameterError
from neardup.options.groups import CheckParameters
from neardup.options.signatures import complete_options
from neardup.pages.printing import find_browser
from neardup.papers.cover import COVER_COLUMNS, Covers, RecordTable, make_cover, read_table
from neardup.papers.library import DESCRIBING
from neardup.papers.limits import ReportLimits
from neardup.papers.paper_check import check_files, check_paths, make_settings
from neardup.papers.reading import find_papers
from neardup.papers.report import Report, shorten_report
from neardup.papers.report_files import ReportFile, ReportFolder
from neardup.papers.verdict import parse_thresholds
from neardup.readers.encodings import decode
from neardup.readers.formats import is_archive
from neardup.readers.streams import read_unpacked
from neardup.run.file_run import read_by_indexes

_PAGES = (".html", ".htm", ".pdf", ".docx")
_Options = Mapping[str, Any]


def check_papers(
    papers: list[str],
    options: _Options,
    limits: tuple[int, int, int],
    *,
    page: str | None,
    json: str | None,
    language: Language,
    date: bool,
    force: bool,
    fail_above: str | None,
    quiet: bool,
) -> None:
    """Check papers as `neardup check` is called, and write and print what was found."""
    report_limits = ReportLimits(*limits)
    above = _parse_rate(fail_above)
    thresholds = parse_thresholds(options["pass_below"], options["reject_above"])
    without = _read_ids(options["without_sources"])
    _check_library(options)
    # A folder counts as several papers, also while it has only one.
    folders = map(_is_folder, (*papers, page, json))
    several = len(papers) > 1 or any(folders) or any(map(is_archive, papers))
    _check_outputs(papers, page, json, several=several)
    read = _list_files_read(papers, options)
    paths, notes = find_papers(papers, options["format"])
    covers = _read_covers(options, several=several)
    table = _read_metadata(options["metadata"])
    today = datetime.datetime.now().astimezone().date() if date else None
    to_file = None if json == "-" else json
    shared: dict[str, Any] = {"inputs": read, "page": page, "json": to_file, "language": language}
    shared |= {"date": today, "force": force}
    files = ReportFolder(paths, **shared) if several else ReportFile(**shared)
    done: list[Report] = []
    with Watch(quiet=quiet) as watch:
        # For one paper of a class, the other lines are of no interest.
        notes += covers.list_gaps(paths, unused=several)
        for note in notes:
            watch.note(note)
        values = _complete(options, watch)
        settings = make_settings(
            values, options["exclude"], without, report_limits, thresholds, table
        )
        library, among = options["library"], options["compare_papers"]
        for checked in check_paths(
            paths, library, settings, values, compare_papers=among, covers=covers
        ):
            files.write(checked)
            if checked.report is not None:
                if json == "-":
                    print(checked.report.to_json(), end="")
                done.append(shorten_report(checked.report) if several else checked.report)
        for note in _note_unused(done, without, table, options):
            notes.append(note)
            watch.note(note)
        if (index := files.finish(notes)) is not None:
            watch.note(Message("reports of all papers: {file}", file=str(index)))
    if not quiet and done:
        print_results(done, several=several, is_json=json == "-")
    _exit(done, above, has_problems=watch.problems > 0, several=several)


def _exit(done: list[Report], above: float, *, has_problems: bool, several: bool) -> None:
    """End with 2 if there were problems, with 1 if a rate is above the one that is allowed."""
    if has_problems:
        if several:
            end_with_problems()
        raise SystemExit(2)
    if any(report.rates is not None and report.rates.total > above for report in done):
        raise SystemExit(1)


def _complete(options: _Options, watch: Watch) -> dict[str, Any]:
    """Return the options of `check_files`, checked."""
    values: dict[str, Any] = {**options, "progress": watch}
    return complete_options(
        check_files, {name: values[name] for name in CheckParameters.__annotations__}
    )


def _parse_rate(given: str | None) -> float:
    """Return the rate above which a check fails; 1 if none is given."""
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


def _check_library(options: _Options) -> None:
    if not options["library"] and not options["compare_papers"]:
        raise ParameterError(
            Message(
                "--library must name the documents that the papers are compared with. "
                "To compare the papers with each other, give --compare-papers."
            )
        )


def _read_ids(given: list[str]) -> list[str]:
    """Return ids of sources; ``@FILE`` stands for the ids in a file."""
    ids: list[str] = []
    for value in given:
        if value.startswith("@"):
            lines = lines_of(decode(read_unpacked(value[1:])).text)
            ids += filter(None, map(str.strip, lines))
        else:
            ids.append(value)
    return ids


def _read_covers(options: _Options, *, several: bool) -> Covers:
    """Return what the options state of the papers."""
    values = {
        "title": options["title"],
        "author": options["author"],
        "number": options["number"],
        "institution": options["institution"],
    }
    cover, path = make_cover(values, several=several), options["title_pages"]
    return Covers(cover, None if path is None else read_table(path, COVER_COLUMNS))


def _read_metadata(path: str | None) -> RecordTable | None:
    return None if path is None else read_table(path, ("id", "title", *DESCRIBING))


def _note_unused(
    done: list[Report], without: list[str], table: RecordTable | None, options: _Options
) -> list[Message]:
    """Return notes on sources that are named, and that no report has."""
    notes = []
    unused = set(without) - {left for report in done for left in report.without_sources}
    if done and unused:
        ids = ", ".join(sorted(unused))
        notes.append(Message("--without-source: no paper has such a source: {ids}", ids=ids))
    sources = [source for report in done for source in report.sources]
    if table and sources and not any(table.find_record(source.id) for source in sources):
        notes.append(Message("--metadata: {file} lists no source", file=options["metadata"]))
    return notes


def _list_files_read(papers: list[str], options: _Options) -> list[str]:
    """Return the files and folders that a check reads."""
    library = options["library"] or []
    tables = (options["metadata"], options["title_pages"])
    ids = (name[1:] for name in options["without_sources"] if name.startswith("@"))
    files = [*papers, *library, *options["exclude"], *filter(None, tables), *ids]
    return [*files, *read_by_indexes(library)]


def _check_outputs(
    papers: list[str], output: str | None, json: str | None, *, several: bool
) -> None:
    """Refuse output names that do not fit the number of papers, and a PDF that nothing prints."""
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
