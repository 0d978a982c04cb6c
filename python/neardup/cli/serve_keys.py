"""``neardup serve key``: who may ask a service, and what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.cli.options import declare_file
from neardup.cli.terminal import print_message
from neardup.options import options as o

File = Annotated[Path, declare_file("The file of keys.")]
Name = Annotated[str, o.Argument("Person or program that uses the key.", metavar="NAME")]


_MODULES = (
    "fastapi",
    "itsdangerous",
    "prometheus_fastapi_instrumentator",
    "python_multipart",
    "sqlalchemy",
    "uvicorn",
)


def require_server() -> None:
    """Raise an error with the line that installs the packages of a service, if they are missing."""
    require(N_("A service"), "server", *_MODULES)


def create(
    *,
    name: Name,
    keys: File,
    scope: Annotated[
        list[str] | None,
        o.Option(
            "Permission of the key; give it twice for both. By default read.",
            o.OUTPUT,
            metavar="read|write",
        ),
    ],
) -> None:
    """Make a key, and print it: it is shown this once and never again.

    Examples:
        neardup serve key create newsroom --keys keys.json
        neardup serve key create crawler --keys keys.json --scope read --scope write
    """
    require_server()
    from neardup.server.security.keys import create_key

    secret, key = create_key(keys, name, scope or ["read"])
    print(secret)
    print_message(
        Message(
            "this is the key of '{name}' for {scopes}. It is not stored anywhere; keep it.",
            name=key.name,
            scopes=" and ".join(key.scopes),
        )
    )


def list_keys(*, keys: File) -> None:
    """List the keys: name, scopes, when made, and the last four characters.

    Examples:
        neardup serve key list --keys keys.json
    """
    require_server()
    from neardup.server.security.keys import read_keys

    for key in read_keys(keys):
        print(f"{key.name}  {','.join(key.scopes)}  {key.created}  ...{key.last}")


def revoke(*, name: Name, keys: File) -> None:
    """Revoke a key, at once: running services refuse it from their next request on.

    Examples:
        neardup serve key revoke newsroom --keys keys.json
    """
    require_server()
    from neardup.server.security.keys import revoke_key

    key = revoke_key(keys, name)
    print_message(
        Message("the key of '{name}' (...{last}) is revoked.", name=key.name, last=key.last)
    )
