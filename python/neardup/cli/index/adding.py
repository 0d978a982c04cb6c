"""``neardup index add``: documents into an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import options as o
from neardup.cli.index import options as io

if TYPE_CHECKING:
    from neardup.index import Added, Index

_INPUT = "Input"


def add(
    location: io.Location,
    inputs: o.Inputs,
    removed: Annotated[
        Path | None,
        typer.Option(
            "--removed",
            metavar="FILE",
            help="One record for each dropped document of the input: id, kept_id, similarity, "
            "measure, distance.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    within: io.Within = None,
    text_field: o.TextField = None,
    id_field: o.IdField = None,
    title_field: o.TitleField = None,
    title_from_first_line: o.FirstLine = False,
    at_field: Annotated[
        str | None,
        typer.Option(
            "--at-field",
            help="Field of the time of arrival, in ISO 8601; in UTC if it names no zone. By "
            "default all arrive now.",
            rich_help_panel=_INPUT,
            show_default=False,
        ),
    ] = None,
    source_field: Annotated[
        str | None,
        typer.Option(
            "--source-field",
            help="Field of where a document comes from; it is stored.",
            rich_help_panel=_INPUT,
            show_default=False,
        ),
    ] = None,
    extra_field: Annotated[
        list[str] | None,
        typer.Option(
            "--extra-field",
            help="Another field to be stored; may be repeated.",
            rich_help_panel=_INPUT,
            show_default=False,
        ),
    ] = None,
    format: o.Format = None,
    force: o.Force = False,
    fail_on_duplicates: o.FailOnDuplicates = False,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """Add documents, each decided as it comes.

    A document is dropped if it is verified similar to a kept one that came
    before. Documents that are there already are passed over, so the same command
    goes on after it was interrupted.
    """
    from neardup.cli.watch import Watch
    from neardup.exceptions import IndexUnavailableError
    from neardup.writers import REMOVED, OutputSet, write_rows

    with io.opened(location, workers=workers) as index, OutputSet() as outputs:
        file = None if removed is None else outputs.open(removed, force=force)
        stop: str | None = None
        with Watch(quiet=quiet) as watch:
            try:
                added = index.add_files(
                    inputs,
                    format=format,
                    text=text_field,
                    id=id_field,
                    title=title_field,
                    at=at_field,
                    source=source_field,
                    extra=extra_field or (),
                    within=within,
                    title_from_first_line=title_from_first_line,
                    progress=watch,
                )
            except KeyboardInterrupt:
                stop = f"interrupted. {_so_far(watch.done)}"
            except IndexUnavailableError as error:
                stop = f"{error} {_so_far(watch.done)}"
        if stop is not None:
            typer.echo(f"neardup: {stop}", err=True)
            # Outputs go as after any other error.
            raise typer.Exit(2)
        if file is not None:
            write_rows(file, added.removed, REMOVED)
        if not quiet:
            _summary(index, added)
    if added.problem_count:
        raise typer.Exit(2)
    if fail_on_duplicates and added.removed.num_rows:
        raise typer.Exit(1)


def _so_far(done: int) -> str:
    if not done:
        return "Nothing of the input was stored."
    return f"The first {done:,} records are stored; the same command goes on from there."


def _summary(index: Index, added: Added) -> None:
    from neardup.cli.index import show

    stats = index.stats()
    rule = show.rule_words(stats.measure, stats.threshold, stats.max_distance)
    read, kept, dropped = len(added.keep), int(added.keep.sum()), added.removed.num_rows
    rows = [
        ("read", read, ""),
        ("refused", read - added.new - added.already, ""),
        ("already there", added.already, ""),
        ("new", added.new, ""),
        ("kept", kept, ""),
        ("dropped", dropped, rule),
        ("in the index", stats.documents, f"{stats.kept:,} of them kept"),
    ]
    for name, count, note in rows:
        typer.echo(f"{name:>18}  {count:>12,}  {note}".rstrip(), err=True)
