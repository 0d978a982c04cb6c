"""``neardup check``: which parts of a paper stand elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import options as o

if TYPE_CHECKING:
    from neardup.papers.results import Report

NAME = "check"
NEEDS_ARGUMENTS = True

#: Sources that the terminal shows.
_SHOWN = 10


def run(
    papers: Annotated[
        list[str],
        typer.Argument(
            metavar="PAPER...",
            help="Papers (.docx .pdf .txt .md .html), or folders of papers.",
            show_default=False,
        ),
    ],
    library: Annotated[
        list[str] | None,
        typer.Option(
            "--library",
            "-l",
            metavar="DIR|FILE|INDEX",
            help="What the papers are held against: folders and files in every format that "
            "dedup reads, or an index made by `neardup index`. May be given again.",
            rich_help_panel="Library",
            show_default=False,
        ),
    ] = None,
    among: Annotated[
        bool,
        typer.Option(
            "--among",
            help="Hold each paper against all the others too.",
            rich_help_panel="Library",
        ),
    ] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            "-x",
            metavar="FILE",
            help="Text that is no copy wherever a paper has it: a form, the author's own "
            "earlier work. May be given again.",
            rich_help_panel="Library",
            show_default=False,
        ),
    ] = None,
    least: Annotated[
        int,
        typer.Option(
            "--least",
            help="Chinese characters that a passage has at least in common with its source; "
            "of an alphabet twice as many letters.",
            rich_help_panel="Alignment",
        ),
    ] = 20,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="The report, an .html file. A folder for several papers: one report each, "
            "and index.html with all rates.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE|DIR",
            help="The report as JSON, with all offsets; - for standard output. A folder for "
            "several papers.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", help="Language of the report: zh or en.", rich_help_panel="Output"
        ),
    ] = "zh",
    force: o.Force = False,
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            metavar="RATE",
            help="Exit with 1 if the total rate of a paper is above this, in [0, 1].",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """Find which parts of a paper stand elsewhere, and where."""
    from neardup.cli.watch import Watch
    from neardup.exceptions import ParameterError
    from neardup.papers.batch import check_files, papers_in
    from neardup.papers.report_files import ReportFolder, refuse_existing, write_report
    from neardup.papers.words import load_words
    from neardup.parameters import bad

    load_words(language)
    if fail_above is not None and not 0 <= fail_above <= 1:
        raise bad("fail_above", "a number from 0 to 1", fail_above)
    paths = papers_in(papers)
    several = len(paths) > 1 or any(map(_is_folder, (output, json)))
    if several and json == "-":
        raise ParameterError("--json of several papers needs a folder: --json DIR.")
    folder = None
    if several:
        folder = ReportFolder(paths, page=output, json=json, language=language, force=force)
    elif not force:
        refuse_existing(path for path in (output, json) if path not in (None, "-"))
    highest = 0.0
    with Watch(quiet=quiet) as watch:
        for checked in check_files(
            list(paths),
            library or None,
            among=among,
            exclude=exclude or (),
            least=least,
            workers=workers,
            progress=watch,
        ):
            report = checked.report
            if report is None:
                continue
            highest = max(highest, report.rates.total)
            if folder is not None:
                folder.write(checked)
            elif json == "-":
                typer.echo(report.to_json(), nl=False)
                write_report(report, output, None, language=language, force=force)
            else:
                write_report(report, output, json, language=language, force=force)
            if json != "-":
                _print(report, brief=len(paths) > 1)
        page = None if folder is None else folder.finish()
        if page is not None:
            watch.note(f"reports of all papers: {page}")
    if watch.problems:
        raise typer.Exit(2)
    if fail_above is not None and highest > fail_above:
        raise typer.Exit(1)


def _is_folder(path: str | None) -> bool:
    return path is not None and (path.endswith(("/", os.sep)) or os.path.isdir(path))


def _print(report: Report, *, brief: bool) -> None:
    from neardup.readers.batch import show

    rates = report.rates
    if brief:
        first = show(report.sources[0].id) if report.sources else "-"
        typer.echo(
            f"{rates.total:7.2%} {rates.without_quotations:7.2%} {rates.largest_source:7.2%}"
            f"  {show(report.paper)}  {first}"
        )
        return
    largest = f"  {show(report.sources[0].id)}" if report.sources else ""
    typer.echo(f"paper               {show(report.paper)}, {report.characters:,} characters")
    typer.echo(f"library             {report.library}, {report.library_documents:,} documents")
    typer.echo(f"copied              {rates.total:7.2%}")
    typer.echo(f"without quotations  {rates.without_quotations:7.2%}")
    typer.echo(f"largest source      {rates.largest_source:7.2%}{largest}")
    if report.similarity is not None:
        typer.echo(f"similarity          {report.similarity:.4f}  to the most similar source")
    typer.echo(f"passages            {len(report.passages):,}")
    for number, source in enumerate(report.sources[:_SHOWN], 1):
        title = f"  {show(source.title)}" if source.title else ""
        typer.echo(f"{number:>6}  {source.rate:7.2%}  {show(source.id)}{title}")
    if len(report.sources) > _SHOWN:
        typer.echo(f"        and {len(report.sources) - _SHOWN:,} more sources")
    for note in report.notes:
        typer.echo(f"note: {note}", err=True)
