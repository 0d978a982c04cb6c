"""The documents that a run has read: a corpus and their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.base.lazy import NDArray, _core, np, pa
from neardup.readers.batch import Texts, in_pyarrow
from neardup.recipe import Recipe


class Ids:
    """Ids, appended in batches and read as one column; beyond a budget they are in a file."""

    def __init__(self, budget: int | None = None) -> None:
        self._budget = budget
        self._waiting: list[Texts] = []
        self._size = 0
        self._file: Any = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def append(self, ids: Texts) -> None:
        """Add the ids of the next documents, before they are read."""
        self._waiting.append(ids)
        self._size += ids.nbytes
        if self._budget is not None and self._size > self._budget:
            self._write()

    def parts(self) -> Sequence[Any]:
        """Return all ids as columns that follow one another."""
        return self._waiting if self._file is None else self.column().chunks

    def _write(self) -> None:
        schema = pa.schema([("id", pa.large_string())])
        if self._writer is None:
            import tempfile

            self._file = tempfile.NamedTemporaryFile(prefix="neardup-ids-")  # noqa: SIM115
            self._writer = pa.ipc.new_file(self._file.name, schema)
        for ids in self._waiting:
            self._writer.write(pa.record_batch([in_pyarrow(ids)], schema=schema))
        self._waiting = []

    def column(self) -> pa.ChunkedArray[Any]:
        """Return all ids, in input order; ids in a file are memory-mapped."""
        if self._file is None:
            return pa.chunked_array(list(map(in_pyarrow, self._waiting)), pa.large_string())
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with pa.memory_map(self._file.name) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all().column("id")


@dataclass
class DocumentSet:
    """A corpus of sketches, and the other data of its records."""

    recipe: Recipe
    corpus: _core.Corpus
    #: Documents of another collection, which come first and are kept in any case.
    against: int = 0
    ids: Ids = field(default_factory=Ids)
    #: Readable documents that are compared, in priority order.
    order: Any = None
    #: Counts of the documents of the input that are left alone, by their names in the summary.
    left_alone: dict[str, int] = field(default_factory=dict)
    #: Hashes of the groups of the documents read so far, by batches; empty without groups.
    groups: list[NDArray[np.uint64]] = field(default_factory=list)
    #: A digest of the frequencies that the corpus gave, if the recipe weighs by them.
    frequencies: int | None = None

    def recipe_id(self) -> str:
        """The recipe's id, with a digest of the frequencies that the corpus gave."""
        if self.frequencies is None:
            return self.recipe.id
        return f"{self.recipe.id}-{self.frequencies:016x}"
