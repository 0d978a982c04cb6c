"""Parts of texts that are replaced in the records that are written.

All else of a record stays as it is: in JSON lines byte for byte, also the escapes in the rest of
the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import _core
from neardup.readers.batch import Problem
from neardup.readers.fields import TEXT_FIELDS, Fields
from neardup.readers.jsonl import exact_record
from neardup.writers.cells import jsonl_bytes

if TYPE_CHECKING:
    from neardup.readers.source import Row

__all__ = ["Cuts", "joined_spans"]

#: A half-open span of a text, in code points.
Span = tuple[int, int]


class Cuts:
    """What is replaced in the records that are written, taken in their order.

    Parameters
    ----------
    spans : iterator of sequence of (int, int)
        Of each record that is written: spans of its text in code points, half-open, disjoint and
        ascending.
    mark : str
        Replaces each of these spans.
    text_field : str or None
        The field of the text, as the user named it.
    """

    schema = pa.schema([])

    def __init__(
        self,
        spans: Iterator[Sequence[Span]],
        mark: str,
        text_field: str | None,
    ) -> None:
        self._spans, self._mark = spans, mark
        self._fields = Fields(text_field)
        self._names = list(TEXT_FIELDS) if text_field is None else [text_field]

    def _take(self, count: int) -> list[Sequence[Span]]:
        """Return the spans of the next `count` records."""
        return list(islice(self._spans, count))

    def lines(self, data: bytes) -> bytes:
        """Return JSON lines with the parts replaced."""
        lines = data.removesuffix(b"\n").split(b"\n")
        made = []
        for line, spans in zip(lines, self._take(len(lines)), strict=True):
            made.append(self._line(line, spans) + b"\n" if spans else line + b"\n")
        return b"".join(made)

    def _line(self, line: bytes, spans: Sequence[Span]) -> bytes:
        made = _core.replaced_text(line, self._names, spans, self._mark)
        if made is None:
            # Nested too deeply for the core, which knows where each byte belongs.
            record: Any = self._row(exact_record(line), spans)
            return jsonl_bytes([record]).removesuffix(b"\n")
        return made

    def rows(self, rows: list[Row]) -> list[Row]:
        """Return records with the parts replaced."""
        all_spans = self._take(len(rows))
        return [self._row(row, spans) for row, spans in zip(rows, all_spans, strict=True)]

    def _row(self, row: Row, spans: Sequence[Span]) -> Row:
        if isinstance(row, Problem) or not spans:
            return row
        # A text file has its text in the first of the fields, whatever the user named.
        name = self._fields.text_of(row) or TEXT_FIELDS[0]
        return row | {name: self._cut(str(row[name]), spans)}

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        """Return columns with the parts replaced in that of the texts."""
        columns = list(batch.columns)
        all_spans = self._take(batch.num_rows)
        name = self._fields.text_of(batch.schema.names)
        if name is not None and any(all_spans):
            at = batch.schema.get_field_index(name)
            values: list[Any] = columns[at].to_pylist()
            for row, spans in enumerate(all_spans):
                if spans:
                    values[row] = self._cut(values[row], spans)
            columns[at] = pa.array(values, pa.large_string()).cast(columns[at].type)
        return columns

    def _cut(self, text: str, spans: Sequence[Span]) -> str:
        made = []
        copied = 0
        for begin, end in spans:
            made += [text[copied:begin], self._mark]
            copied = end
        return "".join([*made, text[copied:]])


def joined_spans(spans: Iterable[Span]) -> list[Span]:
    """Return disjoint spans in ascending order that cover the same.

    Examples
    --------
    >>> joined_spans([(5, 9), (0, 2), (8, 12), (2, 3)])
    [(0, 3), (5, 12)]
    """
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined
