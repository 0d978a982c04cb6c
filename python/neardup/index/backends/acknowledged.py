"""What an index in SQLite has acknowledged, in a small file beside it.

Commits are in the write-ahead log until a checkpoint moves them into the file. SQLite takes a
log that is missing or cut off for one that ends early, and opens what is left without an error.
So every change counts up in the table `counters`, and after the commit the count is written to
a file beside the index, ``-commits``. An index that holds fewer changes than the file says has
lost some.

The file is written without a sync, after the log is on the disk: after a power loss it may say
too little, never too much. It exists as long as there is a log, and goes with it.

A log of another index is found without that file. The identity of the index is in two tables:
in `meta`, whose page is written when the index is made and is in no later log, and in
`counters`, whose page is in every log. The two differ where file and log do not belong together.

Not found: a log that is replaced by one of a copy of the same index which has more changes, and
an older log beside a file that was closed (there is no count then).
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from neardup._engine.messages import Message
from neardup.exceptions import IndexFormatError

__all__ = ["COMMITS", "Acknowledged", "check_log", "count_commit", "note", "remove_note"]

#: The counter of changes.
COMMITS = "commits"

_COUNT = "UPDATE counters SET value = value + 1 WHERE name = 'commits'"
# An index of an earlier version has no such counter; a database without an identity is no index.
_FIRST = (
    "INSERT INTO counters (name, value) SELECT 'commits', 1 FROM counters WHERE name = 'identity'"
)
_READ = "SELECT name, value FROM counters WHERE name IN ('identity', 'commits', 'next')"

_SIZE = 96


class Acknowledged(NamedTuple):
    """Which index it is, how many changes it has stored, and how many documents with them."""

    identity: int
    commits: int
    documents: int

    def to_bytes(self) -> bytes:
        """Return the content of the file: always of one size, with a checksum."""
        line = f"neardup 1 {self.identity} {self.commits} {self.documents}"
        line = line.ljust(_SIZE - 10)
        return f"{line} {zlib.crc32(line.encode()):08x}\n".encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Acknowledged | None:
        """Return what a file says, None if it is not whole."""
        line, words = data[: _SIZE - 10], data.split()
        if len(data) != _SIZE or len(words) != 6 or words[:2] != [b"neardup", b"1"]:
            return None
        if words[-1] != b"%08x" % zlib.crc32(line):
            return None
        return cls(*map(int, words[2:5]))


def count_commit(connection: sqlite3.Connection) -> Acknowledged | None:
    """Count a change, in its own transaction, and return the counts that it will leave."""
    if not connection.execute(_COUNT).rowcount and not connection.execute(_FIRST).rowcount:
        return None
    return _counted(connection)


def _counted(connection: sqlite3.Connection) -> Acknowledged | None:
    found = dict(connection.execute(_READ).fetchall())
    # A damaged row can hold anything.
    values = [value for value in found.values() if isinstance(value, int)]
    if len(values) < 3:
        return None
    return Acknowledged(found["identity"], found["commits"], found["next"] - 1)


def note(path: Path, made: Acknowledged) -> None:
    """Write down what is committed; what cannot be written is only not checked later."""
    with suppress(OSError):
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        file = os.open(path, flags, 0o666)
        try:
            there = Acknowledged.from_bytes(os.read(file, _SIZE + 1))
            # Another process may have committed since, and have been faster here.
            if there and there.identity == made.identity and there.commits > made.commits:
                return
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, made.to_bytes())
        finally:
            os.close(file)


def remove_note(path: Path, log: Path) -> None:
    """Remove the file where there is no log any more: all is in the index itself."""
    if not log.exists():
        with suppress(OSError):
            path.unlink()


def check_log(file: Path, note_path: Path, log: Path, location: str) -> None:
    """Raise if the log beside an index is not the one that belongs to it, or not whole.

    Raises
    ------
    IndexFormatError
        Nothing was changed, neither the file nor the log.
    """
    said = _said(note_path)
    has_log = log.exists() and log.stat().st_size > 0
    if said is None and not has_log:
        return
    try:
        # Read-only: closing the last connection that may write would move a wrong log into
        # the file.
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=60)) as reader:
            made_as = reader.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
            found = _counted(reader)
            identity = reader.execute(
                "SELECT value FROM counters WHERE name = 'identity'"
            ).fetchone()
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if has_log and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise _wrong_log(location, log, str(error)) from error
        if said is not None and str(error).startswith("no such table"):
            raise _lost(location, said, None, note_path, log.name, has_log) from error
        # What is wrong has nothing to do with the log, and opening says it.
        return
    if made_as is not None and (identity is None or made_as[0] != str(identity[0])):
        if has_log:
            raise _wrong_log(location, log, Message("index.of_another_index"))
        raise IndexFormatError(Message("index.identity_is_other", location=location))
    if said is None or (found is not None and found.identity != said.identity):
        return
    if found is None or found.commits < said.commits:
        raise _lost(location, said, found, note_path, log.name, has_log)


def _said(path: Path) -> Acknowledged | None:
    try:
        with path.open("rb") as file:
            return Acknowledged.from_bytes(file.read(_SIZE + 1))
    except OSError:
        return None


def _wrong_log(location: str, log: Path, reason: str) -> IndexFormatError:
    return IndexFormatError(
        Message("index.log_is_not_its_own", location=location, log=log.name, reason=reason)
    )


def _lost(
    location: str,
    said: Acknowledged,
    found: Acknowledged | None,
    note_path: Path,
    log: str,
    has_log: bool,
) -> IndexFormatError:
    has = Message("index.no_changes")
    if found is not None:
        has = Message("index.changes", commits=found.commits, documents=found.documents)
    return IndexFormatError(
        Message(
            "index.changes_lost_log_incomplete" if has_log else "index.changes_lost_log_missing",
            location=location,
            commits=said.commits,
            documents=said.documents,
            found=has,
            log=log,
            note=note_path.name,
        )
    )
