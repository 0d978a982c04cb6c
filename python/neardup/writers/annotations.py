"""Fields that say what de-duplication found, added to the records that are written.

A record keeps all that it has, byte for byte in JSON lines; a record without readable text has
none of the fields there, and nulls in tables.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

from neardup.base.arrays import rows_of
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Problem, refusal
from neardup.readers.jsonl import JsonLines, exact_record
from neardup.writers.cells import jsonl_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.readers.source import Row, Source

__all__ = ["Annotations", "check_free"]

#: All fields and their types.
FIELDS: dict[str, pa.DataType] = {
    "cluster_id": pa.string(),
    "cluster_size": pa.int64(),
    "kept_id": pa.string(),
    "similarity": pa.float64(),
    "measure": pa.string(),
}

#: Records in which a field of the same name is looked for before anything is read.
_FIRST = 1000


class Annotations:
    """The fields of the records that are written, taken in their order.

    Parameters
    ----------
    names : sequence of str
        Some of the fields.
    ids : ChunkedArray of large_string
        The ids of all documents.
    kept_for, similarity : ndarray
        Of all documents, as in `Decided`.
    measure : str
    documents : ndarray of int64
        The documents that are written.
    readable : ndarray of bool
        Whether each of these has a readable text.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        *,
        ids: pa.ChunkedArray[Any],
        kept_for: NDArray[np.int64],
        similarity: NDArray[np.float64],
        measure: str,
        documents: NDArray[np.int64],
        readable: NDArray[np.bool_],
    ) -> None:
        self.schema = pa.schema([(name, FIELDS[name]) for name in names])
        self._ids = ids
        self._kept_for, self._similarity, self._measure = kept_for, similarity, measure
        self._documents, self._readable = documents, readable
        # A cluster is a kept document and those that were dropped for it.
        self._sizes = 1 + np.bincount(kept_for[kept_for >= 0], minlength=len(kept_for))
        self._taken = 0

    def take(self, count: int) -> pa.RecordBatch:
        """Return the fields of the next `count` records."""
        part = slice(self._taken, self._taken + count)
        self._taken += count
        documents, missing = self._documents[part], ~self._readable[part]
        kept = self._kept_for[documents]
        cluster = np.where(kept < 0, documents, kept)
        ids = rows_of(self._ids, cluster).to_numpy(zero_copy_only=False)
        not_dropped = missing | (kept < 0)
        values: dict[str, tuple[Any, NDArray[np.bool_]]] = {
            "cluster_id": (ids, missing),
            "cluster_size": (self._sizes[cluster], missing),
            "kept_id": (ids, not_dropped),
            "similarity": (self._similarity[documents], not_dropped),
            "measure": (np.full(len(kept), self._measure, object), not_dropped),
        }
        arrays = []
        for field in self.schema:
            array, absent = values[field.name]
            arrays.append(pa.array(array, field.type, mask=absent))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def rows(self, rows: list[Row]) -> list[Row]:
        """Return records with the fields added to each; problems stay as they are."""
        added = self.take(len(rows)).to_pylist()
        return [
            row if isinstance(row, Problem) else row | fields
            for row, fields in zip(rows, added, strict=True)
        ]

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        """Return the columns of records with the fields added."""
        return [*batch.columns, *self.take(batch.num_rows).columns]

    def lines(self, data: bytes) -> bytes:
        """Return JSON lines with the fields added to each."""
        lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
        readable = self._readable[self._taken : self._taken + len(lines)].tolist()
        rows = self.take(len(lines)).to_pylist()
        made = []
        for line, row, is_readable in zip(lines, rows, readable, strict=True):
            made.append(_with_fields(line, row) if is_readable else line)
        return b"".join(made)


def check_free(sources: list[Source], names: tuple[str, ...]) -> None:
    """Refuse sources whose records, or first 1,000 JSON lines, have fields of these names."""
    for source in sources:
        present = set(source.names() or ())
        if isinstance(source, JsonLines):
            for record in islice(source.first_records(), _FIRST):
                present.update(record if isinstance(record, dict) else ())
        taken = [name for name in names if name in present]
        if taken:
            reason = Message("writers.must_not_have_field", field=taken[0])
            raise InputError(refusal(source.name, reason))


def _with_fields(line: bytes, row: dict[str, Any]) -> bytes:
    """Return a record's line with fields before its last brace."""
    if any(f'"{name}"'.encode() in line for name in row):
        record = exact_record(line)
        if not record.keys().isdisjoint(row):
            return jsonl_bytes([record | row])
    body = line.rstrip()
    added = orjson.dumps(row)[1:]
    return body[:-1].rstrip() + b"," + added + line[len(body) :]
