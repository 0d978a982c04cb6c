"""One run of the rule over some input: read, decide, say what was done."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine.memory import check_memory, memory_of
from neardup._engine.messages import Message, system_words
from neardup._engine.summary import Clock, Summary, crowd_notes, peak_memory
from neardup._engine.validation import check_choice, check_flag, check_workers
from neardup.dedup import DedupResult
from neardup.exceptions import OutputError
from neardup.plan import Rule, plan_of, rule
from neardup.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup import _core
    from neardup._engine.checkpoint import Work
    from neardup._engine.ingest import Collected, Progress

#: Documents decided between two looks at Ctrl-C; a keeper decides so many together.
_STEP = 1024

READ, JOINED, DECIDED = "read", "joined", "decided"
"""Stages that a work folder knows."""


class Run:
    """One run of the rule over some input, in memory or in files."""

    def __init__(
        self,
        *,
        recipe: Recipe,
        threshold: float | None,
        max_distance: int | None,
        priority: str,
        on_error: str,
        title_from_first_line: bool,
        workers: int,
        memory: int | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        from neardup._engine.ingest import ON_ERROR, Progress

        check_choice(on_error, "on_error", ON_ERROR)
        check_flag(title_from_first_line, "title_from_first_line")
        self.recipe = recipe
        self.rule: Rule = rule(recipe, threshold=threshold, max_distance=max_distance)
        self.priority = priority
        self.on_error = on_error
        self.title_from_first_line = title_from_first_line
        self.workers = check_workers(workers)
        self.memory = check_memory(memory)
        self.progress = progress or Progress()
        self.clock = Clock()
        self.recipe_id = recipe.id

    def settings(self) -> dict[str, Any]:
        """What the decisions depend on beside the input."""
        from neardup import __version__

        rule = dataclasses.asdict(self.rule)
        return {
            "version": __version__,
            "recipe": self.recipe.id,
            "threshold": rule.pop("threshold"),
            "max_distance": rule.pop("max_distance"),
            "rule": rule,
            "priority": self.priority,
            "title_from_first_line": self.title_from_first_line,
        }

    def decide(self, source: Any, work: Work | None = None) -> DedupResult:
        """Read `source` and decide every document, going on where `work` ended."""
        memory = memory_of(self.memory, self.rule, None if work is None else work.folder)
        try:
            if work is not None and work.has(READ):
                collected, order = self._recalled(source, work, memory)
            else:
                collected, order = self._read(source, work, memory)
            self.clock.lap("read and sketch")
            self.recipe_id = collected.recipe_id()
            decided = self._decided(collected, order, work)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _no_room(error, work) from error
        result = self._result(collected, decided)
        self.clock.lap("candidates, verify, cluster")
        result.summary.seconds = self.clock.seconds()
        result.summary.peak_memory = peak_memory()
        result.summary.stages = self.clock.stages
        return result

    def _read(
        self, source: Any, work: Work | None, memory: _core.Memory
    ) -> tuple[Collected, NDArray[np.uint32]]:
        import numpy as np

        from neardup._engine.id_spool import Ids
        from neardup._engine.ingest import collect, priority_field, priority_order

        path = None
        if work is not None:
            work.forget((JOINED, DECIDED))
            path = work.folder / "ids.arrow"
        collected = collect(
            source.batches(titles=self.recipe.weigh.scheme == "improved"),
            self.recipe,
            keeps_texts=self.rule.keeps_texts,
            counted_shingle=self.rule.counted_shingle,
            workers=self.workers,
            value_field=priority_field(self.priority),
            lengths=self.priority == "longest",
            title_from_first_line=self.title_from_first_line,
            stop_on_error=self.on_error == "stop",
            memory=memory,
            ids=Ids(self.memory // 32, path),
            progress=self.progress,
        )
        readable = collected.features() >= 0
        order = priority_order(self.priority, readable, collected.lengths, collected.values)
        # What was collected for the order alone is not needed any more.
        collected.lengths, collected.values = [], []
        if work is not None:
            collected.id_column()
            collected.corpus.save()
            np.save(work.folder / "order.npy", order)
            said = {
                "problems": [problem.to_dict() for problem in collected.problems],
                "problem_count": collected.problem_count,
                "bytes_read": collected.bytes_read,
                "source": source.found(),
            }
            work.complete(READ, said, ("ids.arrow", "order.npy"))
        return collected, order

    def _recalled(
        self, source: Any, work: Work, memory: _core.Memory
    ) -> tuple[Collected, NDArray[np.uint32]]:
        """What an earlier run has read."""
        import numpy as np

        from neardup import _core
        from neardup._engine.id_spool import Ids
        from neardup._engine.ingest import Collected, stopped
        from neardup._engine.recipe_assets import compiled
        from neardup.readers import Problem

        said = work.said(READ)
        core = compiled(self.recipe)
        with work.recalling():
            corpus = _core.Corpus.open(core, workers=self.workers, memory=memory)
        collected = Collected(
            self.recipe,
            corpus,
            ids=Ids.stored(work.folder / "ids.arrow"),
            problems=[Problem.from_dict(one) for one in said["problems"]],
            problem_count=said["problem_count"],
            bytes_read=said["bytes_read"],
        )
        if self.on_error == "stop" and collected.problems:
            # The run before was told to go on.
            raise stopped(collected.problems[0])
        source.recall(said["source"])
        self.progress.note(Message("runs.goes_on", folder=str(work.folder), count=len(corpus)))
        for problem in collected.problems:
            self.progress.problem(problem)
        return collected, np.load(work.folder / "order.npy")

    def _decided(
        self, collected: Collected, order: NDArray[np.uint32], work: Work | None
    ) -> Decided:
        import numpy as np

        path = None if work is None else work.folder / "decisions.npz"
        if work is not None and path is not None and work.has(DECIDED):
            work.said(DECIDED)
            self.progress.note(Message("runs.all_decided"))
            return Decided.load(path)
        corpus, compiled = collected.corpus, self.rule.compiled(len(collected.corpus))
        keeper = self._keeper(corpus, compiled, order, work)
        count = len(corpus)
        decided = Decided(
            kept_for=np.full(count, -1, np.int64),
            similarity=np.zeros(count),
            distance=np.full(count, -1, np.int32),
            identical=np.zeros(count, np.bool_),
        )
        self.progress.stage("candidates, verify, cluster", len(order))
        for begin in range(0, len(order), _STEP):
            step = order[begin : begin + _STEP]
            (
                decided.kept_for[step],
                decided.similarity[step],
                decided.distance[step],
                decided.identical[step],
            ) = keeper.decide(corpus, step)
            self.progress.advance(len(step))
        decided.candidates = keeper.counts()[0]
        decided.closed_lists, decided.largest_form = keeper.skew()
        if work is not None and path is not None:
            decided.save(path)
            work.complete(DECIDED, {}, (path.name,))
        return decided

    def _keeper(
        self, corpus: _core.Corpus, rule: _core.Rule, order: NDArray[np.uint32], work: Work | None
    ) -> _core.Clusterer:
        from neardup import _core

        if not corpus.is_outside():
            return _core.Clusterer(corpus, rule)
        if work is not None and work.has(JOINED):
            self.progress.note(Message("runs.keys_joined"))
            work.said(JOINED)
            with work.recalling():
                join = _core.Join.open(rule, work.folder)
        else:
            self.progress.stage("join keys", None)
            join = _core.Join(corpus, rule, order)
            while join.advance(corpus):
                # A part is over: here Ctrl-C is heard.
                self.progress.advance(0)
            if work is not None:
                work.complete(JOINED, {})
        self.clock.lap("join keys")
        return _core.Clusterer.joined(corpus, rule, join, order)

    def _result(self, collected: Collected, decided: Decided) -> DedupResult:
        import numpy as np
        import pyarrow as pa

        from neardup import _core
        from neardup.writers.rows import removed_table

        features = collected.features()
        readable = features >= 0
        dropped = np.flatnonzero(decided.kept_for >= 0)
        keep = decided.kept_for < 0
        if self.on_error == "drop":
            keep &= readable
        ids = collected.id_column()
        distinct = _core.count_distinct(ids.chunks) if len(dropped) else len(ids)
        if distinct < len(ids):
            self.progress.note(Message("runs.same_ids", count=len(ids) - distinct))
        kept_for, distance = decided.kept_for[dropped], decided.distance[dropped]
        removed = removed_table(
            ids.take(dropped),
            ids.take(kept_for),
            decided.similarity[dropped],
            pa.array(distance, mask=distance < 0),
            self.rule.measure,
        )
        exact = int(decided.identical[dropped].sum())
        stood_for = np.unique(kept_for, return_counts=True)[1]
        summary = Summary(
            task="dedup",
            read=len(features),
            unreadable=int((~readable).sum()),
            exact_duplicates=exact,
            near_duplicates=len(dropped) - exact,
            kept=int(keep.sum()),
            problems=collected.problem_count,
            candidates=decided.candidates,
            without_features=int((features == 0).sum()),
            largest_cluster=1 + int(stood_for.max()) if len(stood_for) else min(1, len(features)),
            closed_lists=decided.closed_lists,
            largest_form=decided.largest_form,
            bytes_read=collected.bytes_read,
        )
        for note in crowd_notes(summary):
            self.progress.note(note)
        return DedupResult(
            kept=None,
            removed=removed,
            keep=keep,
            summary=summary,
            plan=plan_of(self.recipe, self.rule, len(features), look_ups=True),
            problems=collected.problems,
        )


def _no_room(error: OSError, work: Work | None) -> OutputError:
    """What the system refused to keep, and where there may be room for it."""
    if isinstance(error, OutputError):
        fact = error.args[0]
    else:
        fact = Message("runs.cannot_keep", reason=system_words(error))
    if work is None:
        return OutputError(Message("runs.room_elsewhere", fact=fact))
    return OutputError(Message("runs.room_in_work", fact=fact, folder=str(work.folder)))


@dataclasses.dataclass
class Decided:
    """What became of each document, by its number.

    Parameters
    ----------
    kept_for : ndarray of int64
        The kept document that it repeats; -1 for one that is kept.
    similarity : ndarray of float64
    distance : ndarray of int32
        In bits; -1 where a text has no fingerprint.
    identical : ndarray of bool
        Whether the texts are equal.
    candidates, closed_lists, largest_form : int
        See :class:`neardup._engine.summary.Summary`.
    """

    kept_for: NDArray[np.int64]
    similarity: NDArray[np.float64]
    distance: NDArray[np.int32]
    identical: NDArray[np.bool_]
    candidates: int = 0
    closed_lists: int = 0
    largest_form: int = 0

    def save(self, path: Path) -> None:
        """Leave all of it in a file."""
        import numpy as np

        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> Decided:
        """Return what was saved."""
        import numpy as np

        with np.load(path) as stored:
            columns: dict[str, Any] = {name: stored[name] for name in stored.files}
        numbers = ("candidates", "closed_lists", "largest_form")
        return cls(**columns | {name: int(columns[name]) for name in numbers})
