"""``neardup index export``: what is kept and why, or the whole index."""

from __future__ import annotations

from typing import Annotated

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.index import options as io


def export(
    *,
    location: io.Location,
    output: Annotated[
        str | None,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Kept documents: id, text, title, source, at and further fields; format by "
            "extension. With --whole any name, .gz and .zst compress. - for standard output, "
            "the default.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    decisions: Annotated[
        str | None,
        flags.Option(
            "--decisions",
            metavar="FILE",
            help="The other documents: id, kept_id, similarity, measure, distance, reason, at.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    whole: Annotated[
        bool,
        flags.Option(
            "--whole",
            help="Write the whole index, for `neardup index create --from`.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = False,
    force: o.Force,
    quiet: o.Quiet = False,
) -> None:
    """Write the kept documents, or with --whole everything.

    All of it is as the index was at one moment, whatever others add meanwhile.
    """
    from neardup.cli.watch import Watch
    from neardup.exceptions import ParameterError

    if whole and decisions is not None:
        raise ParameterError(Message("cli.whole_with_decisions"))
    with io.opened(location, quiet=quiet) as index, Watch(quiet=quiet) as watch:
        target = output or "-"
        if whole:
            index.dump(target, force=force, progress=watch)
        else:
            if index.stats().store == "sketch":
                watch.note(Message("cli.no_texts_kept"))
            index.export(target, decisions=decisions, force=force, progress=watch)
