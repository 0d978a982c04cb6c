"""The stages of a run, from reading to decisions, that all tasks use."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from neardup.base.memory import memory_of
from neardup.base.messages import Message, system_words
from neardup.base.priority import criteria_of, fields_of, priority_order
from neardup.base.progress import Clock, Progress, check_progress, peak_memory, share_of
from neardup.exceptions import OutputError
from neardup.readers.batch import stopped
from neardup.recipe.assets import compiled
from neardup.recipe.rule import Rule
from neardup.run.collected import Collected
from neardup.run.id_spool import Ids
from neardup.run.ingest import collect
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import (
    SavedSketches,
    attach_sketches,
    documents,
    write_sketches,
)
from neardup.run.summary import Summary, template_notes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.readers import Batch
    from neardup.run.checkpoint import Work

#: Documents that a clusterer decides together; Ctrl-C is checked between them.
_STEP = 1024

SKETCHES, CANDIDATES, KEPT = "sketches", "candidates", "kept"
"""Stages of a work folder, named like the last stage of the pipeline that each completes."""

# Files of a work folder: Arrow IPC, and one that is there only while documents are read.
_SKETCHES, _KEPT, _IDS = "sketches.arrow", "kept.arrow", "ids.part"

#: Memory of a pair: its columns, twice while they are sorted, and its row of the result.
_PAIR_BYTES = 72

#: Counts that are stored with the decisions.
_COUNTS = (
    "visited",
    "candidates",
    "verified",
    "closed_lists",
    "unlisted",
    "unlisted_pairs",
    "largest_form",
)


class Pipeline:
    """The stages of one run, in memory or in a work folder.

    Parameters
    ----------
    options : RunOptions
    progress : Progress or None, default=None
    work : Work or None, default=None
        The work folder that stores the stages and from which they are resumed.
    """

    def __init__(
        self, options: RunOptions, progress: Progress | None = None, work: Work | None = None
    ) -> None:
        self.options = options
        self.progress = check_progress(progress)
        self.work = work
        self.clock = Clock()

    @property
    def rule(self) -> Rule:
        """The definition of a duplicate."""
        assert self.options.rule is not None, "this task compares"
        return self.options.rule

    @contextlib.contextmanager
    def out_of_room(self) -> Iterator[None]:
        """Turn errors of temporary files into an error that tells where space is needed."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _no_room(error, self.work) from error

    def read(
        self, source: Any, against: Any = None, *, looks_up: bool = False, saves: bool = False
    ) -> Collected:
        """Read, normalize, segment, weigh and sketch all documents, or restore them from a run.

        Parameters
        ----------
        source : Sources or TableSource
        against : Sources, TableSource, StoredTexts, SavedSketches or None, default=None
            Documents that come first and are kept in any case.
        looks_up : bool, default=False
            Whether documents are only looked up in priority order, so that sketches may
            be stored in files.
        saves : bool, default=False
            Whether all is kept that a later run needs to be compared with these documents.
        """
        options, work, rule = self.options, self.work, self.options.rule
        memory = memory_of(
            options.memory,
            None if work is None else work.folder,
            sketches=looks_up and rule is not None and rule.leaves_memory,
        )
        if work is not None and work.has(SKETCHES):
            collected = self._recalled(source, against, work, memory)
        else:
            path = None
            if work is not None:
                work.forget((CANDIDATES, KEPT))
                path = work.folder / _IDS
            collected = collect(
                source.batches(titles=options.reads_titles),
                options.recipe,
                against=self._batches(against),
                keeps_texts=saves or (rule is not None and rule.keeps_texts),
                keeps_counts=saves,
                counted_shingle=None if rule is None else rule.counted_shingle,
                workers=options.workers,
                value_fields=fields_of(options.priority),
                lengths=any(one.kind == "longest" for one in criteria_of(options.priority)),
                title_from_first_line=options.title_from_first_line,
                stop_on_error=options.on_error == "stop",
                memory=memory,
                ids=Ids(options.memory // 32, path),
                progress=self.progress,
                share=share_of(against, source),
            )
            collected.order = _order(options.priority, collected)
            # These were collected only for the order.
            collected.lengths, collected.values = [], {}
            if work is not None:
                self._leave(source, against, collected, work)
        self.clock.lap("read and sketch")
        return collected

    def _batches(self, against: Any) -> Iterable[Batch] | SavedSketches:
        """Return the documents of another collection, as `collect` takes them."""
        if against is None or isinstance(against, SavedSketches):
            return against or ()
        batches: Iterable[Batch] = against.batches(titles=self.options.reads_titles)
        return batches

    def _leave(self, source: Any, against: Any, collected: Collected, work: Work) -> None:
        """Store the ingested documents in the work folder."""
        collected.corpus.save()
        path = work.folder / _SKETCHES
        write_sketches(path, collected)
        collected.ids = Ids.stored(path)
        (work.folder / _IDS).unlink(missing_ok=True)
        said = {
            "frequencies": collected.corpus.frequencies_digest(),
            "problems": [problem.to_dict() for problem in collected.problems],
            "problem_count": collected.problem_count,
            "bytes_read": collected.bytes_read,
            "source": source.found(),
        }
        if against is not None:
            said["against"] = {"documents": collected.against, "source": against.found()}
        work.complete(SKETCHES, said, (_SKETCHES,))

    def _recalled(self, source: Any, against: Any, work: Work, memory: _core.Memory) -> Collected:
        """Return the documents that an earlier run has ingested."""
        from neardup import _core
        from neardup.readers import Problem

        options = self.options
        said, path = work.said(SKETCHES), work.folder / _SKETCHES
        core = compiled(options.recipe)
        with work.recalling():
            corpus = _core.Corpus.open(
                core,
                workers=options.workers,
                memory=memory,
                documents=documents(path),
                has_counted=options.rule is not None and options.rule.counted_shingle is not None,
                digest=said["frequencies"],
            )
            order = attach_sketches(path, corpus)
        collected = Collected(
            options.recipe,
            corpus,
            ids=Ids.stored(path),
            order=order,
            problems=[Problem.from_dict(one) for one in said["problems"]],
            problem_count=said["problem_count"],
            bytes_read=said["bytes_read"],
        )
        if options.on_error == "stop" and collected.problems:
            # The earlier run continued after problems.
            raise stopped(collected.problems[0])
        source.recall(said["source"])
        if against is not None:
            against.recall(said["against"]["source"])
            collected.against = said["against"]["documents"]
        self.progress.note(Message("runs.goes_on", folder=str(work.folder), count=len(corpus)))
        for problem in collected.problems:
            self.progress.problem(problem)
        return collected

    def decide(self, collected: Collected) -> Decided:
        """Apply the rule to all documents, in priority order."""
        import numpy as np

        work, order = self.work, collected.order
        if work is not None and work.has(KEPT):
            work.said(KEPT)
            self.progress.note(Message("runs.all_decided"))
            return Decided.from_table(work.table(_KEPT))
        corpus = collected.corpus
        clusterer = self._clusterer(corpus, self.rule.compiled(len(corpus)), order)
        count = len(corpus)
        decided = Decided(
            kept_for=np.full(count, -1, np.int64),
            similarity=np.zeros(count),
            distance=np.full(count, -1, np.int32),
            identical=np.zeros(count, np.bool_),
        )
        self.progress.stage("candidates, verify, cluster", len(order))
        first = int((order < collected.against).sum())
        for begin in range(0, first, _STEP):
            step = order[begin : min(begin + _STEP, first)]
            clusterer.file(corpus, step)
            self.progress.advance(len(step))
        for begin in range(first, len(order), _STEP):
            step = order[begin : begin + _STEP]
            (
                decided.kept_for[step],
                decided.similarity[step],
                decided.distance[step],
                decided.identical[step],
            ) = clusterer.decide(corpus, step, files=not self.options.against_only)
            self.progress.advance(len(step))
        decided.counts = dict(zip(_COUNTS, clusterer.statistics(), strict=True))
        if work is not None:
            work.leave_table(_KEPT, decided.to_table())
            work.complete(KEPT, {}, (_KEPT,))
        return decided

    def _clusterer(
        self, corpus: _core.Corpus, rule: _core.Rule, order: NDArray[np.uint32]
    ) -> _core.Clusterer:
        from neardup import _core

        work = self.work
        if not corpus.is_outside():
            return _core.Clusterer(corpus, rule)
        if work is not None and work.has(CANDIDATES):
            self.progress.note(Message("runs.keys_joined"))
            work.said(CANDIDATES)
            with work.recalling():
                join = _core.ExternalJoin.open(rule, work.folder)
        else:
            self.progress.stage("join keys", None)
            join = _core.ExternalJoin(corpus, rule, order)
            while join.advance(corpus):
                # Ctrl-C is checked after each part.
                self.progress.advance(0)
            if work is not None:
                work.complete(CANDIDATES, {})
        self.clock.lap("join keys")
        return _core.Clusterer.joined(corpus, rule, join, order)

    def pairs(
        self, collected: Collected, *, across: bool = False
    ) -> tuple[tuple[NDArray[Any], ...], dict[str, int]]:
        """Return all verified pairs, and counts of the search by their names in the summary.

        The pairs are columns: the earlier document, the later one, similarity, and distance
        in bits, -1 if a text has no fingerprint; sorted by both documents. `across` two
        collections, the first of each pair is of the input and the second of the other one.
        """
        import numpy as np

        from neardup import _core

        self.progress.stage("candidates, verify", None)
        corpus = collected.corpus
        others = collected.against if across else None
        search = _core.PairSearch(
            corpus,
            self.rule.compiled(len(corpus)),
            others=others,
            max_pairs=self.options.memory // _PAIR_BYTES,
        )
        # In pieces, so that Ctrl-C is checked between them.
        pieces = list(iter(lambda: search.next_piece(corpus), None))
        kinds = (np.uint32, np.uint32, np.float64, np.int32)
        columns = [
            np.concatenate([piece[at] for piece in pieces]) if pieces else np.zeros(0, kind)
            for at, kind in enumerate(kinds)
        ]
        if across:
            columns[:2] = columns[1::-1]
        order = np.lexsort((columns[1], columns[0]))
        counts = dict(zip(_COUNTS, search.statistics(), strict=True))
        return tuple(column[order] for column in columns), counts

    def summary(self, task: str, collected: Collected, **counts: Any) -> Summary:
        """Return the summary so far, with the counts of the task."""
        features = collected.features()[collected.against :]
        summary = Summary(
            task=task,
            read=len(features),
            against=collected.against,
            unreadable=int((features < 0).sum()),
            problems=collected.problem_count,
            without_features=int((features == 0).sum()),
            bytes_read=collected.bytes_read,
            **counts,
        )
        self.measure(summary)
        for note in template_notes(summary):
            self.progress.note(note)
        return summary

    def measure(self, summary: Summary) -> None:
        """Set the time and the memory used so far in a summary."""
        summary.seconds, summary.peak_memory = self.clock.seconds(), peak_memory()
        summary.stages = self.clock.stages


def _order(priority: str, collected: Collected) -> NDArray[np.uint32]:
    """Return the readable documents in the order in which they are decided."""
    import numpy as np

    readable, against = collected.features() >= 0, collected.against
    own = priority_order(priority, readable[against:], collected.lengths, collected.values)
    if not against:
        return own
    first = np.flatnonzero(readable[:against]).astype(np.uint32)
    return np.concatenate([first, own + np.uint32(against)])


def _no_room(error: OSError, work: Work | None) -> OutputError:
    """Return the error of a full disk, with a remedy."""
    if isinstance(error, OutputError):
        fact = error.args[0]
    else:
        fact = Message("runs.cannot_keep", reason=system_words(error))
    if work is None:
        return OutputError(Message("runs.room_elsewhere", fact=fact))
    return OutputError(Message("runs.room_in_work", fact=fact, folder=str(work.folder)))


@dataclasses.dataclass
class Decided:
    """The decision on each document, by its number.

    Parameters
    ----------
    kept_for : ndarray of int64
        The kept document that it duplicates; -1 for a kept document.
    similarity : ndarray of float64
    distance : ndarray of int32
        In bits; -1 if a text has no fingerprint.
    identical : ndarray of bool
        Whether the texts are equal.
    counts : dict of str to int
        Counts of the search by their names in :class:`neardup.run.summary.Summary`.
    """

    kept_for: NDArray[np.int64]
    similarity: NDArray[np.float64]
    distance: NDArray[np.int32]
    identical: NDArray[np.bool_]
    counts: dict[str, int] = dataclasses.field(default_factory=dict)

    def to_table(self) -> pa.Table:
        """Return a row for each document, with the counts as metadata."""
        import pyarrow as pa

        columns = vars(self).copy()
        counts = columns.pop("counts")
        metadata = {name: str(count) for name, count in counts.items()}
        return pa.table(columns).replace_schema_metadata(metadata)

    @classmethod
    def from_table(cls, table: pa.Table) -> Decided:
        """Return the decisions of a result of `to_table`."""
        columns: dict[str, Any] = {
            name: table.column(name).to_numpy() for name in table.column_names
        }
        counts = {name: int((table.schema.metadata or {})[name.encode()]) for name in _COUNTS}
        return cls(**columns, counts=counts)
