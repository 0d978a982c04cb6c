"""The file `sketches.arrow` of a work folder: the documents of a run, with their sketches.

An Arrow IPC file with a row for each document, in input order: ``id``; ``priority``, its place in
priority order, null for one that could not be read; ``features``, their number, null likewise;
``identity``, 16 bytes that two documents share if their texts are equal; and ``sketch``, as
described in docs/formats.md. The schema's metadata has the recipe's id.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup._engine.ingest import Collected

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
    types: dict[str, pa.DataType] = {
        "id": pa.large_string(),
        "priority": pa.uint32(),
        "features": pa.uint32(),
        "identity": pa.binary(16),
        "sketch": pa.large_binary(),
    }
    schema = pa.schema(types, metadata={"recipe": collected.recipe_id()})
    with pa.ipc.new_file(str(path), schema) as writer:
        for begin in range(0, len(corpus), _TOGETHER):
            some = slice(begin, begin + _TOGETHER)
            rows = corpus.rows(begin, begin + _TOGETHER)
            identity, features, sketch = (pa.array(column) for column in rows)
            place = pa.array(priority[some], mask=unreadable[some])
            columns = [ids[some].combine_chunks(), place, features, identity, sketch]
            writer.write(pa.record_batch(columns, schema=schema))


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
