"""``neardup index``: documents that come one after the other, decided as they come."""

from __future__ import annotations

from collections.abc import Callable

import typer

from neardup.cli.index import adding, asking, exporting, making, removing, upkeep
from neardup.cli.outcome import typer_command
from neardup.cli.usage import Command, Group, epilog_of

NAME = "index"

app = typer.Typer(
    name=NAME,
    cls=Group,
    help="Keep an index of documents, and look up what it has seen before.",
    no_args_is_help=True,
)

#: Each command with its examples.
_COMMANDS: tuple[tuple[Callable[..., None], tuple[str, ...]], ...] = (
    (
        making.create,
        (
            "neardup index create new.db --threshold 0.8",
            "neardup index create library.db --recipe containment --background dump/",
        ),
    ),
    (
        adding.add,
        (
            "neardup index add news.db articles.jsonl --removed removed.jsonl",
            "neardup index add news.db articles.jsonl --at-field date --within 14d",
        ),
    ),
    (
        asking.query,
        (
            "neardup index query news.db 'The ferry to Skerrow Island leaves every hour.'",
            "neardup index query news.db --file new.txt --json",
        ),
    ),
    (
        asking.explain,
        (
            "neardup index explain news.db bridge-repost",
            "neardup index explain news.db bridge --json",
        ),
    ),
    (
        asking.clusters,
        (
            "neardup index clusters news.db",
            "neardup index clusters news.db -o clusters.csv",
        ),
    ),
    (asking.stats, ("neardup index stats news.db", "neardup index stats news.db --json")),
    (
        removing.remove,
        (
            "neardup index remove news.db bridge ferry",
            "neardup index remove news.db bridge --reconsider",
        ),
    ),
    (removing.keep, ("neardup index keep news.db bridge-repost",)),
    (
        removing.expire,
        (
            "neardup index expire news.db --older-than 90d",
            "neardup index expire news.db --before 2024-03-01 --reconsider",
        ),
    ),
    (
        removing.reconsider,
        (
            "neardup index reconsider news.db",
            "neardup index reconsider news.db bridge-repost",
            "neardup index reconsider news.db --dropped",
        ),
    ),
    (
        exporting.export,
        (
            "neardup index export news.db -o kept.jsonl --decisions dropped.jsonl",
            "neardup index export news.db --whole -o news.neardup.zst",
        ),
    ),
    (upkeep.recount, ("neardup index recount news.db",)),
    (upkeep.backup, ("neardup index backup news.db news-2025-03-09.db",)),
    (upkeep.compact, ("neardup index compact news.db",)),
    (upkeep.check, ("neardup index check news.db", "neardup index check news.db --full")),
    (upkeep.rebuild, ("neardup index rebuild news.db rescued.db",)),
)

for _command, _examples in _COMMANDS:
    app.command(
        name=_command.__name__, cls=Command, no_args_is_help=True, epilog=epilog_of(_examples)
    )(typer_command(_command))
