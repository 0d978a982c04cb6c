"""Writing of rows that neardup makes: removed documents and pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.base.arrays import repeated_text, rows_of, texts_array
from neardup.writers.folder import OutputFolder
from neardup.writers.output import Output

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEASURES: list[pa.Field[Any]] = [
    pa.field("similarity", pa.float64()),
    pa.field("measure", pa.string()),
    pa.field("distance", pa.int64()),
]

REMOVED = pa.schema([pa.field("id", pa.string()), pa.field("kept_id", pa.string()), *_MEASURES])
"""Columns of the file of removed documents."""

_KINDS = ("identical", "equal", "similar")
"""Why a document was dropped: the same normalized text; similarity 1; a lower similarity."""

_OPTIONAL: list[pa.Field[Any]] = [
    # One of _KINDS, where it is known.
    pa.field("kind", pa.string()),
    # How many documents the kept one represents, itself included, as `cluster_size` of records.
    pa.field("cluster_size", pa.int64()),
    # Titles, if a record has one.
    pa.field("title", pa.string()),
    pa.field("kept_title", pa.string()),
    # The kept document's collection, if there was another one.
    pa.field("kept_from", pa.string()),
    # Numbers of the records, if ids are repeated.
    pa.field("record", pa.int64()),
    pa.field("kept_record", pa.int64()),
    # Of an index: identical or similar, and the time of arrival.
    pa.field("reason", pa.string()),
    pa.field("at", pa.timestamp("us", tz="UTC")),
]

PAIRS = pa.schema([pa.field("id_a", pa.string()), pa.field("id_b", pa.string()), *_MEASURES])
"""Columns of a file of pairs."""

_ROWS = 8192


def removed_table(
    ids: Any,
    kept_ids: Any,
    similarity: Any,
    distance: Any,
    measure: str,
    optional: Mapping[str, Any] = MappingProxyType({}),
) -> pa.Table:
    """Return dropped documents as a table, from columns of equal length."""
    columns = {
        "id": _column(ids, pa.large_string()),
        "kept_id": _column(kept_ids, pa.large_string()),
        "similarity": _column(similarity, pa.float64()),
        "measure": repeated_text(measure, len(similarity)),
        "distance": _column(distance, pa.int32()),
    }
    for field in _OPTIONAL:
        if field.name in optional:
            columns[field.name] = _column(optional[field.name], field.type)
    return pa.table(columns)


def kinds(identical: NDArray[np.bool_], similarity: NDArray[np.float64]) -> pa.Array[Any]:
    """Return the kind of each removal."""
    places = np.where(identical, 0, np.where(similarity >= 1, 1, 2))
    return rows_of(pa.chunked_array([texts_array(_KINDS)]), places)


def removed_schema(names: Collection[str]) -> pa.Schema:
    """Return the columns of a file of removed documents, with the optional ones of these names."""
    return pa.schema([*REMOVED, *(field for field in _OPTIONAL if field.name in names)])


def _column(values: Any, kind: pa.DataType) -> Any:
    is_arrow = isinstance(values, (pa.Array, pa.ChunkedArray))
    return values if is_arrow else pa.array(values, kind)


def write_rows(
    output: Output | OutputFolder,
    rows: pa.Table | Iterable[dict[str, Any]],
    schema: pa.Schema,
    numbers: NDArray[np.integer[Any]] | None = None,
) -> int:
    """Write a table, or a dict for each row, to an open output; return the number of rows.

    Zero rows also give a valid file, with the header or schema of the format. For a folder,
    `numbers` has the document of each row, ascending.
    """
    writer = RowWriter(output, schema)
    count = 0
    for batch in _batches(rows, schema):
        end = count + batch.num_rows
        writer.write(batch, None if numbers is None else numbers[count:end])
        count = end
    writer.close()
    return count


class RowWriter:
    """Writes rows about documents to a file, or to the files of their inputs in a folder."""

    def __init__(self, output: Output | OutputFolder, schema: pa.Schema) -> None:
        self._output, self._schema = output, schema
        #: For a file for each input, the numbers of documents at which they end.
        self._ends: NDArray[np.int64] | None = None
        if isinstance(output, OutputFolder) and output.part_size is None:
            self._ends = np.cumsum(output.counts() or [], dtype=np.int64)
        self._input = 0
        self._file: Output | None = None
        self._turn()

    def _turn(self) -> None:
        file = self._output
        if isinstance(file, OutputFolder):
            file = file.at(self._input)
        if file is not self._file:
            self._file = file
            file.begin(self._schema)

    def write(self, batch: pa.RecordBatch, numbers: NDArray[np.integer[Any]] | None = None) -> None:
        """Write rows; `numbers` has their documents for a folder, which ascend over all calls."""
        begin = 0
        while begin < batch.num_rows:
            end = batch.num_rows
            if self._ends is not None:
                assert numbers is not None
                end = int(np.searchsorted(numbers, self._ends[self._input]))
            if end > begin:
                self._turn()
                assert self._file is not None
                self._file.write_batch(batch.slice(begin, end - begin))
            begin = end
            if begin < batch.num_rows:
                self._input += 1
                self._turn()

    def close(self) -> None:
        """Write the files of the inputs that follow."""
        while self._ends is not None and self._input + 1 < len(self._ends):
            self._input += 1
            self._turn()
        if isinstance(self._output, OutputFolder):
            self._output.close_file()


def _batches(
    rows: pa.Table | Iterable[dict[str, Any]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    if isinstance(rows, pa.Table):
        yield from rows.select(schema.names).cast(schema).to_batches(max_chunksize=_ROWS)
        return
    rest = iter(rows)
    while part := list(islice(rest, _ROWS)):
        yield pa.RecordBatch.from_pylist(part, schema)
