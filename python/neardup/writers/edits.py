"""Changes of the records that are written: added fields, and parts of texts that are cut out.

All else of a record stays as it is, in JSON lines byte for byte.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

from neardup import _core
from neardup.base.arrays import rows_of
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Problem, refusal
from neardup.readers.fields import SAMPLED_RECORDS, TEXT_FIELDS, Fields
from neardup.readers.jsonl import JsonLines
from neardup.readers.source import Row, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The fields that `Annotations` adds.
FIELDS: dict[str, pa.DataType] = {
    "cluster_id": pa.string(),
    "cluster_size": pa.int64(),
    "kept_id": pa.string(),
    "similarity": pa.float64(),
    "measure": pa.string(),
}

#: A half-open span of a text, in code points.
Span = tuple[int, int]


class Edits(ABC):
    """Changes of the records that are written, taken in their order; one for each record."""

    #: The fields that are added to each record.
    schema: pa.Schema = pa.schema([])

    @abstractmethod
    def _take(self, count: int) -> list[Any]:
        """Return the changes of the next `count` records."""

    @abstractmethod
    def _line(self, line: bytes, change: Any) -> bytes:
        """Return a JSON line as it is written."""

    @abstractmethod
    def _row(self, row: dict[str, Any], change: Any) -> Row:
        """Return a record as it is written."""

    @abstractmethod
    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        """Return the columns of the next records as they are written."""

    def lines(self, data: bytes) -> bytes:
        """Return the next JSON lines as they are written."""
        lines = data.removesuffix(b"\n").split(b"\n")
        changes = self._take(len(lines))
        made = [self._line(line, change) for line, change in zip(lines, changes, strict=True)]
        return b"\n".join([*made, b""])

    def rows(self, rows: list[Row]) -> list[Row]:
        """Return the next records as they are written; problems stay as they are."""
        return [
            row if isinstance(row, Problem) else self._row(row, change)
            for row, change in zip(rows, self._take(len(rows)), strict=True)
        ]


class Annotations(Edits):
    """Some of `FIELDS`, which say what de-duplication found.

    `ids`, `kept_for` and `similarity` are of all documents, as in `Decided`; `documents` are those
    that are written, and `readable` tells whether each of them has a readable text. Others have
    none of the fields in JSON lines, and nulls in tables.
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

    def _take_columns(self, count: int) -> list[pa.Array[Any]]:
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
        return [
            pa.array(values[field.name][0], field.type, mask=values[field.name][1])
            for field in self.schema
        ]

    def _take(self, count: int) -> list[tuple[bool, dict[str, Any]]]:
        readable = self._readable[self._taken : self._taken + count].tolist()
        columns = self._take_columns(count)
        fields = pa.RecordBatch.from_arrays(columns, schema=self.schema).to_pylist()
        return list(zip(readable, fields, strict=True))

    def _line(self, line: bytes, change: tuple[bool, dict[str, Any]]) -> bytes:
        is_readable, fields = change
        if not is_readable:
            return line
        if any(f'"{name}"'.encode() in line for name in fields):
            # Python's own parser keeps all digits of a number.
            record = json.loads(line)
            if not record.keys().isdisjoint(fields):
                made = json.dumps(record | fields, ensure_ascii=False, separators=(",", ":"))
                return made.encode()
        # The fields go before the record's last brace.
        body = line.rstrip()
        added = orjson.dumps(fields)[1:]
        return body[:-1].rstrip() + b"," + added + line[len(body) :]

    def _row(self, row: dict[str, Any], change: tuple[bool, dict[str, Any]]) -> Row:
        return row | change[1]

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        return [*batch.columns, *self._take_columns(batch.num_rows)]


def check_free(sources: list[Source], names: tuple[str, ...]) -> None:
    """Refuse sources whose records, or first 1,000 JSON lines, have fields of these names."""
    for source in sources:
        present = set(source.names() or ())
        if isinstance(source, JsonLines):
            for record in islice(source.first_records(), SAMPLED_RECORDS):
                present.update(record if isinstance(record, dict) else ())
        taken = [name for name in names if name in present]
        if taken:
            reason = Message("must have no field {field}, which would be added", field=taken[0])
            raise InputError(refusal(source.name, reason))


class Cuts(Edits):
    """Parts of texts that are cut out.

    `spans` has, of each record that is written, the spans of its text that are cut out: half-open,
    in code points, disjoint and ascending.
    """

    def __init__(self, spans: Iterator[Sequence[Span]], text_field: str | None) -> None:
        self._spans = spans
        self._fields = Fields(text_field)
        self._names = list(TEXT_FIELDS) if text_field is None else [text_field]

    def _take(self, count: int) -> list[Sequence[Span]]:
        return list(islice(self._spans, count))

    def _line(self, line: bytes, change: Sequence[Span]) -> bytes:
        if not change:
            return line
        made = _core.cut_text(line, self._names, change)
        assert made is not None, "the core has read this text"
        return made

    def _row(self, row: dict[str, Any], change: Sequence[Span]) -> Row:
        if not change:
            return row
        # A text file has its text in the first of the fields, whatever the user named.
        name = self._fields.text_of(row) or TEXT_FIELDS[0]
        return row | {name: self._cut(str(row[name]), change)}

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        columns = list(batch.columns)
        all_spans = self._take(batch.num_rows)
        name = self._fields.text_of(batch.schema.names)
        if name is not None and any(all_spans):
            position = batch.schema.get_field_index(name)
            values: list[Any] = columns[position].to_pylist()
            for row, spans in enumerate(all_spans):
                if spans:
                    values[row] = self._cut(values[row], spans)
            columns[position] = pa.array(values, pa.large_string()).cast(columns[position].type)
        return columns

    def _cut(self, text: str, spans: Sequence[Span]) -> str:
        ends = [0, *(end for _, end in spans)]
        begins = [*(begin for begin, _ in spans), len(text)]
        return "".join(text[end:begin] for end, begin in zip(ends, begins, strict=True))
