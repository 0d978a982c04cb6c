"""``neardup serve key``: who may ask a service, and what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.base.extras import require
from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli.outcome import typer_command
from neardup.cli.terminal import tell
from neardup.cli.usage import Command, Group, epilog_of

app = typer.Typer(
    name="key",
    cls=Group,
    help="Make, list and revoke the API keys of a service.",
    no_args_is_help=True,
)

File = Annotated[
    Path,
    flags.Option("--keys", metavar="FILE", help="The file of keys.", show_default=False),
]
Name = Annotated[
    str,
    flags.Argument(metavar="NAME", help="Who or what the key is for.", show_default=False),
]


_MODULES = (
    "fastapi",
    "itsdangerous",
    "prometheus_client",
    "python_multipart",
    "sqlalchemy",
    "uvicorn",
)


def require_server() -> None:
    """Raise an error with the line that installs the packages of a service, if they are missing."""
    require("readers.a_service", "server", *_MODULES)


def create(
    name: Name,
    keys: File,
    scope: Annotated[
        list[str] | None,
        flags.Option(
            "--scope",
            metavar="read|write",
            help="What the key allows; give it twice for both. By default read.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a key, and print it: it is shown this once and never again."""
    require_server()
    from neardup.server.security.keys import create_key

    secret, key = create_key(keys, name, scope or ["read"])
    typer.echo(secret)
    tell(Message("cli.key_made", name=key.name, scopes=" and ".join(key.scopes)))


def list_(keys: File) -> None:
    """List the keys: name, scopes, when made, and the last four characters."""
    require_server()
    from neardup.server.security.keys import read_keys

    for key in read_keys(keys):
        typer.echo(f"{key.name}  {','.join(key.scopes)}  {key.created}  ...{key.last}")


def revoke(name: Name, keys: File) -> None:
    """Revoke a key, at once: running services refuse it from their next request on."""
    require_server()
    from neardup.server.security.keys import revoke_key

    key = revoke_key(keys, name)
    tell(Message("cli.key_revoked", name=key.name, last=key.last))


for _name, _command, _examples in (
    (
        "create",
        create,
        (
            "neardup serve key create newsroom --keys keys.json",
            "neardup serve key create crawler --keys keys.json --scope read --scope write",
        ),
    ),
    ("list", list_, ("neardup serve key list --keys keys.json",)),
    ("revoke", revoke, ("neardup serve key revoke newsroom --keys keys.json",)),
):
    app.command(name=_name, cls=Command, no_args_is_help=True, epilog=epilog_of(_examples))(
        typer_command(_command)
    )
