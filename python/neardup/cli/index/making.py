"""``neardup index create``: a new index, or one that was exported whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from neardup._engine.messages import Message
from neardup.cli import options as o
from neardup.cli.index import options as io

if TYPE_CHECKING:
    from neardup.index import Index


def create(
    location: io.Location,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            help="How a text becomes a sketch, and what a duplicate is: a name from "
            "`neardup recipes`, or a .toml file. By default general. It cannot be changed later.",
            rich_help_panel=o.TEXT,
            show_default=False,
        ),
    ] = None,
    strip_markup: o.StripMarkup = False,
    threshold: o.Threshold = None,
    max_distance: o.MaxDistance = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="What is kept of a document: text, by default, or sketch. Sketches take less "
            "room, and estimate where texts are compared.",
            rich_help_panel=o.TEXT,
            show_default=False,
        ),
    ] = None,
    expected: Annotated[
        int | None,
        typer.Option(
            "--expected",
            help="Expected number of documents, for a search by bands. By default 1,000,000.",
            rich_help_panel=o.MATCHING,
            show_default=False,
        ),
    ] = None,
    background: Annotated[
        list[str] | None,
        typer.Option(
            "--background",
            "-b",
            metavar="FILE",
            help="Count what is common over this file or folder, once; may be "
            "repeated. By default the index counts its own documents as it grows.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    text_field: o.TextField = None,
    format: o.Format = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take settings and all documents from what `neardup index export --whole` "
            "wrote; - for standard input.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """Make a new index."""
    from neardup import Index
    from neardup.cli.watch import Watch
    from neardup.exceptions import ParameterError
    from neardup.readers import open_sources

    settings = (recipe, threshold, max_distance, store, expected, background, text_field, format)
    if source is not None and (strip_markup or any(value is not None for value in settings)):
        raise ParameterError(Message("cli.from_with_settings"))
    with Watch(quiet=quiet) as watch:
        if source is not None:
            index = Index.load(location, source, workers=workers, progress=watch)
        else:
            files = None
            if background:
                files = open_sources(background, format=format, text_field=text_field)
            chosen = o.recipe_of(recipe or "general", strip_markup)
            index = Index(
                location,
                recipe=chosen,
                threshold=threshold,
                max_distance=max_distance,
                store=store,
                expected=expected,
                background=files,
                must_exist=False,
                workers=workers,
                progress=watch,
            )
            if files is not None:
                files.report_to(watch)
    with index:
        if not quiet:
            _say(index)
    if watch.problems:
        raise typer.Exit(2)


def _say(index: Index) -> None:
    from neardup.cli.index import show

    show.rows(show.stats_rows(index.stats()), err=True)
