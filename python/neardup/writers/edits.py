"""Changes of the records that are written: added fields, and parts of texts that are cut out.

All else of a record stays as it is, in JSON lines byte for byte.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from neardup.base.arrays import rows_of
from neardup.base.lazy import NDArray, _core, np, orjson, pa
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Problem, make_refusal
from neardup.readers.fields import SAMPLED_RECORDS, TEXT_FIELDS, Fields
from neardup.readers.jsonl import JsonLines
from neardup.readers.paths import change_texts, find_roots
from neardup.readers.source import Row, Source

#: The fields that tell of each document what became of it.
FIELDS = ("cluster_id", "cluster_size", "kept_id", "similarity", "measure")

#: The field with the ids of the documents that were dropped for a kept one.
COPIES = "copies"

#: A half-open span of a text, in code points.
Span = tuple[int, int]


class Edits(ABC):
    """Changes of the records that are written, taken in their order; one for each record."""

    #: The fields that are added to each record.
    schema: pa.Schema

    @abstractmethod
    def _take(self, count: int) -> list[Any]:
        """Return the changes of the next `count` records."""

    @abstractmethod
    def _edit_line(self, line: bytes, change: Any) -> bytes:
        """Return a JSON line as it is written."""

    @abstractmethod
    def _edit_row(self, row: dict[str, Any], change: Any) -> Row:
        """Return a record as it is written."""

    @abstractmethod
    def edit_columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        """Return the columns of the next records as they are written."""

    def edit_lines(self, data: bytes) -> bytes:
        """Return the next JSON lines as they are written."""
        lines = data.removesuffix(b"\n").split(b"\n")
        changes = self._take(len(lines))
        made = [self._edit_line(line, change) for line, change in zip(lines, changes, strict=True)]
        return b"\n".join([*made, b""])

    def edit_rows(self, rows: list[Row]) -> list[Row]:
        """Return the next records as they are written; problems stay as they are."""
        return [
            row if isinstance(row, Problem) else self._edit_row(row, change)
            for row, change in zip(rows, self._take(len(rows)), strict=True)
        ]


class Annotations(Edits):
    """Some of `FIELDS` and `COPIES`, which say what de-duplication found.

    `ids`, `kept_for` and `similarity` are of all documents, as in `Decisions`; `documents` are
    those that are written, and `readable` tells whether each of them has a readable text. Others
    have none of the fields in JSON lines, and nulls in tables.
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
        kinds: dict[str, pa.DataType] = dict.fromkeys(FIELDS, pa.string())
        kinds |= {"cluster_size": pa.int64(), "similarity": pa.float64()}
        kinds[COPIES] = pa.list_(pa.string())
        self.schema = pa.schema([(name, kinds[name]) for name in names])
        self._ids = ids
        self._kept_for, self._similarity, self._measure = kept_for, similarity, measure
        self._documents, self._readable = documents, readable
        # A cluster is a kept document and those that were dropped for it.
        self._sizes = 1 + np.bincount(kept_for[kept_for >= 0], minlength=len(kept_for))
        # The dropped documents by the kept one that they repeat, and the end of each such group.
        has_copies = COPIES in names
        dropped = np.flatnonzero(kept_for >= 0) if has_copies else np.zeros(0, np.int64)
        self._copies = dropped[np.argsort(kept_for[dropped], kind="stable")]
        self._ends = np.cumsum(self._sizes - 1) if has_copies else self._sizes
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
            self._list_copies(documents, missing)
            if field.name == COPIES
            else pa.array(values[field.name][0], field.type, mask=values[field.name][1])
            for field in self.schema
        ]

    def _list_copies(
        self, documents: NDArray[np.int64], missing: NDArray[np.bool_]
    ) -> pa.Array[Any]:
        """Return the ids of the documents that were dropped for each document."""
        ends, counts = self._ends[documents], self._sizes[documents] - 1
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(offsets[-1]) + np.repeat(ends - counts - offsets[:-1], counts)
        ids: Any = rows_of(self._ids, self._copies[places]).cast(pa.string())
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        lists: Any = pa.ListArray
        made: pa.Array[Any] = lists.from_arrays(
            pa.array(offsets, pa.int32()), ids, pa.list_(pa.string()), mask=pa.array(missing)
        )
        return made

    def _take(self, count: int) -> list[tuple[bool, dict[str, Any]]]:
        readable = self._readable[self._taken : self._taken + count].tolist()
        columns = self._take_columns(count)
        fields = pa.RecordBatch.from_arrays(columns, schema=self.schema).to_pylist()
        return list(zip(readable, fields, strict=True))

    def _edit_line(self, line: bytes, change: tuple[bool, dict[str, Any]]) -> bytes:
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

    def _edit_row(self, row: dict[str, Any], change: tuple[bool, dict[str, Any]]) -> Row:
        return row | change[1]

    def edit_columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        return [*batch.columns, *self._take_columns(batch.num_rows)]


def check_free(sources: list[Source], names: tuple[str, ...]) -> None:
    """Refuse sources whose records, or first 1,000 JSON lines, have fields of these names."""
    for source in sources:
        present = set(source.list_fields() or ())
        if isinstance(source, JsonLines):
            for record in islice(source.read_first_records(), SAMPLED_RECORDS):
                present.update(record if isinstance(record, dict) else ())
        taken = [name for name in names if name in present]
        if taken:
            reason = Message("must have no field {field}, which would be added", field=taken[0])
            raise InputError(make_refusal(source.name, reason))


class Cuts(Edits):
    """Parts of texts that are cut out.

    `spans` has, of each record that is written, the spans of its text that are cut out: half-open,
    in code points, disjoint and ascending.
    """

    def __init__(self, spans: Iterator[Sequence[Span]], text_field: str | None) -> None:
        self.schema = pa.schema([])
        self._spans = spans
        self._fields = Fields(text_field)

    def _take(self, count: int) -> list[Sequence[Span]]:
        return list(islice(self._spans, count))

    def _edit_line(self, line: bytes, change: Sequence[Span]) -> bytes:
        if not change:
            return line
        made = _core.cut_text(line, list(self._fields.texts), change)
        if made is not None:
            return made
        record = self._edit_row(json.loads(line), change)
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()

    def _edit_row(self, row: dict[str, Any], change: Sequence[Span]) -> dict[str, Any]:
        if not change:
            return row
        # A text file has its text in the first of the fields, whatever the user named.
        name = self._fields.find_text(row)[0] or TEXT_FIELDS[0]
        done = 0

        def cut(text: str) -> str:
            nonlocal done
            begin, done = done, done + len(text) + bool(text)
            inside = [(max(b - begin, 0), min(e - begin, len(text))) for b, e in change]
            ends = [0, *(e for b, e in inside if b < e)]
            begins = [*(b for b, e in inside if b < e), len(text)]
            return "".join(text[e:b] for e, b in zip(ends, begins, strict=True))

        return change_texts(row, name, cut)

    def edit_columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        columns = list(batch.columns)
        all_spans = self._take(batch.num_rows)
        names = batch.schema.names
        name = next((name for name in self._fields.texts if name in names), self._fields.text)
        if name is not None and any(all_spans):
            roots = [name] if name in names else find_roots(name, names)
            values = batch.select(list(roots)).to_pylist()
            rows = [
                self._edit_row(row, spans) for row, spans in zip(values, all_spans, strict=True)
            ]
            for root in roots:
                position = batch.schema.get_field_index(root)
                made: Any = pa.array([row[root] for row in rows], _widen(columns[position].type))
                columns[position] = made.cast(columns[position].type)
        return columns


def _widen(kind: pa.DataType) -> pa.DataType:
    """Return a type in which Python's values can be stored, for texts with room for all."""
    return kind if pa.types.is_nested(kind) else pa.large_string()
