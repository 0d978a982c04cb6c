"""Runs of sorted shingles in files beside an index, mapped into memory.

A run has the shingles of the documents whose numbers are in a range. Files are derived from the
table `passages`, and never changed: new documents are a new run, and several runs are replaced by
one that covers them. The file of each run is a number of 64-bit words:

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

The key depends on the index and on how its shingles are made. The times reveal files of another
state of the index, such as that before a backup was restored. Shingles have no digest, since a
check reads few of them: a wrong one hides a document from some papers, or brings one that is then
compared in vain.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.exceptions import OutputError
from neardup.writers.sink import FileSink

__all__ = ["Run", "RunFolder", "Unusable"]

#: Begins each file; also tells a machine with the other order of bytes. Changes with the format.
_MAGIC = int.from_bytes(b"NDshing1", "little")

_HEAD = 5
_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.run")


class Unusable(Exception):
    """The files are damaged, incomplete or of another index, version or machine."""


@dataclass(frozen=True, eq=False)
class Run:
    """The shingles of the documents with numbers in (`after`, `last`], in memory or mapped.

    Parameters
    ----------
    after, last : int
    numbers : array of int64
        The documents.
    stamps : array of int64
        When each was added.
    filed, fence : array of uint64, array of uint32
        See `neardup._core.file_sketches`. Only the fence is read into memory.
    mapped : mmap or None, default=None
        The file.
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
    """The folder with the runs of one index.

    Parameters
    ----------
    folder : Path or None
        None if the index is not a file: then every run stays in memory.
    made_by : str
        How shingles are made, and of which index.
    mode : int or None, default=None
        Permissions of the files.

    Attributes
    ----------
    is_writable : bool
        False once a file could not be written.
    """

    def __init__(self, folder: Path | None, made_by: str, mode: int | None = None) -> None:
        self._folder = folder
        self._key = _digest(made_by.encode())
        self._mode = mode
        self.is_writable = folder is not None

    def read(self) -> list[Run]:
        """Return the runs, ordered by number, without gaps.

        Raises
        ------
        Unusable
            If any of them is.
        """
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
        found = [(name, _NAME.fullmatch(name)) for name in names]
        ranges = [
            (int(is_run[1], 16), int(is_run[2], 16), name) for name, is_run in found if is_run
        ]
        # Of runs that begin together the longest is first.
        return sorted(ranges, key=lambda one: (one[0], -one[1]))

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
