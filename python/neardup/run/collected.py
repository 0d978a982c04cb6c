"""What a run holds of the documents that it read: a corpus and their ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup import _core


class Ids:
    """Ids, appended in batches and read as one column; beyond a budget they are in a file."""

    def __init__(self, budget: int | None = None, path: Path | None = None) -> None:
        self._budget = budget
        self._path = path
        self._waiting: list[pa.LargeStringArray] = []
        self._size = 0
        self._is_stored = False
        self._file: Any = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def append(self, ids: pa.LargeStringArray) -> None:
        """Add the ids of the next documents."""
        self._waiting.append(ids)
        self._size += ids.nbytes
        if self._path is not None or (self._budget is not None and self._size > self._budget):
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        schema = pa.schema([("id", pa.large_string())])
        if self._writer is None:
            if self._path is None:
                import tempfile

                self._file = tempfile.NamedTemporaryFile(prefix="neardup-ids-")  # noqa: SIM115
                self._path = Path(self._file.name)
            self._writer = pa.ipc.new_file(str(self._path), schema)
        for ids in self._waiting:
            self._writer.write(pa.record_batch([ids], schema=schema))
        self._waiting = []

    def column(self) -> pa.ChunkedArray[Any]:
        """Return all ids, in input order; ids in a file are memory-mapped."""
        import pyarrow as pa

        if self._path is None:
            return pa.chunked_array(self._waiting, pa.large_string())
        if not self._is_stored:
            self._write()
            self._is_stored = True
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with pa.memory_map(str(self._path)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all().column("id")

    @classmethod
    def stored(cls, path: Path) -> Ids:
        """Return the ids of an Arrow IPC file, from its column `id`."""
        ids = cls(path=path)
        ids._is_stored = True
        return ids


@dataclass
class Collected:
    """A corpus of sketches, and the other data of its records."""

    recipe: Recipe
    corpus: _core.Corpus
    #: Documents of another collection, which come first and are kept in any case.
    against: int = 0
    ids: Ids = field(default_factory=Ids)
    #: Readable documents, in priority order.
    order: Any = None
    #: The counts of all shingles, if they are kept.
    counted: bytes | None = None
    #: A digest of the frequencies that the corpus gave, if the recipe weighs by them.
    frequencies: int | None = None

    def recipe_id(self) -> str:
        """The recipe's id, with a digest of the frequencies that the corpus gave."""
        if self.frequencies is None:
            return self.recipe.id
        return f"{self.recipe.id}-{self.frequencies:016x}"
