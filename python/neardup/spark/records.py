"""Records: from lines or rows to texts and ids, a batch at a time.

The same readers as on one machine say what is a text and what is a problem. They are told
of a source without a name, whose records are counted from the batch's first; what a
record is called is known when all batches were counted (`Named`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from neardup.readers.batch import Batch, Chunk, Problem
from neardup.readers.columns import check_types, chunk_of
from neardup.readers.fields import Columns, Fields
from neardup.readers.jsonl import LineReading
from neardup.spark.blobs import batch_from_bytes, batch_to_bytes

if TYPE_CHECKING:
    from neardup.spark.settings import Settings

#: Stands for the name of the source until it is known. No text of UTF-8 can hold it, so
#: it is not the beginning of anybody's id.
NAMELESS = "\udfff"

#: The column of a batch of lines.
LINE = "line"

_BOM = b"\xef\xbb\xbf"


def records_of(rows: pa.RecordBatch, settings: Settings, *, at_beginning: bool) -> pa.RecordBatch:
    """Return the records among some rows: blank lines are none.

    A byte order mark at the beginning of a file is no part of its first line.
    """
    if not settings.lines:
        return rows
    lines: list[Any] = rows.column(0).to_pylist()
    if at_beginning and lines:
        lines[0] = lines[0].removeprefix(_BOM)
    kept = [line for line in lines if line and not line.isspace()]
    return pa.record_batch({LINE: pa.array(kept, pa.large_binary())})


def piece(records: pa.RecordBatch, settings: Settings) -> Chunk:
    """Read texts, ids and problems of records."""
    if settings.lines:
        lines: list[Any] = records.column(LINE).to_pylist()
        reading = LineReading(NAMELESS, settings.fields, False)
        return reading.clean(lines) or reading.careful(lines)
    columns = columns_of(records.schema, settings.fields)
    return chunk_of(
        records.column, columns, settings.fields, False, NAMELESS, 0, _unnamed, records.nbytes
    )


def columns_of(schema: pa.Schema, fields: Fields) -> Columns:
    """Choose the columns of text and id.

    Raises
    ------
    InputError
        If there is none for the text, or one that was named is missing or of another type.
    """
    return check_types(schema, Columns.choose(schema.names, fields, "input"), fields, "input")


def _unnamed(number: int) -> str:
    return f"{NAMELESS}:{number}"


def batch_of(piece: Chunk) -> Batch:
    """Return a piece as the batch that sketching takes."""
    return Batch(
        first=0,
        texts=piece.texts,
        ids=piece.ids,
        problems=[problem for _, problem in piece.problems],
        bytes_read=piece.bytes_read,
        runs=piece.runs,
    )


def texts_of(records: pa.RecordBatch, places: Any, settings: Settings) -> pa.Array[Any]:
    """Return the texts of the records at some places."""
    some = records.take(pa.array(places, pa.int64()))
    texts: Any = piece(some, settings).texts
    filled: pa.Array[Any] = texts.fill_null("")
    return filled


def ids_to_bytes(ids: Sequence[str]) -> bytes:
    """Return ids as bytes, without those that the place of a record makes."""
    own = [None if key.startswith(NAMELESS) else key for key in ids]
    return batch_to_bytes(pa.record_batch({"id": pa.array(own, pa.large_string())}))


def problems_to_bytes(problems: list[Problem]) -> bytes:
    """Return problems as bytes, without their source."""
    return orjson.dumps([{**problem.to_dict(), "source": ""} for problem in problems])


@dataclass(frozen=True)
class Named:
    """What the records of a batch are called.

    Parameters
    ----------
    source : str or None
        The file; None for a table.
    before : int
        Records of the same source before the batch.
    """

    source: str | None
    before: int

    def ids(self, blob: bytes, places: list[int]) -> list[str]:
        """Return the ids at some places of the batch, made of the place where there is none."""
        column: Any = batch_from_bytes(blob).column("id")
        found = column.take(pa.array(places, pa.int64())).to_pylist()
        return [
            self._own(at) if key is None else key for key, at in zip(found, places, strict=True)
        ]

    def _own(self, place: int) -> str:
        number = self.before + place
        return str(number) if self.source is None else f"{self.source}:{number + 1}"

    def problems(self, blob: bytes) -> list[Problem]:
        """Return the problems of the batch, with their places in the source."""
        return [
            dataclasses.replace(
                problem,
                source="input" if self.source is None else self.source,
                record=None if problem.record is None else problem.record + self.before,
            )
            for problem in (Problem.from_dict(parts) for parts in orjson.loads(blob))
        ]


__all__ = [
    "LINE",
    "NAMELESS",
    "Named",
    "batch_of",
    "columns_of",
    "ids_to_bytes",
    "piece",
    "problems_to_bytes",
    "records_of",
    "texts_of",
]
