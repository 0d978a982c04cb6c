"""``neardup index create``: a new index, or one that was exported whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.index import options as io
from neardup.cli.outcome import end_with_problems
from neardup.options.groups import IndexParameters, LoadParameters

if TYPE_CHECKING:
    from neardup.index import Index


def create(
    *,
    location: io.Location,
    text_field: o.TextField,
    format: o.Format,
    source: Annotated[
        str | None,
        flags.Option(
            "--from",
            metavar="FILE",
            help="Take settings and all documents from what `neardup index export --whole` "
            "wrote; - for standard input.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ] = None,
    strip_markup: o.StripMarkup = False,
    quiet: o.Quiet = False,
    **options: Unpack[IndexParameters],
) -> None:
    """Make a new index."""
    from neardup import Index
    from neardup.cli.watch import Watch
    from neardup.exceptions import ParameterError
    from neardup.readers import open_sources

    settings = [value for name, value in options.items() if name != "workers"]
    is_set = strip_markup or any(one is not None for one in (*settings, text_field, format))
    if source is not None and is_set:
        raise ParameterError(Message("cli.from_with_settings"))
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        if source is not None:
            run: LoadParameters = {"workers": options["workers"], "progress": watch}
            index = Index.load(location, source, **run)
        else:
            background = options["background"]
            files = None
            if background:
                files = open_sources(background, format=format, text_field=text_field)
            options["recipe"] = o.recipe_of(options["recipe"] or "general", strip_markup)
            options["background"] = files
            options["must_exist"] = False
            index = Index(location, **options)
            if files is not None:
                files.report_to(watch)
    with index:
        if not quiet:
            _say(index)
    if watch.problems:
        end_with_problems()


def _say(index: Index) -> None:
    from neardup.cli.index import show

    show.rows(show.stats_rows(index.stats()), err=True)
