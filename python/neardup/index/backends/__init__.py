"""Connections and transactions of SQLite and PostgreSQL."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from neardup.base.locations import database_of
from neardup.base.messages import Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import ParameterError
from neardup.index.backends.database import Database

__all__ = ["Database", "open_database"]


def open_database(location: str | Path, *, must_exist: bool) -> Database:
    """Connect to a file or a ``postgresql://`` address, without creating a file or a table."""
    database = _make_database(location)
    try:
        database.find(must_exist=must_exist)
    except BaseException:
        database.close()
        raise
    return database


def _make_database(location: str | Path) -> Database:
    scheme, separator, rest = str(location).partition("://")
    if database := database_of(location):
        backend = import_module(f"neardup.index.backends.{database}")
        server: Database = backend.open_address(f"{database}://{rest}")
        return server
    if isinstance(location, str) and separator and scheme.replace("+", "").isalnum():
        raise ParameterError(
            Message(
                "{named[location]} must be the path of a file, or begin with "
                "postgresql://. Got {scheme}:// instead.",
                scheme=scheme,
            )
        )
    if not isinstance(location, str | os.PathLike) or not isinstance(os.fspath(location), str):
        raise bad("location", "a path or the URL of a PostgreSQL database", location)
    path = os.fspath(location)
    check_path(path, "location")
    if path in ("", ":memory:"):
        raise bad("location", "the path of a file: an index is kept on disk", path)
    from neardup.index.backends.sqlite import SQLiteFile

    return SQLiteFile(path)
