"""The shingles by which a paper check finds documents of an index.

They are made when a check first needs them, and stored in the table `passages`. A check looks them
up in one file of sorted shingles next to an SQLite index. Each check sorts newer documents in
memory. When they are more than a tenth of the documents in the file, the file is made again.
Without a file, as in PostgreSQL, all are sorted in memory. The file is a number of 64-bit words:

| part | has |
|---|---|
| 3 words | magic number, key, number of documents |
| column | the numbers of the documents, ascending |
| column | the times at which they were added |
| padding | up to a page |
| shingles | shingle and position of the document, ascending |
| fence | the shingle of each 512th of these, in 32 bits, padded |
| 2 words | the number of shingles; the digest of all but the shingles |

The key depends on how shingles are made and on a mark. The index stores the mark whenever its file
is written. An index with that mark is a later state of the one whose documents are in the file. It
is not, for example, a backup from before. Shingles have no digest, since a check reads few of them.
A wrong one only hides a document, or brings one that is compared in vain.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import RowMapping

from neardup.base.lazy import _core
from neardup.base.progress import Progress
from neardup.exceptions import IndexUnavailableError, OutputError
from neardup.index.engine import Engine
from neardup.index.store.rows import parse_extra
from neardup.writers.sink import FileSink

#: Position of a document that is no longer in the index.
GONE = 2**32 - 1

#: Documents per write transaction, for which other writers wait, and per read transaction.
_WRITTEN, _READ = 100, 1000

#: Shingles that are sorted together: 128 MB. More goes into temporary files.
_TOGETHER = 1 << 24

#: Shingles that are merged together.
_MERGED = 1 << 22

#: Setting of the index by which it knows its file.
_MARK = "shingles"

#: Begins the file; also tells a machine with the other order of bytes. Changes with the format.
_MAGIC = int.from_bytes(b"NDshing2", "little")
#: With which files of any version begin.
_MADE = b"NDshing"

_HEAD = 3


# The table of shingles


def make_missing(
    engine: Engine, made_by: str, sketch: Callable[[list[str]], list[bytes]], after: int
) -> Iterator[int]:
    """Compute and store missing shingles; yield the number of documents after each batch."""
    while True:
        with engine.writing() as session:
            rows = session.shingles.find_missing(made_by, after, _WRITTEN)
            if not rows:
                return
            numbers = [row["number"] for row in rows]
            made = sketch([session.texts.read(row) for row in rows])
            session.shingles.store(numbers, made_by, made)
        after = numbers[-1]
        yield len(numbers)


def read_stored(engine: Engine, made_by: str, after: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, time and shingles of documents after a number, ordered by number."""
    while True:
        # In short transactions: a long one would keep the log of SQLite from being emptied.
        with engine.reading() as session:
            rows = session.shingles.read_made(made_by, after, _READ)
        if not rows:
            return
        yield from rows
        after = rows[-1][0]


def read_texts(
    engine: Engine, numbers: Sequence[int]
) -> dict[int, tuple[RowMapping, str, dict[str, Any]]]:
    """Return the rows (id and title), texts and further fields of some documents, by number."""
    with engine.reading() as session:
        rows = session.documents.read_with_texts(numbers)
        return {row["number"]: (row, session.texts.read(row), parse_extra(row)) for row in rows}


# Sorted shingles


@dataclass(frozen=True, eq=False)
class SortedShingles:
    """The sorted shingles of some documents, in memory or mapped.

    For `filed` and `fence` see `neardup._core.file_sketches`; only the fence is read into memory.
    """

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    filed: NDArray[np.uint64]
    fence: NDArray[np.uint32]
    mapped: mmap.mmap | None = None

    def advise(self, advice: str) -> None:
        """Tell the system how the file will be read, where it listens."""
        if self.mapped is not None and hasattr(mmap, advice):
            self.mapped.madvise(getattr(mmap, advice))

    @property
    def last(self) -> int:
        """The number of the last document."""
        return int(self.numbers[-1])


class ShingleFile:
    """The file of one index; `made_by` names the recipe and the state of the index."""

    def __init__(self, path: Path, made_by: str, mode: int | None = None) -> None:
        self._path, self._mode = path, mode
        self._key = _digest(made_by.encode())

    def read(self) -> SortedShingles | None:
        """Return its content, mapped; None if there is none, or it is damaged or of another."""
        try:
            with self._path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        words = np.frombuffer(mapped, np.uint64, len(mapped) // 8)
        if len(words) < _HEAD + 2:
            return None
        magic, key, count = words[:_HEAD].tolist()
        entries, digest = words[-2:].tolist()
        begin = _HEAD + 2 * count
        begin += _count_padding(begin)
        end = begin + entries
        blocks = -(-entries // _core.SHINGLE_BLOCK)
        is_whole = len(mapped) == 8 * (end + -(-blocks // 2) + 2)
        if (magic, key) != (_MAGIC, self._key) or not count or not is_whole:
            return None
        if digest != _digest(words[:begin], words[end:-1]):
            return None
        numbers, times = words[_HEAD : _HEAD + 2 * count].view(np.int64).reshape(2, -1)
        fence = words[end:-2].view(np.uint32)[:blocks].copy()
        content = SortedShingles(numbers, times, words[begin:end], fence, mapped)
        # A look-up reads one place, and the system would read what is around it too.
        content.advise("MADV_RANDOM")
        return content

    def write(
        self,
        numbers: NDArray[np.int64],
        times: NDArray[np.int64],
        parts: Iterable[NDArray[np.uint64]],
    ) -> SortedShingles | None:
        """Replace it by documents and their shingles, and read it; None if that fails."""
        try:
            with FileSink(str(self._path), force=True, mode=self._mode) as sink:
                for words in self._make_words(numbers, times, parts):
                    sink.write(words.view(np.uint8).data)  # type: ignore[arg-type]
            # What was written together is cached in large pieces; a look-up would map a whole one.
            if hasattr(os, "posix_fadvise"):
                with self._path.open("rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        except (OutputError, OSError):
            return None
        return self.read()

    def may_replace(self) -> bool:
        """Return whether there is no file, an empty one, or one that this class wrote.

        One word of the head is enough: the other may be damaged.
        """
        try:
            with self._path.open("rb") as file:
                head = file.read(16)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return not head or head.startswith(_MADE) or head[8:] == self._key.to_bytes(8, "little")

    def _make_words(
        self,
        numbers: NDArray[np.int64],
        times: NDArray[np.int64],
        parts: Iterable[NDArray[np.uint64]],
    ) -> Iterator[NDArray[np.uint64]]:
        """Yield the words of the file."""
        head = np.array([_MAGIC, self._key, len(numbers)], np.uint64)
        padding = np.zeros(_count_padding(_HEAD + 2 * len(numbers)), np.uint64)
        begin = np.concatenate([head, numbers.view(np.uint64), times.view(np.uint64), padding])
        yield begin
        entries = 0
        fence = [np.zeros(0, np.uint32)]
        for part in parts:
            yield part
            firsts = part[-entries % _core.SHINGLE_BLOCK :: _core.SHINGLE_BLOCK]
            fence.append((firsts >> 32).astype(np.uint32))
            entries += len(part)
        if sum(map(len, fence)) % 2:
            fence.append(np.zeros(1, np.uint32))
        end = np.concatenate([np.concatenate(fence).view(np.uint64), [np.uint64(entries)]])
        yield end
        yield np.array([_digest(begin, end)], np.uint64)


def _count_padding(words: int) -> int:
    """Return how many words there are up to the next page."""
    return -words % _core.SHINGLE_BLOCK


def _digest(*parts: bytes | NDArray[np.uint64]) -> int:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.data)
    return int.from_bytes(digest.digest(), "little")


# All shingles of an index


class StoredShingles(NamedTuple):
    """Number and time of the document at each position, and the library."""

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    library: _core.Library


def collect_shingles(
    engine: Engine,
    made_by: str,
    sketch: Callable[[list[str]], list[bytes]],
    *,
    workers: int,
    progress: Progress,
) -> StoredShingles:
    """Return the shingles of an index; make those that are missing.

    `sketch` returns the shingles of texts, and `made_by` says how: others are made again.
    """
    file = None
    if files := engine.database.files:
        path = files[0].with_name(f"{files[0].name}-shingles")
        mode = files[0].stat().st_mode & 0o666
        with engine.reading() as session:
            file = ShingleFile(path, f"{session.statistics.read_meta().get(_MARK)} {made_by}", mode)
    sorted_before = None if file is None else file.read()
    after = 0 if sorted_before is None else sorted_before.last
    with engine.reading() as session:
        missing = session.shingles.count_missing(made_by, after)
    if missing:
        progress.stage("library", missing)
        for made in make_missing(engine, made_by, sketch, after):
            progress.advance(made)
    newer = _sort_newer(engine, made_by, after, file is not None, workers)
    with engine.reading() as session:
        present = session.documents.list_numbers()
    parts = newer if sorted_before is None else [sorted_before, *newer]
    count = 0 if sorted_before is None else len(sorted_before.numbers)
    joined = _join_parts(parts, present)
    if file is None or sum(len(part.numbers) for part in newer) <= count // 10:
        return joined
    # A file that neardup did not make is left alone.
    if not file.may_replace():
        return joined
    mark = secrets.token_hex(8)
    file = ShingleFile(path, f"{mark} {made_by}", mode)
    written = file.write(
        joined.numbers, joined.times, _merge_shingles(joined.library, parts, workers)
    )
    if written is None:
        return joined
    # Until then nobody uses the file.
    with suppress(IndexUnavailableError), engine.writing() as session:
        session.statistics.set_meta({_MARK: mark})
    return _join_parts([written], present)


def _sort_newer(
    engine: Engine, made_by: str, after: int, may_be_large: bool, workers: int
) -> list[SortedShingles]:
    """Return the sorted shingles of the documents after a number, as many together as fit."""
    parts: list[SortedShingles] = []
    rows: list[tuple[int, int, bytes]] = []
    size = 0

    def sort() -> None:
        numbers, times, sketches = zip(*rows, strict=True)
        filed, fence = _core.file_sketches(sketches, workers=workers)
        if len(filed) and (parts or size >= _TOGETHER):
            filed = _move_to_file(filed)
        columns = np.array(numbers, np.int64), np.array(times, np.int64)
        parts.append(SortedShingles(*columns, filed, fence))

    for row in read_stored(engine, made_by, after):
        rows.append(row)
        size += len(row[2]) // 4
        if size >= _TOGETHER and may_be_large:
            sort()
            rows, size = [], 0
    if rows:
        sort()
    return parts


def _move_to_file(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the same words, mapped from a temporary file."""
    with tempfile.TemporaryFile() as file:
        words.tofile(file)
        file.flush()
        return np.memmap(file, np.uint64, "r")


def _merge_shingles(
    library: _core.Library, parts: Sequence[SortedShingles], workers: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield the shingles of a library together, a piece at a time."""
    for part in parts:
        part.advise("MADV_SEQUENTIAL")
    begin: int | None = 0
    while begin is not None:
        piece, begin = library.merged(begin, most=_MERGED, workers=workers)
        yield piece
        # What has been read would count as memory of this process.
        for part in parts:
            part.advise("MADV_DONTNEED")
    # They remain in use if the file cannot be written.
    for part in parts:
        part.advise("MADV_RANDOM")


def _join_parts(parts: Sequence[SortedShingles], present: NDArray[np.int64]) -> StoredShingles:
    """Return the documents of some parts that are in the index, whose numbers are `present`."""
    numbers, times = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    runs = []
    count = 0
    for part in parts:
        is_there = np.isin(part.numbers, present, assume_unique=True)
        positions = np.where(is_there, count - 1 + np.cumsum(is_there), GONE)
        runs.append((part.filed, part.fence, positions.astype(np.uint32)))
        numbers.append(part.numbers[is_there])
        times.append(part.times[is_there])
        count += len(numbers[-1])
    return StoredShingles(np.concatenate(numbers), np.concatenate(times), _core.Library(runs))
