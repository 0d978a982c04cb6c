"""Writing of rows that neardup makes: removed documents and pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from neardup.base.arrays import repeated_text, rows_of, texts_array
from neardup.base.lazy import NDArray, np, pa
from neardup.writers.folder import OutputFolder
from neardup.writers.output import Output

_KINDS = ("identical", "equal", "similar")
"""Why a document was dropped: the same normalized text; similarity 1; a lower similarity."""

_ROWS = 8192


@cache
def _list_optional() -> dict[str, pa.DataType]:
    """Return the columns of removed documents that not every task knows, with their types."""
    return {
        # One of _KINDS, where it is known.
        "kind": pa.string(),
        # How many documents the kept one represents, itself included, as `cluster_size` of records.
        "cluster_size": pa.int64(),
        # Titles, if a record has one.
        "title": pa.string(),
        "kept_title": pa.string(),
        # The kept document's collection, if there was another one.
        "kept_from": pa.string(),
        # Numbers of the records, if ids are repeated.
        "record": pa.int64(),
        "kept_record": pa.int64(),
        # Of an index: identical or similar, and the time of arrival.
        "reason": pa.string(),
        "at": pa.timestamp("us", tz="UTC"),
    }


def _list_compared(*ids: str) -> dict[str, pa.DataType]:
    """Return the columns of two documents that were compared."""
    columns: dict[str, pa.DataType] = dict.fromkeys((*ids, "similarity", "measure"), pa.string())
    return columns | {"similarity": pa.float64(), "distance": pa.int64()}


def pairs_schema() -> pa.Schema:
    """Return the columns of a file of pairs."""
    return pa.schema(_list_compared("id_a", "id_b"))


def removed_schema(names: Collection[str] = ()) -> pa.Schema:
    """Return the columns of a file of removed documents, with the optional ones of these names."""
    optional = {name: kind for name, kind in _list_optional().items() if name in names}
    return pa.schema(_list_compared("id", "kept_id") | optional)


def make_removed_table(
    ids: Any,
    kept_ids: Any,
    similarity: Any,
    distance: Any,
    measure: str,
    optional: Mapping[str, Any] = MappingProxyType({}),
) -> pa.Table:
    """Return dropped documents as a table, from columns of equal length."""
    columns = {
        "id": _make_column(ids, pa.large_string()),
        "kept_id": _make_column(kept_ids, pa.large_string()),
        "similarity": _make_column(similarity, pa.float64()),
        "measure": repeated_text(measure, len(similarity)),
        "distance": _make_column(distance, pa.int32()),
    }
    for name, kind in _list_optional().items():
        if name in optional:
            columns[name] = _make_column(optional[name], kind)
    return pa.table(columns)


def list_kinds(identical: NDArray[np.bool_], similarity: NDArray[np.float64]) -> pa.Array[Any]:
    """Return the kind of each removal."""
    places = np.where(identical, 0, np.where(similarity >= 1, 1, 2))
    return rows_of(pa.chunked_array([texts_array(_KINDS)]), places)


def _make_column(values: Any, kind: pa.DataType) -> Any:
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
    for batch in _cut_batches(rows, schema):
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
        self._change_file()

    def _change_file(self) -> None:
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
                self._change_file()
                assert self._file is not None
                self._file.write_batch(batch.slice(begin, end - begin))
            begin = end
            if begin < batch.num_rows:
                self._input += 1
                self._change_file()

    def close(self) -> None:
        """Write the files of the inputs that follow."""
        while self._ends is not None and self._input + 1 < len(self._ends):
            self._input += 1
            self._change_file()
        if isinstance(self._output, OutputFolder):
            self._output.close_file()


def _cut_batches(
    rows: pa.Table | Iterable[dict[str, Any]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    if isinstance(rows, pa.Table):
        yield from rows.select(schema.names).cast(schema).to_batches(max_chunksize=_ROWS)
        return
    rest = iter(rows)
    while part := list(islice(rest, _ROWS)):
        yield pa.RecordBatch.from_pylist(part, schema)
