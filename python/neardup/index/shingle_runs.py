"""The shingles of an index as a library for paper checks, kept up to date in files.

The files are those of `shingle_files`. Only documents without a file are read from the database.
Runs are merged by the logarithmic method (Bentley and Saxe, 1980): a run is merged with those after
it when they have as many documents together. So there are few runs, and each shingle is written
a few times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.base.messages import Message
from neardup.index import passages
from neardup.index.shingle_files import Run, RunFolder, Unusable

if TYPE_CHECKING:
    from neardup.base.progress import Progress
    from neardup.index.engine import Engine

__all__ = ["GONE", "StoredShingles", "stored_shingles"]

#: Position of a document that is no longer in the index.
GONE = 2**32 - 1

#: Shingles that are sorted together: 128 MB. What is beyond goes into another file.
_TOGETHER = 1 << 24

#: Shingles that are merged together.
_MERGED = 1 << 22


class StoredShingles(NamedTuple):
    """The shingles of all documents of an index.

    Parameters
    ----------
    numbers : array of int64
        The number in the index of the document at each position.
    library : Library
    """

    numbers: NDArray[np.int64]
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

    Parameters
    ----------
    engine : Engine
    made_by : str
        How `sketch` makes shingles. Shingles made in another way are made again.
    sketch : callable
        Returns the shingles of texts.
    workers : int
        Threads.
    progress : Progress
    """
    files, mode = engine.database.files(), None
    folder = None
    if files:
        folder, mode = files[0].with_name(f"{files[0].name}-shingles"), files[0].stat().st_mode
    runs_in = RunFolder(
        folder, f"{engine.identity} {made_by}", None if mode is None else mode & 0o666
    )
    there = passages.numbers_and_times(engine)
    runs = _usable(engine, runs_in, there)
    if runs is None or _last(runs) < max(there.numbers[-1:], default=0):
        with runs_in.locked():
            # Another process may have replaced or completed them before this one had the lock.
            runs = _usable(engine, runs_in, there)
            if runs is None:
                progress.note(Message("papers.shingles_made_again", folder=str(folder)))
                runs = []
            runs, there = _extended(runs, runs_in, engine, made_by, sketch, workers, progress)
    joined = _joined(runs, there)
    return StoredShingles(joined.numbers, joined.library)


def _usable(engine: Engine, folder: RunFolder, there: passages.Present) -> list[Run] | None:
    """Return the runs in files; None if there are any that do not belong to this index."""
    try:
        runs = folder.read()
    except Unusable:
        return None
    filed = np.zeros(len(there.numbers), bool)
    for run in runs:
        at = np.searchsorted(there.numbers, run.numbers)
        is_there = _is_there(run, there)
        at = at[is_there]
        if (there.times[at] != run.stamps[is_there]).any():
            return None
        filed[at] = True
    # Documents are filed in the order of their numbers.
    left_out = there.numbers[~filed & (there.numbers <= _last(runs))]
    return None if passages.any_has_text(engine, left_out.tolist()) else runs


def _last(runs: Sequence[Run]) -> int:
    return runs[-1].last if runs else 0


def _is_there(run: Run, there: passages.Present) -> NDArray[np.bool_]:
    """Return which documents of a run are in the index."""
    at = np.searchsorted(there.numbers, run.numbers)
    is_there = at < len(there.numbers)
    is_there[is_there] = there.numbers[at[is_there]] == run.numbers[is_there]
    return is_there


def _extended(
    runs: list[Run],
    folder: RunFolder,
    engine: Engine,
    made_by: str,
    sketch: Callable[[list[str]], list[bytes]],
    workers: int,
    progress: Progress,
) -> tuple[list[Run], passages.Present]:
    """File the documents after those of the runs; return all runs, and what the index has now."""
    after = _last(runs)
    missing = passages.count_missing(engine, made_by, after)
    if missing:
        progress.stage("library", missing)
        for made in passages.make_missing(engine, made_by, sketch, after):
            progress.advance(made)
    new = []
    for numbers, times, sketches in _batches(engine, made_by, after, folder):
        columns = np.array(numbers, np.int64), np.array(times, np.int64)
        filed = _core.file_sketches(sketches, workers=workers)
        new.append(folder.save(Run(after, numbers[-1], *columns, *filed)))
        after = numbers[-1]
    there = passages.numbers_and_times(engine)
    if new:
        runs = _merged([*runs, *new], len(runs), folder, there, workers)
    folder.tidy(runs)
    return runs, there


def _batches(
    engine: Engine, made_by: str, after: int, folder: RunFolder
) -> Iterator[tuple[list[int], list[int], list[bytes]]]:
    """Yield numbers, times and shingles of the documents after a number."""
    numbers: list[int] = []
    times: list[int] = []
    sketches: list[bytes] = []
    size = 0
    for some_numbers, some_times, some_sketches in passages.stored(engine, made_by, after):
        numbers += some_numbers
        times += some_times
        sketches += some_sketches
        size += sum(map(len, some_sketches)) // 4
        # What stays in memory is one run: nothing is gained by several.
        if size >= _TOGETHER and folder.is_writable:
            yield numbers, times, sketches
            numbers, times, sketches, size = [], [], [], 0
    if numbers:
        yield numbers, times, sketches


def _merged(
    runs: list[Run], old: int, folder: RunFolder, there: passages.Present, workers: int
) -> list[Run]:
    """Merge the runs after the first `old` ones with each other, and with as many as they have."""
    live = [np.count_nonzero(_is_there(run, there)) for run in runs]
    begin = old
    while begin and live[begin - 1] <= sum(live[begin:]):
        begin -= 1
    some = runs[begin:]
    if len(some) == 1 or not folder.is_writable:
        return runs
    joined = _joined(some, there)
    nothing = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
    run = Run(some[0].after, some[-1].last, joined.numbers, joined.times, *nothing)
    saved = folder.save(run, _parts(joined.library, some, workers))
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


class _Joined(NamedTuple):
    """Runs as one: number and time of the document at each position, and the library."""

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    library: _core.Library


def _joined(runs: Sequence[Run], there: passages.Present) -> _Joined:
    """Return the documents of runs that are in the index."""
    numbers, times = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    parts = []
    count = 0
    for run in runs:
        is_there = _is_there(run, there)
        positions = np.where(is_there, count - 1 + np.cumsum(is_there), GONE)
        parts.append((run.filed, run.fence, positions.astype(np.uint32)))
        numbers.append(run.numbers[is_there])
        times.append(run.stamps[is_there])
        count += len(numbers[-1])
    return _Joined(np.concatenate(numbers), np.concatenate(times), _core.Library(parts))
