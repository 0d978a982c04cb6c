"""``neardup index``: documents that come one after the other, decided as they come."""

from __future__ import annotations

import typer

from neardup.cli.index import adding, asking, exporting, making, removing, upkeep
from neardup.cli.outcome import typer_command
from neardup.cli.usage import Command, Group

NAME = "index"

app = typer.Typer(
    name=NAME,
    cls=Group,
    help="Keep an index of documents, and look up what it has seen before.",
    no_args_is_help=True,
)

for _command in (
    making.create,
    adding.add,
    asking.query,
    asking.explain,
    asking.clusters,
    asking.stats,
    removing.remove,
    removing.keep,
    removing.expire,
    removing.reconsider,
    exporting.export,
    upkeep.recount,
    upkeep.compact,
    upkeep.check,
):
    app.command(name=_command.__name__, cls=Command, no_args_is_help=True)(typer_command(_command))
