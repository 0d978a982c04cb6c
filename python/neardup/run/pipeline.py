"""The stages of a run, from reading to decisions, that all tasks use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from neardup.base.files import writing_temporary_files
from neardup.base.lazy import NDArray, _core, np
from neardup.base.memory import memory_of
from neardup.base.messages import N_, Message
from neardup.base.progress import share_of
from neardup.exceptions import ParameterError
from neardup.readers import Batch, Problem, Sources
from neardup.readers.batch import in_pyarrow, make_stop_error
from neardup.readers.collection import Collection
from neardup.readers.streams import ChangedError
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.recipe.decisions import COUNTS, Decisions
from neardup.recipe.rule import Rule
from neardup.recipe.stages import CORPUS, Weigh
from neardup.run.checkpoint import Work
from neardup.run.document_set import DocumentSet, Ids
from neardup.run.groups import hashes_of, without_value
from neardup.run.lengths import note_left_alone
from neardup.run.order import Order
from neardup.run.run import Run
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import Others, SketchFiles
from neardup.run.summary import Summary, template_notes

if TYPE_CHECKING:
    from neardup.run.shards import Shards

#: Memory of a pair: its columns, twice while they are sorted, and its row of the result.
_PAIR_BYTES = 72


class Pipeline(Run):
    """The stages of one run, in memory or in a work folder, from which they are resumed."""

    def __init__(self, options: RunOptions, work: Work | None = None) -> None:
        super().__init__(options.progress)
        self.options = options
        self.work = work
        self._shards: Shards | None = None
        #: Documents that an earlier run sketched and that are not read again yet.
        self._restored = 0

    @property
    def rule(self) -> Rule:
        """The definition of a duplicate."""
        assert self.options.rule is not None, "this task compares"
        return self.options.rule

    def _report_full_disk(self) -> AbstractContextManager[None]:
        """Raise an error that says where space is needed if there is none for temporary files."""
        if self.work is None:
            return writing_temporary_files(
                N_("{fact} Set TMPDIR to a folder with more space, or name one with {given[work]}.")
            )
        return writing_temporary_files(
            N_(
                "{fact} The complete shards stay in {folder}: free space there, and "
                "run the same command again."
            ),
            folder=str(self.work.folder),
        )

    def read(
        self,
        source: Collection,
        against: Others = None,
        *,
        looks_up: bool = False,
        saves: bool = False,
    ) -> DocumentSet:
        """Read, normalize, segment, weigh and sketch all documents, or restore them from a run."""
        options, work, rule = self.options, self.work, self.options.rule
        stage, recipe = None if work is None else work.stage, options.recipe
        if stage is not None and recipe.weigh.idf == CORPUS:
            # What is sketched is not counted and weighed again.
            recipe = dataclasses.replace(recipe, weigh=Weigh())
        keeps_texts = saves or work is not None or (rule is not None and rule.keeps_texts)
        with self._report_full_disk():
            corpus = self.corpus(recipe, keeps_texts=keeps_texts, looks_up=looks_up)
            collected = DocumentSet(options.recipe, corpus, ids=Ids(options.memory // 32))
            if stage is None:
                self.progress.stage("read and sketch", None, share_of(against, source))
            if isinstance(against, SketchFiles):
                for documents in against.put_into(collected):
                    if stage is None:
                        self.progress.advance(len(documents))
                collected.against = len(corpus)
            if work is not None:
                from neardup.run.shards import Shards

                counted = None if rule is None else rule.counted_shingle
                self._shards = Shards(work, collected, counted)
                self._restore(work, self._shards)
            if stage is None:
                self._collect(source, against, collected)
            else:
                self._recall(stage, source, against, collected)
            if options.group_field is not None:
                self._divide(collected, options.group_field)
        self.clock.lap("read and sketch")
        return collected

    def _divide(self, collected: DocumentSet, field: str) -> None:
        """Divide all documents into groups."""
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
        options, rule = self.options, self.options.rule
        memory = memory_of(
            options.memory,
            None if self.work is None else self.work.folder,
            sketches=looks_up and rule is not None and rule.spills_to_disk,
        )
        return _core.Corpus(
            compiled(recipe),
            keeps_texts=keeps_texts,
            shingle=None if rule is None else rule.counted_shingle,
            workers=options.workers,
            memory=memory,
        )

    def _collect(self, source: Collection, against: Others, collected: DocumentSet) -> None:
        """Read and sketch all documents, the other collection first."""
        options, corpus = self.options, collected.corpus
        if options.group_field is not None and against is not None and not against.has_fields:
            raise ParameterError(
                Message(
                    "{parameter:named} must be left out, since an index or sketches have no "
                    "groups. Name the documents themselves.",
                    parameter="group_field",
                )
            )
        order = Order(options)
        if isinstance(against, SketchFiles):
            order.add_sketched(collected.against)
        elif against is not None:
            for batch in self.push(against.batches(titles=True), collected):
                collected.against += len(batch)
                order.add_other(batch)
        self.bytes_against = self.bytes_read
        for batch in self.push(source.batches(titles=True), collected):
            order.add(batch)
        if self._restored:
            raise ChangedError(_select_files(source)[0].sources[-1].name)
        corpus.finish()
        collected.frequencies = corpus.frequencies_digest()
        collected.order = order.of(collected)
        if self._shards is not None:
            self._shards.finish(self._describe_documents(source, against, collected))

    def push(self, batches: Iterable[Batch], collected: DocumentSet) -> Iterator[Batch]:
        """Add documents to a corpus, except those that are there already, and yield each batch."""
        for whole in self.prefetch(batches):
            # A run that is resumed may read other batches.
            cut = self._restored if self._restored < len(whole) else 0
            parts = [whole.cut(0, cut), whole.cut(cut, len(whole))] if cut else [whole]
            for batch in parts:
                if self._restored:
                    self._restored -= len(batch)
                else:
                    self._sketch(batch, collected)
                self.bytes_read += batch.bytes_read
                yield batch

    def _sketch(self, batch: Batch, collected: DocumentSet) -> None:
        """Add documents to a corpus."""
        options, recipe = self.options, self.options.recipe
        texts, ids, titles = batch.columns
        units, problems = None, batch.problems
        if recipe.callable_name is not None:
            texts, units, problems = readable(batch, recipe, compiled(recipe))
        if options.group_field is not None:
            groups, texts, wrong = hashes_of(batch, in_pyarrow(texts), options.group_field)
            collected.groups.append(groups)
            problems = [*problems, *wrong]
        if problems and options.on_error == "stop":
            raise make_stop_error(problems[0])
        remembered, count = len(self.problems), self.problem_count
        self.note_problems(problems)
        if options.reads_titles and options.title_from_first_line:
            titles = with_first_lines(batch.titles, in_pyarrow(texts))
        collected.corpus.push(texts, titles=titles, units=units)
        collected.ids.append(ids)
        if self._shards is not None:
            new = self.problems[remembered:]
            self._shards.add(batch, new, self.problem_count - count)

    def _describe_documents(
        self, source: Collection, against: Others, collected: DocumentSet
    ) -> dict[str, Any]:
        """Return what is known of all documents once they are read."""
        return {
            "frequencies": collected.frequencies,
            "bytes_read": self.bytes_read,
            "bytes_against": self.bytes_against,
            "left_alone": collected.left_alone,
            "against": collected.against,
            "sources": [side.save_results() for side in _select_files(source, against)],
        }

    def _recall(
        self,
        facts: dict[str, Any],
        source: Collection,
        against: Others,
        collected: DocumentSet,
    ) -> None:
        """Set what an earlier run knew of all documents, which are restored."""
        assert self._shards is not None
        collected.corpus.finish()
        collected.against, collected.frequencies = facts["against"], facts["frequencies"]
        collected.order = self._shards.order()
        collected.left_alone = facts["left_alone"]
        self.bytes_read, self.bytes_against = facts["bytes_read"], facts["bytes_against"]
        for side, state in zip(_select_files(source, against), facts["sources"], strict=True):
            side.restore_results(state)

    def _restore(self, work: Work, shards: Shards) -> None:
        """Restore the documents and problems that an earlier run saved in the work folder."""
        if not work.shards:
            return
        self._restored = shards.restore()
        self.progress.note(
            Message.counted(
                "resuming from {folder}: {count:,} record is read and sketched.",
                "resuming from {folder}: {count:,} records are read and sketched.",
                folder=str(work.folder),
                count=self._restored,
            )
        )
        for shard in work.shards:
            self.problem_count += shard["problem_count"]
            for stored in shard["problems"]:
                problem = Problem.from_dict(stored)
                if self.options.on_error == "stop":
                    # The earlier run continued after problems.
                    raise make_stop_error(problem)
                self.problems.append(problem)
                self.progress.problem(problem)

    def decide(self, collected: DocumentSet) -> Decisions:
        """Apply the rule to all documents, in priority order."""
        order, corpus, against = collected.order, collected.corpus, collected.against
        note_left_alone(collected, self.options, self.progress)
        decided = Decisions(len(corpus))
        with self._report_full_disk():
            clusterer = self._make_clusterer(corpus, order)
            self.progress.stage("candidates, verify, cluster", len(order))
            first = int(np.count_nonzero(np.asarray(order) < against)) if against else 0
            files, advance = not self.options.against_only, self.progress.advance
            decided.decide(clusterer, corpus, order, advance, first=first, files=files)
        return decided

    def _make_clusterer(self, corpus: _core.Corpus, order: NDArray[np.uint32]) -> _core.Clusterer:
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
        self, collected: DocumentSet, *, across: bool = False
    ) -> tuple[tuple[NDArray[Any], ...], dict[str, int]]:
        """Return all verified pairs, and counts of the search by their names in the summary.

        The pairs are columns: the earlier document, the later one, similarity, and distance
        in bits, -1 if a text has no fingerprint; sorted by both documents. `across` two
        collections, the first of each pair is of the input and the second of the other one.
        """
        self.progress.stage("candidates, verify", None)
        corpus = collected.corpus
        others = collected.against if across else None
        empty = tuple(np.zeros(0, kind) for kind in (np.uint32, np.uint32, np.float64, np.int32))
        with self._report_full_disk():
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
        counts = dict(zip(COUNTS, search.statistics(), strict=True))
        return tuple(column[order] for column in columns), counts

    def summary(self, task: str, collected: DocumentSet, **counts: Any) -> Summary:
        """Return the summary so far, with the counts of the task."""
        corpus, against = collected.corpus, collected.against
        unreadable, without_features = corpus.without_features(against)
        summary = Summary(
            task=task,
            read=len(corpus) - against,
            against=against,
            unreadable=unreadable,
            without_features=without_features,
            budgets={
                part: {"limit": limit, "memory": memory, "file": file}
                for part, limit, memory, file in collected.corpus.usage()
            },
            **(counts | collected.left_alone),
        )
        self.measure(summary)
        for note in template_notes(summary, self.options.rule):
            self.progress.note(note)
        return summary


def _select_files(*sides: Any) -> list[Sources]:
    """Return those sides of a run that are files of documents."""
    return [side for side in sides if isinstance(side, Sources)]
