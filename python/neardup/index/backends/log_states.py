"""Whether the log next to an SQLite file belongs to it, by the states of both.

SQLite applies any log that has the right name. If a process was killed and its file replaced, the
log that it left is mixed with the new file. So each transaction marks the first page
(`user_version`) with a random tag, above the tag of the transaction before it. A log belongs to a
file in the state before the log's first transaction, or after one of them. A checkpoint writes the
first page before all others. ``VACUUM`` and SQLite's back-ups keep the mark, move pages, and change
the version of the schema: a state is both.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError

#: How a log begins, and the byte order of its sums.
_ORDERS = {b"\x37\x7f\x06\x82": "<", b"\x37\x7f\x06\x83": ">"}
#: Where the first page has the version of the schema, and the mark.
_SCHEMA_AT, _MARK_AT = 40, 60
#: How a journal begins.
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


class State(NamedTuple):
    """The identity of a file's state: SQLite's `schema_version`, and the mark."""

    schema: int
    mark: int


def make_next_mark(mark: int) -> int:
    """Return the mark of the transaction after the one with this mark; both are signed."""
    mark = (secrets.randbelow(0xFFFF) + 1) << 16 | _get_tag(mark)
    return mark - (mark >> 31 << 32)


def mark_anew(file: BinaryIO) -> None:
    """Give a file that nobody else has open a mark that no log has."""
    file.seek(_MARK_AT)
    (mark,) = struct.unpack(">i", file.read(4))
    file.seek(_MARK_AT)
    file.write(struct.pack(">i", make_next_mark(mark)))


def find_foreign_log(files: Sequence[Path]) -> Path | None:
    """Return the log next to an index that belongs to another file, if there is one.

    `files` are the index, its log, the log's index and its journal. This process must not use them
    yet, or only through SQLite.
    """
    index, log, _, journal = files
    if not index.exists() or not index.stat().st_size:
        # SQLite would delete it, and its file may have another name now.
        return log if read_log_states(log) else None
    while (state := _read_state(index)) is not None:
        foreign = None
        if not _belongs_to_file(log, state):
            foreign = log
        elif not _is_journal_of_file(journal, index, state):
            foreign = journal
        # Another process may have moved the log into the file, and begun a new one.
        if foreign is None or _read_state(index) == state:
            return foreign
    return None


def refuse_foreign_log(files: Sequence[Path], location: str) -> None:
    """Raise if the log next to an index belongs to another file; see `find_foreign_log`."""
    foreign = find_foreign_log(files)
    if foreign is not None:
        raise IndexFormatError(
            Message(
                "{location}: {log} next to it belongs to another file, or to another state of it. "
                "Move the log away, or restore a backup: neardup index restore BACKUP {location} "
                "--force",
                code="log_of_another_file",
                location=location,
                log=printable(foreign.name),
            )
        )


def read_log_states(log: Path, *, checked: bool = False) -> list[State | None]:
    """Return the state after each transaction of a log; None for one that set no mark.

    `checked` compares the sums too: slower, and stops where a crash has cut the log.
    """
    states: list[State | None] = []
    state = None
    with suppress(OSError, struct.error), log.open("rb") as file:
        for page, pages, page_state in _read_frames(file, checked):
            if page == 1:
                state = page_state
            # The last page of a transaction says how many pages the file has after it.
            if pages:
                states.append(state)
                state = None
    return states


def _read_frames(file: BinaryIO, checked: bool) -> Iterator[tuple[int, int, State | None]]:
    """Yield number, pages of the file, and state of each page in a log."""
    header = file.read(32)
    order = _ORDERS.get(header[:4])
    if order is None:
        return
    (size,), salts = struct.unpack(">I", header[8:12]), header[16:24]
    sums = _add_sums(header[:24], order, (0, 0))
    while len(head := file.read(24)) == 24 and head[8:16] == salts:
        page, pages = struct.unpack(">II", head[:8])
        state = None
        if checked or page == 1:
            content = file.read(size)
            if checked:
                sums = _add_sums(head[:8] + content, order, sums)
                if struct.unpack(">II", head[16:]) != sums:
                    return
            state = _unpack_state(content) if page == 1 else None
        else:
            file.seek(size, os.SEEK_CUR)
        yield page, pages, state


def _add_sums(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Return the two sums of the format, over words of 32 bits."""
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}II", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def _belongs_to_file(log: Path, state: State) -> bool:
    for checked in (False, True):
        states = read_log_states(log, checked=checked)
        known = [item for item in states if item is not None]
        # An earlier version of neardup set no marks.
        if not states or state in known or (_follows(known[0], state) if known else not state.mark):
            return True
    return False


def _follows(first: State, state: State) -> bool:
    """Return whether a log with this first transaction is of a file in this state."""
    if first.mark == state.mark:
        # It moved all pages.
        return first.schema == state.schema + 1
    return first.schema == state.schema and first.mark & 0xFFFF == _get_tag(state.mark)


def _is_journal_of_file(journal: Path, index: Path, state: State) -> bool:
    """Return whether the journal has the first page of this file, or would change nothing.

    An index has one while it is made, when the file has no mark, and when it gets its log.
    """
    try:
        with journal.open("rb") as file:
            header = file.read(28)
            if not state.mark or header[:8] != _JOURNAL:
                return True
            count, _, pages, sector, size = struct.unpack(">5I", header[8:])
            if not count and pages * size == index.stat().st_size:
                return True
            file.seek(sector)
            while len(record := file.read(size + 8)) == size + 8:
                if record[:4] == b"\0\0\0\1":
                    return _unpack_state(record[4:]) == state
    except (OSError, struct.error):
        return True
    return False


def _read_state(index: Path) -> State | None:
    """Return the state of the file itself, whatever its log has; None if it is not an index.

    SQLite reads it: if Python closed the file, this process would lose its locks on it.
    """
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{index.as_uri()}?mode=ro&immutable=1", uri=True)) as file,
    ):
        values = (file.execute(f"PRAGMA {name}_version").fetchone() for name in ("schema", "user"))
        return State(*(value for (value,) in values))
    return None


def _unpack_state(page: bytes) -> State:
    """Return the state on the first page of a file."""
    return State(*struct.unpack_from(">i16xi", page, _SCHEMA_AT))


def _get_tag(mark: int) -> int:
    return mark >> 16 & 0xFFFF
