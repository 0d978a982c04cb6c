"""The documents that a run saves in its work folder while it reads them, for a run that resumes.

A shard is a file of sketches, of the next documents in input order. A resumed run takes these
documents from there, and sketches only the others. The last shard comes with the facts about all
documents, after which the input is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from neardup.base.lazy import NDArray, np, pa
from neardup.exceptions import InputError, ParameterError
from neardup.readers import Batch, Problem
from neardup.recipe.stages import CORPUS
from neardup.run.checkpoint import Work, damage_error
from neardup.run.document_set import DocumentSet
from neardup.run.sketch_file import SketchFiles, cut, rows_of, schema_of
from neardup.writers.sink import FileSink
from neardup.writers.tables import open_arrow_file

#: A shard has at least so many bytes of text and ids: four batches.
_BYTES = 16 << 20


class Shards:
    """The shards of a run, which are restored first and then added to."""

    def __init__(self, work: Work, collected: DocumentSet, shingle: int | None) -> None:
        self._work = work
        self._collected = collected
        self._shingle = shingle
        #: If words are counted in the whole input, no document is sketched before all are read.
        self._waits = collected.recipe.weigh.idf == CORPUS
        #: Ids, groups and first place of the batches that are not saved yet.
        self._batches: list[tuple[Any, NDArray[np.uint64] | None, int]] = []
        self._bytes = 0
        self._problems: list[Problem] = []
        self._problem_count = 0

    def restore(self) -> int:
        """Add the documents of all shards to the corpus, and return how many there are."""
        count = 0
        for path in self._work.files_of_shards():
            try:
                for rows in SketchFiles([path]).put_into(self._collected):
                    count += len(rows)
            except (InputError, ParameterError) as error:
                raise damage_error(str(self._work.folder), error.args[0]) from error
        return count

    def add(self, batch: Batch, problems: list[Problem], problem_count: int) -> None:
        """Save the documents of a batch, the last of the corpus, once there are enough for a shard.

        `problems` are those to remember of all problems of the batch.
        """
        self._problems += problems
        self._problem_count += problem_count
        if self._waits:
            return
        collected = self._collected
        groups = collected.groups[-1] if collected.groups else None
        self._batches.append((batch.ids, groups, len(collected.corpus) - len(batch)))
        self._bytes += batch.texts.nbytes + batch.ids.nbytes
        # A run that resumes finds the end of a shard by its documents, so these come last.
        if len(batch) and self._bytes >= _BYTES:
            self._save(self._batches)

    def finish(self, stage: dict[str, Any]) -> None:
        """Save the other documents, and facts about all, of a finished corpus."""
        order: NDArray[np.uint32] = self._collected.order
        stage = {**stage, "order": self._work.save_order(order.tobytes())}
        self._save(cut(self._collected) if self._waits else self._batches, stage)

    def order(self) -> NDArray[np.uint32]:
        """Return the priority order of the documents, which are all saved."""
        assert self._work.stage is not None
        return np.frombuffer(self._work.load_order(self._work.stage["order"]), np.uint32)

    def _save(
        self,
        batches: Iterable[tuple[Any, NDArray[np.uint64] | None, int]],
        stage: dict[str, Any] | None = None,
    ) -> None:
        schema: pa.Schema = schema_of(self._collected, self._shingle)

        def write(sink: FileSink) -> None:
            with open_arrow_file(sink, schema) as writer:
                for ids, groups, begin in batches:
                    writer.write_batch(rows_of(self._collected, schema, ids, groups, begin))

        facts = {
            "problems": [problem.to_dict() for problem in self._problems],
            "problem_count": self._problem_count,
        }
        self._work.save_shard(write, facts, stage)
        self._batches, self._bytes = [], 0
        self._problems, self._problem_count = [], 0
