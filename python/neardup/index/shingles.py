"""The shingles by which a paper check finds documents of an index.

They are made when a check first needs them, and stored in the table `passages`. A check looks them
up in files beside an SQLite index: runs of sorted shingles, each of the documents whose numbers
are in a range. A run is merged with those after it when they have as many documents together
(Bentley and Saxe, 1980), and files are never changed. Each is a number of 64-bit words:

========  ============================================================
5 words   magic number, key, first number (exclusive), last number,
          number of documents
column    the numbers of the documents, ascending
column    the times at which they were added
padding   up to a page
shingles  shingle and position of the document in the run, ascending
fence     the shingle of each 512th of these, in 32 bits, padded
2 words   the number of shingles; the digest of all but the shingles
========  ============================================================

The key depends on the index and on how its shingles are made; the times reveal files of another
state of the index, such as that before a backup was restored. Shingles have no digest: a check
reads few of them, and a wrong one only hides a document or brings one that is compared in vain.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import RowMapping, and_, delete, func, select

from neardup import _core
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import OutputError
from neardup.index.engine import Engine
from neardup.index.schema import documents, passages, texts
from neardup.index.store.bulk import insert_rows
from neardup.index.store.rows import damaged, extra_of
from neardup.writers.sink import FileSink

#: Position of a document that is no longer in the index.
GONE = 2**32 - 1

#: Documents per write transaction, for which other writers wait, and per read transaction.
_WRITTEN, _READ = 100, 1000

#: Shingles that are sorted together: 128 MB. What is beyond goes into another file.
_TOGETHER = 1 << 24

#: Shingles that are merged together.
_MERGED = 1 << 22

#: Begins each file; also tells a machine with the other order of bytes. Changes with the format.
_MAGIC = int.from_bytes(b"NDshing1", "little")

_HEAD = 5
_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.run")


# The table of shingles


class Present(NamedTuple):
    """The documents of an index: numbers, ascending, and when each was added."""

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]


def numbers_and_times(engine: Engine) -> Present:
    """Return which documents there are."""
    # An index of the table has both columns, so no document is read.
    query = select(documents.c.number, documents.c.at)
    parts = [np.zeros((0, 2), np.int64)]
    with engine.reading() as session:
        cursor = session.connection.execute(query).cursor
        assert cursor is not None
        # There may be a million rows: the driver's plain tuples are fastest.
        while rows := cursor.fetchmany(10_000):
            # A damaged row may hold anything.
            flat = (value if value.__class__ is int else 0 for row in rows for value in row)
            parts.append(np.fromiter(flat, np.int64, 2 * len(rows)).reshape(-1, 2))
    unsorted = np.concatenate(parts)
    numbers, times = unsorted[np.argsort(unsorted[:, 0])].T.copy()
    return Present(numbers, times)


def count_missing(engine: Engine, made_by: str, after: int) -> int:
    """Return how many documents with a text, numbered after `after`, have no such shingles."""
    with engine.reading() as session:
        connection = session.connection
        with_text = select(func.count()).select_from(texts).where(texts.c.number > after)
        made = (
            select(func.count())
            .select_from(passages)
            .where(passages.c.number > after, passages.c.made_by == made_by)
        )
        count: int = (
            connection.execute(with_text).scalar_one() - connection.execute(made).scalar_one()
        )
        return count


def make_missing(
    engine: Engine, made_by: str, sketch: Callable[[list[str]], list[bytes]], after: int
) -> Iterator[int]:
    """Compute and store missing shingles; yield the number of documents after each batch."""
    is_made = and_(passages.c.number == texts.c.number, passages.c.made_by == made_by)
    query = (
        select(texts)
        .select_from(texts.outerjoin(passages, is_made))
        .where(passages.c.number.is_(None))
        .order_by(texts.c.number)
        .limit(_WRITTEN)
    )
    while True:
        with engine.writing() as session:
            # Raises if another index has replaced this one.
            session.counters()
            connection = session.connection
            rows = connection.execute(query.where(texts.c.number > after)).all()
            if not rows:
                return
            numbers = [row.number for row in rows]
            made = sketch([session.unpacked(row.text, row.number) for row in rows])
            session.run(delete(passages).where(session.is_one_of(passages.c.number)), numbers)
            columns: dict[str, Sequence[object]] = {
                "number": numbers,
                "made_by": [made_by] * len(numbers),
                "shingles": made,
            }
            insert_rows(connection, passages, columns)
        after = numbers[-1]
        yield len(numbers)


def stored(engine: Engine, made_by: str, after: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, time and shingles of documents after a number, ordered by number."""
    query = (
        select(passages.c.number, documents.c.at, passages.c.shingles)
        .select_from(passages.join(documents, documents.c.number == passages.c.number))
        .where(passages.c.made_by == made_by)
        .order_by(passages.c.number)
        .limit(_READ)
    )
    while True:
        # In short transactions: a long one would keep the log of SQLite from being emptied.
        with engine.reading() as session:
            rows = session.connection.execute(query.where(passages.c.number > after)).all()
        if not rows:
            return
        for after, time, shingles in rows:
            if not isinstance(shingles, bytes) or len(shingles) % 4:
                must = Message("bytes of whole shingles")
                name = Message("the passages of document {number}", number=after)
                raise damaged(engine.location, name, "shingles", must, shingles)
            # A damaged row may hold anything.
            yield after, time if time.__class__ is int else 0, shingles


def texts_of(
    engine: Engine, numbers: Sequence[int]
) -> dict[int, tuple[RowMapping, str, dict[str, Any]]]:
    """Return the rows (id and title), texts and further fields of some documents, by number."""
    with engine.reading() as session:
        query = (
            select(
                *(documents.c[name] for name in ("number", "id", "title", "extra")), texts.c.text
            )
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(session.is_one_of(documents.c.number))
        )
        rows = session.sound(session.run(query, numbers).mappings())
        return {
            row["number"]: (
                row,
                session.unpacked(row["text"], row["number"]),
                extra_of(row, engine.location),
            )
            for row in rows
        }


# Files of sorted shingles


class Unusable(Exception):
    """The files are damaged, incomplete or of another index, version or machine."""


@dataclass(frozen=True, eq=False)
class Run:
    """The shingles of the documents with numbers in (`after`, `last`], in memory or mapped.

    For `filed` and `fence` see `neardup._core.file_sketches`; only the fence is read into memory.
    """

    after: int
    last: int
    numbers: NDArray[np.int64]
    stamps: NDArray[np.int64]
    filed: NDArray[np.uint64]
    fence: NDArray[np.uint32]
    mapped: mmap.mmap | None = None

    def advise(self, advice: str) -> None:
        """Tell the system how the file will be read, where it listens."""
        if self.mapped is not None and hasattr(mmap, advice):
            self.mapped.madvise(getattr(mmap, advice))


class RunFolder:
    """The folder with the runs of one index; without one every run stays in memory.

    `made_by` says how shingles are made, and of which index; `mode` has the permissions of files.
    """

    def __init__(self, folder: Path | None, made_by: str, mode: int | None = None) -> None:
        self._folder = folder
        self._key = _digest(made_by.encode())
        self._mode = mode
        #: False once a file could not be written.
        self.is_writable = folder is not None

    def read(self) -> list[Run]:
        """Return the runs, ordered by number, without gaps; raise if any is unusable."""
        runs: list[Run] = []
        for after, last, name in self._ranges():
            end = runs[-1].last if runs else 0
            # A smaller number is of a run that another one has replaced.
            if after > end:
                raise Unusable
            if after == end:
                runs.append(self._mapped(name, after, last))
        return runs

    def _ranges(self) -> list[tuple[int, int, str]]:
        if self._folder is None:
            return []
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        matches = [(name, _NAME.fullmatch(name)) for name in names]
        ranges = [
            (int(is_run[1], 16), int(is_run[2], 16), name) for name, is_run in matches if is_run
        ]
        # Of runs that begin together the longest is first.
        return sorted(ranges, key=lambda bounds: (bounds[0], -bounds[1]))

    def _mapped(self, name: str, after: int, last: int) -> Run:
        assert self._folder is not None
        try:
            with open(self._folder / name, "rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise Unusable from error
        words = np.frombuffer(mapped, np.uint64, len(mapped) // 8)
        if len(words) < _HEAD + 2:
            raise Unusable
        magic, key, *bounds, documents = words[:_HEAD].tolist()
        if (magic, key, bounds) != (_MAGIC, self._key, [after, last]):
            raise Unusable
        entries, digest = words[-2:].tolist()
        begin = _HEAD + 2 * documents
        begin += _padding(begin)
        end = begin + entries
        blocks = -(-entries // _core.SHINGLE_BLOCK)
        if len(mapped) != 8 * (end + -(-blocks // 2) + 2):
            raise Unusable
        if digest != _digest(words[:begin], words[end:-1]):
            raise Unusable
        numbers, stamps = words[_HEAD : _HEAD + 2 * documents].view(np.int64).reshape(2, -1)
        fence = words[end:-2].view(np.uint32)[:blocks].copy()
        run = Run(after, last, numbers, stamps, words[begin:end], fence, mapped)
        # A look-up reads one place, and the system would read what is around it too.
        run.advise("MADV_RANDOM")
        return run

    def save(self, run: Run, parts: Iterable[NDArray[np.uint64]] | None = None) -> Run:
        """Write a run and return it mapped; itself if it cannot be written.

        `parts` are its shingles, if they are not in memory.
        """
        if not self.is_writable:
            return run
        assert self._folder is not None
        name = f"{run.after:016x}-{run.last:016x}.run"
        try:
            sink = FileSink(str(self._folder / name), force=True, mode=self._mode)
            try:
                for words in self._words(run, [run.filed] if parts is None else parts):
                    sink.write(words.view(np.uint8).data)  # type: ignore[arg-type]
                sink.finish()
                sink.commit()
            except BaseException:
                sink.abort()
                raise
            # What was written together is cached in large pieces; a look-up would map a whole one.
            if hasattr(os, "posix_fadvise"):
                with open(self._folder / name, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return self._mapped(name, run.after, run.last)
        except (OutputError, OSError, Unusable):
            self.is_writable = False
            return run

    def _words(self, run: Run, parts: Iterable[NDArray[np.uint64]]) -> Iterator[NDArray[np.uint64]]:
        """Yield the words of a file."""
        head = np.array([_MAGIC, self._key, run.after, run.last, len(run.numbers)], np.uint64)
        padding = np.zeros(_padding(_HEAD + 2 * len(run.numbers)), np.uint64)
        columns = run.numbers.view(np.uint64), run.stamps.view(np.uint64)
        begin = np.concatenate([head, *columns, padding])
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

    def tidy(self, runs: Sequence[Run]) -> None:
        """Delete all files but those of these runs. A process that has one mapped keeps it."""
        if not self.is_writable:
            return
        assert self._folder is not None
        kept = {(run.after, run.last) for run in runs}
        names = [name for after, last, name in self._ranges() if (after, last) not in kept]
        # Left by processes that were killed.
        names += [path.name for path in self._folder.glob(".*.run.*.tmp")]
        for name in names:
            # Some systems delete no file that is mapped; a later process tries again.
            with suppress(OSError):
                (self._folder / name).unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder, and let one process at a time write to it."""
        descriptor = None
        if self._folder is not None:
            try:
                self._folder.mkdir(exist_ok=True)
                descriptor = _lock(self._folder)
            except OSError:
                self.is_writable = False
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _lock(folder: Path) -> int | None:
    try:
        import fcntl
    except ImportError:
        # Without such locks two processes may do the same work. Each file is still whole.
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _padding(words: int) -> int:
    """Return how many words there are up to the next page."""
    return -words % _core.SHINGLE_BLOCK


def _digest(*parts: bytes | NDArray[np.uint64]) -> int:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.data)
    return int.from_bytes(digest.digest(), "little")


# All shingles of an index


class StoredShingles(NamedTuple):
    """Runs as one: number and time of the document at each position, and the library."""

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    library: _core.Library


def stored_shingles(
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
    files = engine.database.files
    folder = files[0].with_name(f"{files[0].name}-shingles") if files else None
    mode = files[0].stat().st_mode & 0o666 if files else None
    runs_in = RunFolder(folder, f"{engine.identity} {made_by}", mode)
    present = numbers_and_times(engine)
    runs = _usable(engine, runs_in, present)
    if runs is None or _last(runs) < max(present.numbers[-1:], default=0):
        with runs_in.locked():
            # Another process may have replaced or completed them before this one had the lock.
            runs = _usable(engine, runs_in, present)
            if runs is None:
                progress.note(
                    Message(
                        "{folder}: the sorted shingles are damaged, or of another version or "
                        "index. They are made again.",
                        folder=str(folder),
                    )
                )
                runs = []
            runs, present = _extended(runs, runs_in, engine, made_by, sketch, workers, progress)
    return _joined(runs, present)


def _usable(engine: Engine, folder: RunFolder, present: Present) -> list[Run] | None:
    """Return the runs in files; None if there are any that do not belong to this index."""
    try:
        runs = folder.read()
    except Unusable:
        return None
    filed = np.zeros(len(present.numbers), bool)
    for run in runs:
        _, known, in_run = np.intersect1d(
            present.numbers, run.numbers, assume_unique=True, return_indices=True
        )
        if (present.times[known] != run.stamps[in_run]).any():
            return None
        filed[known] = True
    # Documents are filed in the order of their numbers.
    left_out = present.numbers[~filed & (present.numbers <= _last(runs))]
    with engine.reading() as session:
        query = select(texts.c.number).where(session.is_one_of(texts.c.number)).limit(1)
        is_missing = len(left_out) and session.run(query, left_out.tolist()).first() is not None
    return None if is_missing else runs


def _last(runs: Sequence[Run]) -> int:
    return runs[-1].last if runs else 0


def _is_there(run: Run, present: Present) -> NDArray[np.bool_]:
    """Return which documents of a run are in the index."""
    return np.isin(run.numbers, present.numbers, assume_unique=True)


def _extended(
    runs: list[Run],
    folder: RunFolder,
    engine: Engine,
    made_by: str,
    sketch: Callable[[list[str]], list[bytes]],
    workers: int,
    progress: Progress,
) -> tuple[list[Run], Present]:
    """File the documents after those of the runs; return all runs, and what the index has now."""
    after = _last(runs)
    missing = count_missing(engine, made_by, after)
    if missing:
        progress.stage("library", missing)
        for made in make_missing(engine, made_by, sketch, after):
            progress.advance(made)
    new = []
    for rows in _batches(engine, made_by, after, folder):
        numbers, times, sketches = zip(*rows, strict=True)
        columns = np.array(numbers, np.int64), np.array(times, np.int64)
        filed = _core.file_sketches(sketches, workers=workers)
        new.append(folder.save(Run(after, numbers[-1], *columns, *filed)))
        after = numbers[-1]
    present = numbers_and_times(engine)
    if new:
        runs = _merged([*runs, *new], len(runs), folder, present, workers)
    folder.tidy(runs)
    return runs, present


def _batches(
    engine: Engine, made_by: str, after: int, folder: RunFolder
) -> Iterator[list[tuple[int, int, bytes]]]:
    """Yield numbers, times and shingles of the documents after a number, run by run."""
    rows: list[tuple[int, int, bytes]] = []
    size = 0
    for row in stored(engine, made_by, after):
        rows.append(row)
        size += len(row[2]) // 4
        # What stays in memory is one run: nothing is gained by several.
        if size >= _TOGETHER and folder.is_writable:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _merged(
    runs: list[Run], old: int, folder: RunFolder, present: Present, workers: int
) -> list[Run]:
    """Merge the runs after the first `old` ones with each other, and with as many as they have."""
    live = [np.count_nonzero(_is_there(run, present)) for run in runs]
    begin = old
    while begin and live[begin - 1] <= sum(live[begin:]):
        begin -= 1
    last_runs = runs[begin:]
    if len(last_runs) == 1 or not folder.is_writable:
        return runs
    joined = _joined(last_runs, present)
    nothing = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
    run = Run(last_runs[0].after, last_runs[-1].last, joined.numbers, joined.times, *nothing)
    saved = folder.save(run, _parts(joined.library, last_runs, workers))
    if folder.is_writable:
        return [*runs[:begin], saved]
    return runs


def _parts(
    library: _core.Library, runs: Sequence[Run], workers: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield the shingles of all runs together, part by part."""
    for run in runs:
        run.advise("MADV_SEQUENTIAL")
    begin: int | None = 0
    while begin is not None:
        part, begin = library.merged(begin, most=_MERGED, workers=workers)
        yield part
        # What has been read would count as memory of this process.
        for run in runs:
            run.advise("MADV_DONTNEED")
    # They remain in use if the merged run cannot be written.
    for run in runs:
        run.advise("MADV_RANDOM")


def _joined(runs: Sequence[Run], present: Present) -> StoredShingles:
    """Return the documents of runs that are in the index."""
    numbers, times = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    parts = []
    count = 0
    for run in runs:
        is_there = _is_there(run, present)
        positions = np.where(is_there, count - 1 + np.cumsum(is_there), GONE)
        parts.append((run.filed, run.fence, positions.astype(np.uint32)))
        numbers.append(run.numbers[is_there])
        times.append(run.stamps[is_there])
        count += len(numbers[-1])
    return StoredShingles(np.concatenate(numbers), np.concatenate(times), _core.Library(parts))
