"""The first import: the documents of an empty index, decided as `dedup` decides a collection.

All of them are sketched and counted in memory before the first one is decided. The counts include
texts that are then refused because another text has their id. Nothing is looked up in the database.
The columns of the documents wait in a temporary file. Then they are written in transactions of tens
of thousands of rows. As for any addition, a document is acknowledged when its transaction has
ended. If another process adds documents in between, the rest is added batch by batch, as for every
later addition. So are all documents if there is a window, or if one replaces another.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import zstandard
from numpy.typing import NDArray

from neardup.base.arrays import texts_array
from neardup.base.files import writing_temporary_files
from neardup.base.lazy import _core
from neardup.base.memory import check_memory, memory_of
from neardup.base.messages import N_
from neardup.base.progress import Progress
from neardup.index.background import store
from neardup.index.decide import Decider, Verdicts, read_identities
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.ingest.transaction import add_batch, explain_taken_id, has_documents
from neardup.index.ingest.write import log_decisions, write
from neardup.index.results import Decision, Match
from neardup.readers import Batch, Problem
from neardup.readers.batch import Run
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable
from neardup.recipe.decisions import Decisions

if TYPE_CHECKING:
    from neardup.index.engine import Engine

#: Documents per transaction, in whole batches.
_WRITTEN = 20_000

#: Memory of a kept document while the lists of its keys are filled, for which a quarter is used.
_LISTED = 2000

#: In place of the next number: other documents have been added, or must be.
_OTHERS = -1

#: What became of the documents of a batch: its runs, its first row in them, and the decisions.
Stored = tuple[list[Run], int, list[Decision | None]]


def import_first_documents(
    engine: Engine,
    batches: Iterable[IncomingBatch],
    within: timedelta | None,
    report: Callable[[Sequence[Problem]], None],
    progress: Progress,
) -> Iterator[Stored]:
    """Add all documents to an empty index; yield what became of each batch once it is stored."""
    with tempfile.TemporaryFile() as file:
        waiting = _StoredBatches(file)
        with writing_temporary_files(N_("{fact} Set TMPDIR to a folder with more space.")):
            corpus = _sketch(engine, waiting, batches, report, progress)
            decided = None
            if within is None and not waiting.replace_others():
                progress.stage("candidates, verify, cluster", len(corpus))
                decided = _ImportDecisions(engine, corpus, waiting.ids, progress)
        if decided is None and engine.settings.counts and len(corpus):
            with engine.writing() as session:
                counters = session.statistics.read_counters()
                if not has_documents(counters):
                    store(session, corpus, counted_at=counters["arrived"] + len(corpus))
        progress.stage("add", len(corpus))
        yield from _write(engine, decided, waiting, within, progress)


class _StoredBatches:
    """The stored columns of the documents, batch by batch in a file; their ids are in memory."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.ids: list[str] = []
        #: Runs, first row in them, and length of each batch.
        self.places: list[tuple[list[Run], int, int]] = []
        self._replaces = False

    def append(self, batch: IncomingBatch) -> None:
        """Add a batch."""
        titles = [None] * len(batch) if batch.titles is None else batch.titles.to_pylist()
        self._replaces |= any(batch.replaces)
        columns = (titles, batch.times, batch.sources, batch.extras, batch.replaces, batch.packed)
        pickle.dump(columns, self._file, pickle.HIGHEST_PROTOCOL)
        self.ids += batch.ids
        self.places.append((batch.runs, batch.begin, len(batch)))

    def replace_others(self) -> bool:
        """Return whether documents replace others, which have their ids."""
        return self._replaces and len(set(self.ids)) < len(self.ids)

    def read_columns(self) -> Iterator[tuple[list[Any], ...]]:
        """Yield each batch: titles, times, sources, further fields, `replaces`, packed texts."""
        self._file.seek(0)
        for _ in self.places:
            yield pickle.load(self._file)


def _sketch(
    engine: Engine,
    waiting: _StoredBatches,
    batches: Iterable[IncomingBatch],
    report: Callable[[Sequence[Problem]], None],
    progress: Progress,
) -> _core.Corpus:
    rule, recipe = engine.rule, engine.settings.recipe
    corpus = _core.Corpus(
        compiled(recipe),
        keeps_texts=rule.keeps_texts,
        shingle=rule.counted_shingle,
        workers=engine.workers,
        memory=memory_of(check_memory(None), None, sketches=False),
    )
    for batch in batches:
        report(batch.problems)
        corpus.push(batch.texts, titles=batch.titles, units=batch.units)
        waiting.append(batch)
        progress.advance(0, batch.bytes_read)
    corpus.finish()
    return corpus


class _ImportDecisions:
    """The documents of a first import, by their rows in the corpus, and the decisions on them."""

    def __init__(
        self, engine: Engine, corpus: _core.Corpus, ids: list[str], progress: Progress
    ) -> None:
        self.corpus, self.ids = corpus, ids
        self.background = _core.Background(corpus) if engine.settings.counts else None
        self.decider = Decider(engine.settings, self.background)
        self.filing = self.decider.make_empty_lists()
        count = len(ids)
        #: The earlier document with the same id; itself if there is none, -1 without a text.
        self.first_with_id = np.full(count, -1, np.int64)
        first: dict[str, int] = {}
        for row in np.flatnonzero(corpus.features() >= 0).tolist():
            self.first_with_id[row] = first.setdefault(ids[row], row)
        is_new = self.first_with_id == np.arange(count)
        order = np.flatnonzero(is_new).astype(np.uint32)
        # Documents after these are added batch by batch, which takes little memory.
        order = order[: check_memory(None) // 4 // _LISTED]
        #: The row after the last one that is decided here.
        self.end = count if len(order) == is_new.sum() else int(order[-1]) + 1
        #: The numbers of the documents that are stored.
        self.numbers = np.zeros(count, np.int64)
        clusterer, decided = _core.Clusterer(corpus, self.decider.rule), Decisions(count)
        # A document is done once it is stored.
        decided.decide(clusterer, corpus, order, lambda _: progress.advance(0))
        self.columns = decided.columns()
        self._identities = read_identities(corpus)

    def make_matches(self, rows: NDArray[np.int64]) -> list[Match | None]:
        """Return what some documents repeat."""
        return self.decider.make_matches([column[rows] for column in self.columns], self.ids)

    def make_decisions(self, begin: int, end: int) -> list[Decision | None]:
        """Return what became of a range of documents; None for one without a text."""
        firsts = self.first_with_id[begin:end]
        decisions: list[Decision | None] = []
        rows = zip(range(begin, end), firsts.tolist(), self.make_matches(firsts), strict=True)
        for row, first, match in rows:
            id = self.ids[row]
            if first < 0:
                decisions.append(None)
            elif self._identities[first] != self._identities[row]:
                decisions.append(Decision(id, False, None, explain_taken_id(id)))
            else:
                decisions.append(Decision(id, first == row, match, None))
        return decisions

    def make_verdicts(self, rows: NDArray[np.int64], first: int) -> Verdicts:
        """Return the decisions on new documents that get the numbers from `first` on."""
        self.numbers[rows] = np.arange(first, first + len(rows))
        kept_for = self.columns[0][rows]
        kept = rows[kept_for < 0]
        before = self.filing.skipped_documents()
        postings = self.decider.file(self.filing, self.corpus, kept, self.numbers[kept])
        numbers = self.numbers[kept_for].tolist()
        return Verdicts(
            self.make_matches(rows),
            [
                None if row < 0 else number
                for row, number in zip(kept_for.tolist(), numbers, strict=True)
            ],
            postings,
            self.filing.skipped_documents() - before,
        )


def _write(
    engine: Engine,
    decided: _ImportDecisions | None,
    waiting: _StoredBatches,
    within: timedelta | None,
    progress: Progress,
) -> Iterator[Stored]:
    """Write all documents in large transactions, as long as nobody else adds any."""
    next_number: int | None = None
    decided_end = 0 if decided is None else decided.end
    group: list[tuple[list[Any], ...]] = []
    begin = end = done = 0
    for number, columns in enumerate(waiting.read_columns()):
        group.append(columns)
        end += waiting.places[number][2]
        is_last = number + 1 == len(waiting.places)
        if end - begin < _WRITTEN and end < decided_end and not is_last:
            continue
        batch = _join_batches(engine, waiting.ids[begin:end], group)
        writer = None if next_number == _OTHERS else decided
        if writer is not None:
            next_number = _write_group(engine, writer, batch, begin, next_number)
        if writer is not None and next_number != _OTHERS:
            progress.advance(len(batch))
        else:
            writer, batch = None, _restore_texts(engine, batch)
        at = 0
        for runs, first, count in waiting.places[done : number + 1]:
            if writer is not None:
                yield runs, first, writer.make_decisions(begin + at, begin + at + count)
            else:
                part = batch.slice(at, at + count)
                yield runs, first, add_batch(engine, part, within, progress.advance)
            at += count
        begin, done, group = end, number + 1, []


def _join_batches(
    engine: Engine, ids: list[str], group: Sequence[tuple[list[Any], ...]]
) -> IncomingBatch:
    """Return batches that waited as one, without texts."""
    titles, times, sources, extras, replaces, packed = (
        [value for part in column for value in part] for column in zip(*group, strict=True)
    )
    batch = IncomingBatch(
        engine,
        ids=ids,
        texts=pa.nulls(len(times), pa.large_string()),
        units=None,
        titles=texts_array(titles),
        times=times,
        sources=sources,
        extras=extras,
        replaces=replaces,
    )
    batch.packed = packed
    return batch


def _write_group(
    engine: Engine,
    decided: _ImportDecisions,
    batch: IncomingBatch,
    begin: int,
    next_number: int | None,
) -> int:
    """Write the new documents of a batch; return the next number.

    `next_number` is None in the first transaction. If others have added documents, nothing is
    written, and `_OTHERS` is returned; likewise if some of the batch are not decided.
    """
    end = begin + len(batch)
    if end > decided.end:
        return _OTHERS
    with engine.writing() as session:
        counters = session.statistics.read_counters()
        if next_number is None and not has_documents(counters):
            if decided.background is not None:
                store(session, decided.corpus, counted_at=counters["arrived"] + len(decided.ids))
        elif counters["next"] != next_number:
            return _OTHERS
        new = np.flatnonzero(decided.first_with_id[begin:end] == np.arange(begin, end))
        rows: list[int] = new.tolist()
        verdicts = decided.make_verdicts(new + begin, counters["next"])
        columns = [pa.array(column).to_pylist() for column in decided.corpus.rows(begin, end)]
        batch.sketches = columns[0], columns[1], columns[2]
        write(session, batch, rows, counters, verdicts)
        session.statistics.count({"arrived": len(rows)})
    ids = [batch.ids[row] for row in rows]
    log_decisions(engine.location, list(zip(ids, verdicts.matches, strict=True)))
    return counters["next"] + len(rows)


def _restore_texts(engine: Engine, batch: IncomingBatch) -> IncomingBatch:
    """Return a batch with its texts, to be added to an index that has documents."""
    unpack = zstandard.ZstdDecompressor().decompress
    texts = [unpack(packed).decode() if packed else None for packed in batch.packed]
    column, recipe = pa.array(texts, pa.large_string()), engine.settings.recipe
    stored = Batch(column, pa.array(batch.ids, pa.large_string()))
    batch.texts, batch.units, _ = readable(stored, recipe, compiled(recipe))
    return batch
