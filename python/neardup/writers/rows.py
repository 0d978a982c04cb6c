"""Writing of rows that neardup makes: removed documents and pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from neardup.base.arrays import repeated_text
from neardup.writers.output import Output, open_output

__all__ = ["PAIRS", "REMOVED", "removed_schema", "write_rows"]

_MEASURES: list[pa.Field[Any]] = [
    pa.field("similarity", pa.float64()),
    pa.field("measure", pa.string()),
    pa.field("distance", pa.int64()),
]

REMOVED = pa.schema([pa.field("id", pa.string()), pa.field("kept_id", pa.string()), *_MEASURES])
"""Columns of the file of removed documents."""

_OPTIONAL: list[pa.Field[Any]] = [
    # The kept document's collection, if there was another one.
    pa.field("kept_from", pa.string()),
    # Numbers of the records, if ids are repeated.
    pa.field("record", pa.int64()),
    pa.field("kept_record", pa.int64()),
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
    """Return the dropped documents as a table, from columns of equal length.

    `distance` is null without fingerprints; `optional` are further columns by name.
    """
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


def removed_schema(removed: pa.Table) -> pa.Schema:
    """Return the columns of the file of these removed documents."""
    return pa.schema([*REMOVED, *(f for f in _OPTIONAL if f.name in removed.column_names)])


Rows = pa.Table | pa.RecordBatch | Mapping[str, Any] | Iterable[Any]


def _column(values: Any, kind: pa.DataType) -> Any:
    is_arrow = isinstance(values, (pa.Array, pa.ChunkedArray))
    return values if is_arrow else pa.array(values, kind)


def write_rows(output: Output | str | Path | None, rows: Rows, schema: pa.Schema) -> int:
    """Write rows to an output, and return their number.

    Parameters
    ----------
    output : Output, str, Path or None
        An open output, which the caller commits; or a path as for
        `open_output`, which is committed here.
    rows : table, mapping of columns, or iterable
        A pyarrow Table or RecordBatch, a mapping from column names to columns of
        equal length, or an iterable of such tables or of dicts, one per row.
    schema : pyarrow.Schema
        `REMOVED`, `PAIRS` or another; sets columns, their order and types.

    Returns
    -------
    int
        Number of rows written. Zero rows also give a valid file, with the header
        or schema of the format.

    Raises
    ------
    OutputError
        If the output cannot be written.
    """
    if not isinstance(output, Output):
        with open_output(output) as opened:
            return write_rows(opened, rows, schema)
    output.begin(schema)
    count = 0
    for batch in _batches(rows, schema):
        output.write_batch(batch)
        count += batch.num_rows
    return count


def _batches(rows: Rows, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    elif isinstance(rows, Mapping):
        rows = pa.table(
            {name: pa.array(rows[name], schema.field(name).type) for name in schema.names}
        )
    if isinstance(rows, pa.Table):
        yield from rows.select(schema.names).cast(schema).to_batches(max_chunksize=_ROWS)
        return
    rest = iter(rows)
    while part := list(islice(rest, _ROWS)):
        waiting: list[dict[str, Any]] = []
        for row in part:
            if isinstance(row, (pa.Table, pa.RecordBatch)):
                if waiting:
                    yield pa.RecordBatch.from_pylist(waiting, schema)
                    waiting = []
                yield from _batches(row, schema)
            else:
                waiting.append(row)
        if waiting:
            yield pa.RecordBatch.from_pylist(waiting, schema)
