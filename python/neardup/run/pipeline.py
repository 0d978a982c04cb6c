"""The stages of a run, from reading to decisions, that all tasks use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from neardup.base.files import writing_temporary_files
from neardup.base.memory import memory_of
from neardup.base.messages import N_, Message
from neardup.base.priority import fields_of, priority_order
from neardup.base.progress import share_of
from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.readers.batch import stopped
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.recipe.rule import Rule
from neardup.recipe.stages import CORPUS, Weigh
from neardup.run.checkpoint import Work, damaged
from neardup.run.collected import Collected, Ids
from neardup.run.groups import hashes_of, without_value
from neardup.run.run import Run
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import SketchFiles, write_sketches
from neardup.run.summary import Summary, template_notes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.readers import Batch
    from neardup.recipe import Recipe

#: Documents that a clusterer decides together; Ctrl-C is checked between them.
_STEP = 1024

#: Memory of a pair: its columns, twice while they are sorted, and its row of the result.
_PAIR_BYTES = 72

#: Counts of the search, by their names in the summary.
_COUNTS = (
    "visited",
    "candidates",
    "verified",
    "bytes_compared",
    "kept_for_own",
    "closed_lists",
    "unlisted",
    "unlisted_pairs",
    "largest_form",
)


class Pipeline(Run):
    """The stages of one run, in memory or in a work folder, from which they are resumed."""

    def __init__(self, options: RunOptions, work: Work | None = None) -> None:
        super().__init__(options.progress)
        self.options = options
        self.work = work

    @property
    def rule(self) -> Rule:
        """The definition of a duplicate."""
        assert self.options.rule is not None, "this task compares"
        return self.options.rule

    def _writing(self) -> AbstractContextManager[None]:
        """Raise an error that says where space is needed if there is none for temporary files."""
        if self.work is None:
            return writing_temporary_files(
                N_("{fact} Set TMPDIR to a folder with more space, or name one with {given[work]}.")
            )
        return writing_temporary_files(
            N_(
                "{fact} The complete stages stay in {folder}: free space there, and "
                "run the same command again."
            ),
            folder=str(self.work.folder),
        )

    def read(
        self, source: Any, against: Any = None, *, looks_up: bool = False, saves: bool = False
    ) -> Collected:
        """Read, normalize, segment, weigh and sketch all documents, or restore them from a run."""
        with self._writing():
            collected = self._load_sketches(source, against, looks_up=looks_up)
            if collected is None:
                collected = self._collect(source, against, looks_up=looks_up, saves=saves)
                if self.work is not None:
                    self._save_sketches(self.work, source, against, collected)
            if self.options.group_field is not None:
                self._divide(collected, self.options.group_field)
        self.clock.lap("read and sketch")
        return collected

    def _divide(self, collected: Collected, field: str) -> None:
        """Divide all documents into groups."""
        import numpy as np

        groups = np.concatenate([np.zeros(0, np.uint64), *collected.groups])
        is_readable, against = collected.corpus.features() >= 0, collected.against
        sides = groups[:against][is_readable[:against]], groups[against:][is_readable[against:]]
        count = sum(without_value(hashes, field) for hashes in sides)
        if count:
            self.progress.note(
                Message.counted(
                    "{count:,} record has no value in the field '{field}': it is compared only "
                    "with others without one.",
                    "{count:,} records have no value in the field '{field}': they are compared "
                    "only with one another.",
                    count=count,
                    field=field,
                )
            )
        collected.groups.clear()
        collected.corpus.divide(groups)

    def corpus(
        self, recipe: Recipe, *, keeps_texts: bool = True, looks_up: bool = False
    ) -> _core.Corpus:
        """Return an empty corpus with the memory of this run."""
        from neardup import _core

        options, rule = self.options, self.options.rule
        memory = memory_of(
            options.memory,
            None if self.work is None else self.work.folder,
            sketches=looks_up and rule is not None and rule.leaves_memory,
        )
        return _core.Corpus(
            compiled(recipe),
            keeps_texts=keeps_texts,
            shingle=None if rule is None else rule.counted_shingle,
            workers=options.workers,
            memory=memory,
        )

    def _collect(self, source: Any, against: Any, *, looks_up: bool, saves: bool) -> Collected:
        """Read and sketch all documents, those of another collection first."""
        import numpy as np

        options, work, rule = self.options, self.work, self.options.rule
        if options.group_field is not None and not hasattr(
            source if against is None else against, "with_extra"
        ):
            raise ParameterError(
                Message(
                    "{parameter:named} must be left out where the other collection is an index or "
                    "a file of sketches, which do not have the groups of their documents. Name the "
                    "documents themselves.",
                    parameter="group_field",
                )
            )
        keeps_texts = saves or work is not None or (rule is not None and rule.keeps_texts)
        corpus = self.corpus(options.recipe, keeps_texts=keeps_texts, looks_up=looks_up)
        collected = Collected(options.recipe, corpus, ids=Ids(self.options.memory // 32))
        self.progress.stage("read and sketch", None, share_of(against, source))
        if isinstance(against, SketchFiles):
            for documents in against.put_into(collected):
                self.progress.advance(len(documents))
                if options.min_length is not None:
                    # Sketched documents are compared whatever their length.
                    collected.is_short.append(np.zeros(len(documents), np.bool_))
        elif against is not None:
            for _ in self.push(against.batches(titles=True), collected):
                pass
        collected.against = len(corpus)
        lengths: list[NDArray[np.int64]] = []
        values: dict[str, list[Any]] = {name: [] for name in fields_of(options.priority)}
        for batch in self.push(source.batches(titles=True), collected):
            if "longest" in options.priority.split(","):
                import pyarrow.compute as pc  # slow to import

                characters: Any = pc.utf8_length(batch.texts)
                lengths.append(characters.fill_null(0).to_numpy(zero_copy_only=False))
            for name, column in values.items():
                column.extend(batch.values(name))
        corpus.finish()
        collected.frequencies = corpus.frequencies_digest()
        order = _order(options.priority, collected, lengths, values)
        if options.min_length is not None:
            order = order[~np.concatenate([np.zeros(0, np.bool_), *collected.is_short])[order]]
        collected.order = order
        return collected

    def push(self, batches: Iterable[Batch], collected: Collected) -> Iterator[Batch]:
        """Add documents to a corpus, and yield each batch."""
        options, core = self.options, compiled(self.options.recipe)
        for batch in self.prefetch(batches):
            texts, units, problems = readable(batch, options.recipe, core)
            if options.group_field is not None:
                groups, texts, wrong = hashes_of(batch, texts, options.group_field)
                collected.groups.append(groups)
                problems = [*problems, *wrong]
            if problems and options.on_error == "stop":
                raise stopped(problems[0])
            self.note_problems(problems)
            titles = batch.titles
            if options.reads_titles and options.title_from_first_line:
                titles = with_first_lines(titles, texts)
            if options.min_length is not None:
                collected.is_short.append(_are_shorter(texts, options.min_length))
            collected.corpus.push(texts, titles=titles, units=units)
            collected.ids.append(batch.ids)
            self.bytes_read += batch.bytes_read
            yield batch

    def _save_sketches(self, work: Work, source: Any, against: Any, collected: Collected) -> None:
        """Store the documents in the work folder."""
        import pyarrow as pa

        from neardup.readers import Sources

        rule = self.options.rule
        write_sketches(
            lambda schema: pa.ipc.new_file(str(work.sketches), schema),
            collected,
            None if rule is None else rule.counted_shingle,
            with_priority=True,
        )
        facts = {
            "frequencies": collected.frequencies,
            "problems": [problem.to_dict() for problem in self.problems],
            "problem_count": self.problem_count,
            "bytes_read": self.bytes_read,
            "against": collected.against,
            "sources": [
                side.found() if isinstance(side, Sources) else {}
                for side in (source, against)
                if side is not None
            ],
        }
        work.save_stage(facts)

    def _load_sketches(self, source: Any, against: Any, *, looks_up: bool) -> Collected | None:
        """Return the documents that an earlier run stored in the work folder, if one did."""
        import numpy as np
        import pyarrow as pa

        from neardup.readers import Problem, Sources

        options, work = self.options, self.work
        facts = None if work is None else work.load_stage()
        if work is None or facts is None:
            return None
        recipe = options.recipe
        if recipe.weigh.idf == CORPUS:
            # What is sketched is not counted and weighed again.
            recipe = dataclasses.replace(recipe, weigh=Weigh())
        priorities = []
        try:
            corpus = self.corpus(recipe, keeps_texts=True, looks_up=looks_up)
            collected = Collected(
                options.recipe,
                corpus,
                against=facts["against"],
                ids=Ids(self.options.memory // 32),
                frequencies=facts["frequencies"],
            )
            for batch in SketchFiles([str(work.sketches)]).put_into(collected):
                priorities.append(batch["priority"])
            corpus.finish()
        except (InputError, OutputError, ParameterError) as error:
            raise damaged(str(work.folder), error.args[0]) from error
        self.problems = [Problem.from_dict(problem) for problem in facts["problems"]]
        self.problem_count, self.bytes_read = facts["problem_count"], facts["bytes_read"]
        # Unreadable documents have no priority, and come last.
        priority: Any = pa.chunked_array(priorities, pa.uint32())
        places = np.argsort(priority.fill_null((1 << 32) - 1).to_numpy())
        collected.order = places[: len(priority) - priority.null_count].astype(np.uint32)
        if options.on_error == "stop" and self.problems:
            # The earlier run continued after problems.
            raise stopped(self.problems[0])
        sides = [side for side in (source, against) if side is not None]
        for side, state in zip(sides, facts["sources"], strict=True):
            if isinstance(side, Sources):
                side.recall(state)
        self.progress.note(
            Message.counted(
                "resuming from {folder}: {count:,} record is read and sketched.",
                "resuming from {folder}: {count:,} records are read and sketched.",
                folder=str(work.folder),
                count=len(corpus),
            )
        )
        for problem in self.problems:
            self.progress.problem(problem)
        return collected

    def decide(self, collected: Collected) -> Decided:
        """Apply the rule to all documents, in priority order."""
        import numpy as np

        order, corpus = collected.order, collected.corpus
        count = len(corpus)
        self._note_short(int((corpus.features() >= 0).sum()) - len(order))
        decided = Decided(
            kept_for=np.full(count, -1, np.int64),
            similarity=np.zeros(count),
            distance=np.full(count, -1, np.int32),
            identical=np.zeros(count, np.bool_),
        )
        with self._writing():
            clusterer = self._clusterer(corpus, order)
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
        decided.for_own = clusterer.first_kept_for_own()
        return decided

    def _note_short(self, count: int) -> None:
        """Report how many texts are too short to be compared."""
        if count:
            self.progress.note(
                Message.counted(
                    "{count:,} text of fewer than {least:,} letters and digits is left alone.",
                    "{count:,} texts of fewer than {least:,} letters and digits are left alone.",
                    count=count,
                    least=self.options.min_length,
                )
            )

    def _clusterer(self, corpus: _core.Corpus, order: NDArray[np.uint32]) -> _core.Clusterer:
        from neardup import _core

        rule = self.rule.compiled(len(corpus))
        if not corpus.is_outside():
            return _core.Clusterer(corpus, rule)
        self.progress.stage("join keys", None)
        join = _core.ExternalJoin(corpus, rule, order)
        while join.advance(corpus):
            # Ctrl-C is checked after each part.
            self.progress.advance(0)
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
        empty = tuple(np.zeros(0, kind) for kind in (np.uint32, np.uint32, np.float64, np.int32))
        with self._writing():
            search = _core.PairSearch(
                corpus,
                self.rule.compiled(len(corpus)),
                others=others,
                max_pairs=self.options.memory // _PAIR_BYTES,
            )
            # In pieces, so that Ctrl-C is checked between them.
            pieces = [empty, *iter(lambda: search.next_piece(corpus), None)]
        columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
        if across:
            columns[:2] = columns[1::-1]
        order = np.lexsort((columns[1], columns[0]))
        counts = dict(zip(_COUNTS, search.statistics(), strict=True))
        return tuple(column[order] for column in columns), counts

    def summary(self, task: str, collected: Collected, **counts: Any) -> Summary:
        """Return the summary so far, with the counts of the task."""
        features = collected.corpus.features()[collected.against :]
        summary = Summary(
            task=task,
            read=len(features),
            against=collected.against,
            unreadable=int((features < 0).sum()),
            without_features=int((features == 0).sum()),
            budgets={
                part: {"limit": limit, "memory": memory, "file": file}
                for part, limit, memory, file in collected.corpus.usage()
            },
            **counts,
        )
        self.measure(summary)
        for note in template_notes(summary):
            self.progress.note(note)
        return summary


def _are_shorter(texts: pa.LargeStringArray, least: int) -> NDArray[np.bool_]:
    """Return which texts have fewer letters and digits."""
    import pyarrow.compute as pc

    letters: Any = pc.replace_substring_regex(texts, r"[^\pL\pN]+", "")
    lengths: Any = pc.fill_null(pc.utf8_length(letters), 0)
    shorter: NDArray[np.bool_] = lengths.to_numpy(zero_copy_only=False) < least
    return shorter


def _order(
    priority: str,
    collected: Collected,
    lengths: list[NDArray[np.int64]],
    values: dict[str, list[Any]],
) -> NDArray[np.uint32]:
    """Return the readable documents in the order in which they are decided."""
    import numpy as np

    is_readable, against = collected.corpus.features() >= 0, collected.against
    order = priority_order(priority, is_readable[against:], lengths, values)
    first = np.flatnonzero(is_readable[:against]).astype(np.uint32)
    return np.concatenate([first, order + np.uint32(against)])


@dataclasses.dataclass
class Decided:
    """The decision on each document, by its number."""

    kept_for: NDArray[np.int64]
    similarity: NDArray[np.float64]
    distance: NDArray[np.int32]
    identical: NDArray[np.bool_]
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    #: The first documents that were kept for what they say of their own, each with the kept one for
    #: which it would have been dropped, and the similarity that the two would have.
    for_own: list[tuple[int, int, float]] = dataclasses.field(default_factory=list)

    def keep(self, documents: NDArray[np.int64]) -> None:
        """Keep these documents, whatever they repeat. Other decisions stay."""
        self.kept_for[documents] = -1
        self.similarity[documents] = 0
        self.distance[documents] = -1
        self.identical[documents] = False
