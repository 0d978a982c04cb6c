"""Tables and lists in memory as batches, and the kept rows in the same kind of container.

A pandas DataFrame keeps its index and its types, since rows are picked from it
directly, without conversion. Neither pandas nor polars is imported: a caller with
such a table has loaded the library already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import ParameterError
from neardup.readers.batch import (
    BATCH_BYTES,
    BATCH_RECORDS,
    Batch,
    Problem,
    regroup,
    show,
    without_records,
)
from neardup.readers.columns import PART_ROWS, batch_of_columns, check_types, is_text, row_ranges
from neardup.readers.containers import opened_container
from neardup.readers.fields import (
    DEFAULT_ID,
    DEFAULT_TITLE,
    MAX_TEXT,
    Columns,
    Fields,
    check_text_field,
)

_NAME = "input"
_TEXT = Columns("text", None, None, ())


class TableSource:
    """A table or list opened for reading. Made by `open_table`."""

    def __init__(self, data: Any, fields: Fields, parameter: str) -> None:
        self._reader = isinstance(data, pa.RecordBatchReader)
        container = opened_container(data)
        self._kept = None if container is None else container[1]
        self._data = _rereadable(data if container is None else container[0], parameter)
        self._fields = fields
        self._chunks = _chunks_of(self._data, fields)
        self.records: int = _length(self._data)

    def batches(
        self,
        *,
        titles: bool | None = None,
        batch_bytes: int = BATCH_BYTES,
        batch_records: int = BATCH_RECORDS,
    ) -> Iterator[Batch]:
        """Read the table from its beginning; see `Sources.batches`."""
        wanted = self._fields.title is not None if titles is None else titles
        chunks = map(self._fields.bounded, self._chunks(wanted))
        return regroup(chunks, batch_bytes, batch_records)

    def kept(self, keep: npt.ArrayLike) -> Any:
        """Return the kept rows in a container of the same kind as the input."""
        if self._kept is not None:
            return self._kept(np.asarray(keep, dtype=bool))
        kept = take_kept(self._data, keep)
        return kept.to_reader() if self._reader else kept


def open_table(
    data: Any,
    *,
    parameter: str = "data",
    text_field: str | None = None,
    title_field: str | None = None,
    id_field: str | None = None,
    extra_fields: Sequence[str] = (),
    max_text: int = MAX_TEXT,
    text_parameter: str = "text_field",
) -> TableSource:
    """Open a table or list in memory, of any kind that `neardup.dedup` takes.

    `parameter` is the one that the caller was given it by, for errors; other parameters as in
    `open_sources`. Without an id field, a row's id is its position from 0, as text.
    """
    fields = Fields(
        text_field, title_field, id_field, tuple(extra_fields), text_parameter, max_text
    )
    return TableSource(data, fields, parameter)


def open_others(data: Any, *, parameter: str, **fields: Any) -> Any:
    """Open another collection: a table or list as `open_table` does, or a persistent index."""
    if hasattr(data, "_open_stored_texts"):
        return data._open_stored_texts(parameter)
    return open_table(data, parameter=parameter, **fields)


def take_kept(data: Any, keep: npt.ArrayLike) -> Any:
    """Return the kept rows of a table or list, in a container of the same kind.

    Parameters
    ----------
    data : table, series or list
        As for `open_table`, but not one that can be read only once.
    keep : array-like of bool, shape (n,)
        True for the rows to keep.

    Raises
    ------
    ParameterError
        If the number of flags is not that of the rows.

    Examples
    --------
    >>> take_kept(("a", "b", "c"), [True, False, True])
    ('a', 'c')
    """
    mask = np.asarray(keep, dtype=bool)
    if mask.shape != (_length(data),):
        raise ParameterError(
            Message(
                "readers.flags_per_row",
                parameter="keep",
                count=_length(data),
                value=str(mask.shape),
            )
        )
    if isinstance(data, (list, tuple)):
        picked = compress(data, mask.tolist())
        return list(picked) if isinstance(data, list) else tuple(picked)
    if _is_of(data, "pandas") or isinstance(data, np.ndarray):
        return data[mask]
    if _is_of(data, "polars"):
        return data.filter(sys.modules["polars"].Series(mask))
    return data.filter(pa.array(mask))


def _is_of(data: Any, library: str) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == library and kind.__name__ in ("DataFrame", "Series")


def _length(data: Any) -> int:
    return data.num_rows if isinstance(data, (pa.Table, pa.RecordBatch)) else len(data)


def _rereadable(data: Any, parameter: str) -> Any:
    """Return the data if it can be read twice, else all its rows as a table."""
    if isinstance(data, (list, tuple, pa.Table, pa.RecordBatch, pa.Array, pa.ChunkedArray)):
        return data
    if _is_of(data, "pandas") or _is_of(data, "polars"):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return pa.table(data)
    if isinstance(data, Iterator):
        return list(data)
    if isinstance(data, np.ndarray) and data.ndim == 1:
        return data
    raise ParameterError(
        Message(
            "readers.data_must_be",
            parameter=parameter,
            value=type(data).__name__,
            way_out=_way_out(data),
        )
    )


def _way_out(data: Any) -> str:
    if isinstance(data, (str, os.PathLike)):
        return Message("readers.for_files")
    if isinstance(data, (bytes, Mapping)):
        return ""
    return Message("readers.make_a_list") if isinstance(data, Iterable) else ""


def _chunks_of(data: Any, fields: Fields) -> Callable[[bool], Iterator[Batch]]:
    """Choose the columns, and return a function that reads them."""
    if isinstance(data, np.ndarray):
        data = data.tolist()
    if isinstance(data, (list, tuple)):
        if any(isinstance(value, dict) for value in data):
            check_text_field(data, fields, _NAME)
            return lambda titles: _dict_chunks(data, fields, titles)
        return lambda titles: _column_chunks({"text": list(data)}, _TEXT, Fields(), titles)
    columns: dict[str, pa.ChunkedArray[Any] | list[Any]]
    if isinstance(data, (pa.Array, pa.ChunkedArray)) or type(data).__name__ == "Series":
        columns, fields = {"text": _loaded(data)}, Fields()
        names = ["text"]
        chosen = _TEXT
    else:
        # Labels of pandas columns need not be text.
        pandas = _is_of(data, "pandas")
        names = [
            str(name)
            for name in (data.columns if pandas or _is_of(data, "polars") else data.schema.names)
        ]
        chosen = Columns.choose(names, fields, _NAME)
        wanted = {chosen.text, chosen.title, chosen.id, *chosen.extra} - {None}
        columns = {name: _loaded(_pick(data, names, name)) for name in names if name in wanted}
    if not _length(data):
        # Without values, pandas guesses a type; every type is acceptable.
        columns = {name: pa.chunked_array([], pa.string()) for name in columns}
    schema = pa.schema(
        [(n, pa.string() if isinstance(c, list) else c.type) for n, c in columns.items()]
    )
    chosen = check_types(schema, chosen, fields, _NAME)
    return lambda titles: _column_chunks(columns, chosen, fields, titles)


def _pick(data: Any, names: list[str], name: str) -> Any:
    if _is_of(data, "pandas"):
        return data.iloc[:, names.index(name)]
    return data[name] if _is_of(data, "polars") else data.column(name)


def _loaded(column: Any) -> pa.ChunkedArray[Any] | list[Any]:
    """Return a column as Arrow, or as a list if Arrow cannot represent its values."""
    if _is_of(column, "polars"):
        column = column.to_arrow()
    elif _is_of(column, "pandas"):
        try:
            arrow = pa.array(column, from_pandas=True)
        except (pa.ArrowException, UnicodeEncodeError):
            values: list[Any] = column.tolist()
            return values
        # Arrow converted the objects to another type, such as dates.
        if (
            column.dtype == object
            and not is_text(arrow.type)
            and not pa.types.is_integer(arrow.type)
        ):
            return list(column.tolist())
        column = arrow
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _column_chunks(
    columns: dict[str, Any], chosen: Columns, fields: Fields, titles: bool
) -> Iterator[Batch]:
    for begin, end in _ranges(list(columns.values())):

        def column(name: str, begin: int = begin, end: int = end) -> pa.Array[Any] | list[Any]:
            values: Any = columns[name]
            if isinstance(values, list):
                some: list[Any] = values[begin:end]
                return some
            part = values.slice(begin, end - begin)
            only: pa.Array[Any] = (
                part.chunk(0) if part.num_chunks == 1 else pa.concat_arrays(part.chunks)
            )
            return only

        chunk = batch_of_columns(column, chosen, fields, titles, _NAME, begin, _position, 0)
        chunk.bytes_read = chunk.texts.nbytes
        yield chunk


def _ranges(columns: list[Any]) -> Iterator[tuple[int, int]]:
    """Cut the rows of columns into the ranges that are read together."""
    for first in range(0, len(columns[0]), PART_ROWS):
        parts = [
            column[first : first + PART_ROWS]
            if isinstance(column, list)
            else column.slice(first, PART_ROWS)
            for column in columns
        ]
        for begin, end in row_ranges(parts, len(parts[0])):
            yield first + begin, first + end


def _dict_chunks(data: Sequence[Any], fields: Fields, titles: bool) -> Iterator[Batch]:
    chosen = Columns(
        # The text field may differ between records; this names all candidates.
        fields.text or fields.wanting(),
        (fields.title or DEFAULT_TITLE) if titles else None,
        fields.id or DEFAULT_ID,
        fields.extra,
    )
    all_texts = [row.get(fields.text_of(row)) if isinstance(row, dict) else None for row in data]
    for begin, end in _ranges([all_texts]):
        rows = data[begin:end]
        records = [row if isinstance(row, dict) else {} for row in rows]
        texts = all_texts[begin:end]

        def column(name: str, texts: Any = texts, records: list[Any] = records) -> list[Any]:
            return texts if name == chosen.text else [record.get(name) for record in records]

        chunk = batch_of_columns(column, chosen, fields, titles, _NAME, begin, _position, 0)
        chunk.bytes_read = chunk.texts.nbytes
        chunk.row_problems = [
            (i, _of_row(problem, rows[i], begin + i + 1, chosen.text, fields))
            for i, problem in chunk.row_problems
        ]
        yield chunk
    if fields.title is not None:
        records = [row for row in data if isinstance(row, dict)]
        if records and not any(fields.title in record for record in records):
            problem = fields.no_title(_NAME, len(records))
            yield without_records([problem], fields.extra)


def _of_row(problem: Problem, row: Any, number: int, column: str, fields: Fields) -> Problem:
    """Return the problem of a column value as that of its row."""
    if not isinstance(row, dict):
        return Problem(_NAME, number, None, Message("readers.must_be_dict"), show(row))
    if problem.field != column:
        return problem
    name = fields.text_of(row)
    if name is None or not isinstance(row[name], str):
        return fields.no_text(row, _NAME, number)
    return replace(problem, field=name)


def _position(number: int) -> str:
    return str(number - 1)
