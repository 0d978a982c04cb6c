"""The record of acknowledged commits of an SQLite index: SQLite notices no log that is missing.

Every change increments the counter `commits`; after the commit the count is written, without a
sync, to the file ``-commits``, which exists as long as the log. An index with a lower count has
lost changes. A log of another index shows by the identity, which is in `meta`, whose page is in
no later log, and in `counters`, whose page is in every log. A copy of the file alone shows by the
counter `needs_log`: set before a checkpoint after a pause, and cleared in the log after it.

Not detected: the log of a copy of the same index with more changes, and an older log beside an
index that was closed.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError

#: Name of the counter of changes.
COMMITS = "commits"

#: Name of the counter that is 1 in an index file whose log has later commits.
NEEDS_LOG = "needs_log"

_COUNT = "UPDATE counters SET value = value + 1 WHERE name = 'commits'"
# Indexes of earlier versions lack this counter; a database without an identity is no index.
_FIRST = (
    "INSERT INTO counters (name, value) SELECT 'commits', 1 FROM counters WHERE name = 'identity'"
)
_MARK = (
    "INSERT INTO counters (name, value) VALUES ('needs_log', ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_CLEAR = "UPDATE counters SET value = 0 WHERE name = 'needs_log' AND value <> 0"
_READ = "SELECT name, value FROM counters WHERE name IN ('identity', 'commits', 'next')"

_SIZE = 96


class Acknowledged(NamedTuple):
    """The identity of an index, the number of its changes, and the number of its documents."""

    identity: int
    commits: int
    documents: int

    def to_bytes(self) -> bytes:
        """Return the content of the file: of fixed size, with a checksum."""
        line = f"neardup 1 {self.identity} {self.commits} {self.documents}"
        line = line.ljust(_SIZE - 10)
        return f"{line} {zlib.crc32(line.encode()):08x}\n".encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Acknowledged | None:
        """Return what a file holds; None if it is incomplete or damaged."""
        line, words = data[: _SIZE - 10], data.split()
        if len(data) != _SIZE or len(words) != 6 or words[:2] != [b"neardup", b"1"]:
            return None
        if words[-1] != b"%08x" % zlib.crc32(line):
            return None
        return cls(*map(int, words[2:5]))


def count_commit(connection: sqlite3.Connection) -> Acknowledged | None:
    """Count a change within its own transaction, and return the resulting counts."""
    if not connection.execute(_COUNT).rowcount and not connection.execute(_FIRST).rowcount:
        return None
    # If the commit after a checkpoint failed.
    clear_mark(connection)
    return _counted(connection)


def clear_mark(connection: sqlite3.Connection) -> None:
    """Record that the index file does not need a log, if it says otherwise."""
    connection.execute(_CLEAR)


def mark(connection: sqlite3.Connection, *, needs_log: bool) -> None:
    """Commit whether the index file needs its log."""
    connection.execute(_MARK, (int(needs_log),))


def _counted(connection: sqlite3.Connection) -> Acknowledged | None:
    counters = dict(connection.execute(_READ).fetchall())
    # A damaged row may hold any value.
    values = [value for value in counters.values() if isinstance(value, int)]
    if len(values) < 3:
        return None
    return Acknowledged(counters["identity"], counters["commits"], counters["next"] - 1)


def record(path: Path, made: Acknowledged) -> None:
    """Write the committed counts to the file; if that fails, only the later check is lost."""
    with suppress(OSError):
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        file = os.open(path, flags, 0o666)
        try:
            earlier = Acknowledged.from_bytes(os.read(file, _SIZE + 1))
            # Another process may have made a later commit and already written it.
            if earlier and earlier.identity == made.identity and earlier.commits > made.commits:
                return
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, made.to_bytes())
        finally:
            os.close(file)


def remove_record(path: Path, log: Path) -> None:
    """Delete the file if the log is gone: then the index file has all changes."""
    if not log.exists():
        with suppress(OSError):
            path.unlink()


def check_log(file: Path, record_path: Path, log: Path, location: str) -> None:
    """Raise if the log beside an index is incomplete or belongs to another index."""
    recorded = _recorded(record_path)
    has_log = log.exists() and log.stat().st_size > 0
    if recorded is None and not has_log:
        return
    try:
        # Read-only: when the last writable connection closes, SQLite would move a wrong log
        # into the file.
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=60)) as reader:
            made_as = reader.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
            stored = _counted(reader)
            identity = reader.execute(
                "SELECT value FROM counters WHERE name = 'identity'"
            ).fetchone()
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if has_log and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise _wrong_log(location, log, str(error)) from error
        if recorded is not None and str(error).startswith("no such table"):
            raise _lost(location, recorded, None, record_path, log.name, has_log) from error
        # The fault is not in the log; opening the index will report it.
        return
    if made_as is not None and (identity is None or made_as[0] != str(identity[0])):
        if has_log:
            raise _wrong_log(location, log, Message("it belongs to another index"))
        raise IndexFormatError(
            Message(
                "{location}: is damaged: the identity in the table 'counters' is not "
                "the one that the index was made with. Restore a backup.",
                location=location,
            )
        )
    if recorded is None or (stored is not None and stored.identity != recorded.identity):
        return
    if stored is None or stored.commits < recorded.commits:
        raise _lost(location, recorded, stored, record_path, log.name, has_log)


def _recorded(path: Path) -> Acknowledged | None:
    try:
        with path.open("rb") as file:
            return Acknowledged.from_bytes(file.read(_SIZE + 1))
    except OSError:
        return None


def _wrong_log(location: str, log: Path, reason: str) -> IndexFormatError:
    return IndexFormatError(
        Message(
            "{location}: the write-ahead log beside it, {log}, is not its own: "
            "{reason}. Nothing was changed. Put the right log in its place, or "
            "restore a backup of the index; remove the wrong log first.",
            code="log_missing",
            location=location,
            log=log.name,
            reason=reason,
        )
    )


def _lost(
    location: str,
    recorded: Acknowledged,
    stored: Acknowledged | None,
    record_path: Path,
    log: str,
    has_log: bool,
) -> IndexFormatError:
    has = Message("no changes")
    if stored is not None:
        has = Message(
            "{commits:,} with {documents:,}", commits=stored.commits, documents=stored.documents
        )
    return IndexFormatError(
        Message(
            N_(
                "{location}: must hold the {commits:,} changes that it acknowledged, "
                "with {documents:,} documents. Got {found} instead: its write-ahead "
                "log, {log}, is incomplete or too old. Nothing was changed. Put the "
                "log back beside the index, or restore a backup. To continue without "
                "the lost changes, or with an older copy, delete {note}."
            )
            if has_log
            else N_(
                "{location}: must hold the {commits:,} changes that it acknowledged, "
                "with {documents:,} documents. Got {found} instead: its write-ahead "
                "log, {log}, is missing. Nothing was changed. Put the log back beside "
                "the index, or restore a backup. To continue without the lost "
                "changes, or with an older copy, delete {note}."
            ),
            location=location,
            commits=recorded.commits,
            documents=recorded.documents,
            found=has,
            log=log,
            note=record_path.name,
        )
    )
