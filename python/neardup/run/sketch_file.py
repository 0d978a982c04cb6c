"""Arrow IPC files of documents with their sketches.

They have a row for each document, in input order: ``id``; ``features``, their number, null for a
document that could not be read; ``identity``, 16 bytes that two documents share if their texts are
equal; and ``sketch``, as described in docs/formats.md. The schema's metadata has the recipe's id.

The file `sketches.arrow` of a work folder also has ``priority``, the place in priority order, null
for a document that could not be read. A file of `neardup.sketch_files` has the normalized ``text``
instead, and the shingle counts of all texts as the metadata of a last, empty batch.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from neardup.base.messages import Message
from neardup.exceptions import InputError, NeardupError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.base.progress import Progress
    from neardup.readers.streams import ReopenableFile
    from neardup.recipe import Recipe
    from neardup.run.collected import Collected
    from neardup.writers import Output

#: The version of the files that later runs read, and its key in the metadata.
_VERSION, _VERSION_KEY = "1", "neardup_sketches"

#: How an Arrow file begins.
_MAGIC = b"ARROW1"

#: The key of the shingle counts.
_COUNTED = "counted"

#: Documents of a record batch: some megabytes with the longest sketches.
_TOGETHER = 1 << 13


def write_sketches(path: Path, collected: Collected) -> None:
    """Write the documents of a finished corpus, of which one batch is in memory at a time."""
    import numpy as np
    import pyarrow as pa

    ids, corpus, order = collected.id_column(), collected.corpus, collected.order
    priority = np.zeros(len(corpus), np.uint32)
    priority[order] = np.arange(len(order), dtype=np.uint32)
    unreadable = np.ones(len(corpus), np.bool_)
    unreadable[order] = False
    schema = _schema({"priority": pa.uint32()}, {"recipe": collected.recipe_id()})
    with pa.ipc.new_file(str(path), schema) as writer:
        for begin in range(0, len(corpus), _TOGETHER):
            some = slice(begin, begin + _TOGETHER)
            place = pa.array(priority[some], mask=unreadable[some])
            columns = [*_columns(ids, corpus, begin), place]
            writer.write(pa.record_batch(columns, schema=schema))


def _schema(more: dict[str, pa.DataType], metadata: dict[bytes | str, bytes | str]) -> pa.Schema:
    import pyarrow as pa

    types: dict[str, pa.DataType] = {
        "id": pa.large_string(),
        "identity": pa.binary(16),
        "features": pa.uint32(),
        "sketch": pa.large_binary(),
    }
    return pa.schema(types | more, metadata=metadata)


def _columns(ids: pa.ChunkedArray[Any], corpus: _core.Corpus, begin: int) -> list[pa.Array[Any]]:
    """Return the columns that all files have, of the documents from `begin` on."""
    import pyarrow as pa

    rows = corpus.rows(begin, begin + _TOGETHER)
    own: Any = ids[begin : begin + _TOGETHER].combine_chunks()
    return [own, *(pa.array(column) for column in rows)]


def attach_sketches(path: Path, corpus: _core.Corpus) -> NDArray[np.uint32]:
    """Add the documents of a file to a corpus that was opened, and return their priority order."""
    import numpy as np

    order, readable, begin = np.empty(documents(path), np.uint32), 0, 0
    for batch in _batches(path):
        corpus.attach(batch["identity"], batch["features"], batch["sketch"])
        known = batch["priority"].is_valid().to_numpy(zero_copy_only=False)
        at = np.flatnonzero(known)
        order[batch["priority"].drop_null().to_numpy()] = begin + at
        readable, begin = readable + len(at), begin + len(batch)
    corpus.finish()
    return order[:readable]


def documents(path: Path) -> int:
    """Return the number of documents in a file."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        return int(reader.read_all().num_rows)


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file, of which one is in memory at a time."""
    import pyarrow as pa

    # Pages of a memory map would stay in memory as far as there is any.
    with pa.OSFile(str(path), "r") as file:
        reader: Any = pa.ipc.open_file(file)
        for at in range(reader.num_record_batches):
            yield reader.get_batch(at)


def save_sketches(
    output: Output, collected: Collected, counted: bytes | None, shingle: int | None
) -> None:
    """Write the documents of a finished corpus, for later runs to be compared with.

    `counted` are the counts of its shingles of `shingle` characters, as they were before the corpus
    was finished.
    """
    import pyarrow as pa

    ids, corpus = collected.id_column(), collected.corpus
    metadata: dict[bytes | str, bytes | str] = {
        _VERSION_KEY: _VERSION,
        "recipe": collected.recipe_id(),
        "recipe_name": collected.recipe.name,
        "shingle": "" if shingle is None else str(shingle),
    }
    schema = _schema({"text": pa.large_string()}, metadata)
    with output.arrow_file(schema) as writer:
        for begin in range(0, len(corpus), _TOGETHER):
            texts: Any = pa.array(corpus.texts(begin, begin + _TOGETHER))
            columns = [*_columns(ids, corpus, begin), texts]
            writer.write_batch(pa.record_batch(columns, schema=schema))
        none = pa.RecordBatch.from_pylist([], schema=schema)
        writer.write_batch(none, custom_metadata={_COUNTED: counted or b""})


def is_sketch_file(path: str) -> bool:
    """Return whether a path names an Arrow file, as `neardup.sketch_files` writes it."""
    from neardup.readers.addresses import is_address, names_several_at, opened

    try:
        if is_address(path):
            if names_several_at(path):
                return False
            with opened(path) as (file, _):
                return bool(file.read(len(_MAGIC)) == _MAGIC)
        # What is read from a pipe is gone.
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, NeardupError):
        # The error is that of whoever reads it.
        return False


class SavedSketches:
    """Files of `save_sketches`, as the other collection of a run.

    Parameters
    ----------
    paths : sequence of str
    recipe : Recipe
        That of the run.
    shingle : int or None
        Length of the shingles that the run counts.

    Raises
    ------
    InputError
        If a file cannot be read, is no such file, or has sketches of another recipe or version.
    """

    def __init__(self, paths: Sequence[str], recipe: Recipe, shingle: int | None) -> None:
        from neardup.readers.streams import ReopenableFile

        self._files = [ReopenableFile(path) for path in paths]
        for file in self._files:
            self._check(file, recipe, shingle)

    def _check(self, source: ReopenableFile, recipe: Recipe, shingle: int | None) -> None:
        import pyarrow as pa

        path = source.name
        try:
            with source.open() as raw, pa.PythonFile(cast(io.IOBase, raw)) as file:
                found = pa.ipc.open_file(file).schema.metadata or {}
        except (OSError, pa.ArrowException) as error:
            raise _damaged(path, error) from error
        if found.get(_VERSION_KEY.encode()) != _VERSION.encode():
            raise InputError(Message("runs.other_sketches", file=path))
        named = found[b"recipe"].decode(), found[b"shingle"].decode()
        if named != (recipe.id, "" if shingle is None else str(shingle)):
            name = found[b"recipe_name"].decode()
            raise InputError(
                Message("runs.sketches_of_another", file=path, found=name, recipe=recipe.name)
            )

    def put_into(self, collected: Collected, progress: Progress) -> None:
        """Add the documents to an empty corpus."""
        import pyarrow as pa

        corpus = collected.corpus
        for source in self._files:
            try:
                with source.open() as raw, pa.PythonFile(cast(io.IOBase, raw)) as file:
                    reader: Any = pa.ipc.open_file(file)
                    last = reader.num_record_batches - 1
                    for at in range(last):
                        batch = reader.get_batch(at)
                        names = ("identity", "features", "sketch", "text")
                        corpus.adopt(*(batch[name] for name in names))
                        collected.ids.append(batch["id"])
                        progress.advance(len(batch))
                    counted = reader.get_batch_with_custom_metadata(last).custom_metadata
                    if counted[_COUNTED.encode()]:
                        corpus.merge_counts(counted[_COUNTED.encode()])
            except (OSError, KeyError, IndexError, InputError, pa.ArrowException) as error:
                raise _damaged(source.name, error) from error

    def found(self) -> dict[str, Any]:
        """Return what a resumed run needs to know; nothing."""
        return {}

    def recall(self, found: dict[str, Any]) -> None:
        """Take what an earlier run `found`."""

    def report_to(self, progress: Progress) -> int:
        """Report no problems: those of the texts were reported when they were sketched."""
        del progress
        return 0


def _damaged(path: str, error: Exception) -> InputError:
    return InputError(Message("runs.damaged_sketches", file=path, reason=str(error)))
