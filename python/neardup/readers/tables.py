"""Tables and lists in memory as batches, and the kept rows in the same kind of container."""

from __future__ import annotations

import copy
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, Self, Union

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.base.arrays import rows_where
from neardup.base.messages import Message
from neardup.base.validation import check_fields
from neardup.exceptions import ParameterError
from neardup.readers.batch import (
    BATCH_BYTES,
    BATCH_RECORDS,
    Batch,
    Problem,
    Problems,
    regroup,
    show,
    without_records,
)
from neardup.readers.collection import Collection
from neardup.readers.columns import (
    PART_ROWS,
    ColumnReader,
    choose_columns,
    is_text,
    problem_of_text,
    row_ranges,
)
from neardup.readers.fields import (
    DEFAULT_ID,
    DEFAULT_TITLE,
    MAX_TEXT,
    SAMPLED_RECORDS,
    Columns,
    Fields,
    check_text_field,
)
from neardup.readers.paths import MISSING, paths_in, roots_of, value_at

_NAME = "input"
#: The name of a single column.
_TEXT = "text"

#: Returns the kept rows in the kind of the input, from a flag for each row.
_Kept = Callable[[npt.NDArray[np.bool_]], Any]
#: A column as Arrow, or as a list if Arrow cannot represent its values.
_Loaded = Union["pa.ChunkedArray[Any]", list[Any]]


class TableSource(Collection):
    """A table or list opened for reading. Made by `open_table`."""

    has_fields = True

    def __init__(self, data: Any, fields: Fields, parameter: str) -> None:
        self._data, self._kept = _opened(data, parameter)
        self._fields = fields
        self._chunks = _choose(self._data, fields, parameter)
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
        too_long = Problems()
        chunks = (self._fields.bounded(chunk, too_long) for chunk in self._chunks(wanted))
        return regroup(chunks, batch_bytes, batch_records)

    def with_extra(self, names: Sequence[str]) -> Self:
        """Return the same table with other extra fields, None where it lacks them."""
        same = copy.copy(self)
        same._fields = replace(self._fields, extra=tuple(names), optional=True)
        same._chunks = _choose(same._data, same._fields, "data")
        return same

    def titles(self, wanted: Sequence[int]) -> list[str | None]:
        """Return the titles of some rows, which no pass over the table needs."""
        return [title if isinstance(title, str) else None for title in self._titles(wanted)]

    def _titles(self, rows: Sequence[int]) -> list[Any]:
        data, name = self._data, self._fields.title or DEFAULT_TITLE
        if isinstance(data, (list, tuple)):
            records = (data[row] for row in rows)
            return [r.get(name) if isinstance(r, dict) else None for r in records]
        names = _names(data)
        if name not in names:
            return [None] * len(rows)
        column = _load(_pick(data, names, name))
        values = (column[row] for row in rows)
        return list(values) if isinstance(column, list) else [value.as_py() for value in values]

    def kept(self, keep: npt.ArrayLike) -> Any:
        """Return the kept rows in a container of the same kind as the input."""
        return self._kept(np.asarray(keep, dtype=bool))


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
        text_field,
        title_field,
        id_field,
        check_fields(extra_fields, "extra_fields"),
        text_parameter=text_parameter,
        max_text=max_text,
    )
    return TableSource(data, fields, parameter)


def open_others(data: Any, **fields: Any) -> Any:
    """Open another collection: a table or list as `open_table` does, or a persistent index."""
    if hasattr(data, "_open_stored_texts"):
        return data._open_stored_texts()
    return open_table(data, parameter="against", **fields)


def _opened(data: Any, parameter: str) -> tuple[Any, _Kept]:
    """Return rows that can be read twice, and what returns kept rows in the kind of the input.

    Kinds of other libraries are known by the names of their classes, so that none is imported.
    """
    kind = type(data)
    known = _KINDS.get((kind.__module__.partition(".")[0], kind.__name__))
    if known is not None:
        return known(data)
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        data = list(data)
    if isinstance(data, (list, tuple)):
        same = list if isinstance(data, list) else tuple
        return data, lambda keep: same(compress(data, keep.tolist()))
    if isinstance(data, np.ndarray) and data.ndim == 1:
        return data.tolist(), lambda keep: data[keep]
    if isinstance(data, pa.RecordBatchReader):
        table = data.read_all()
        return table, lambda keep: rows_where(table, keep).to_reader()
    if isinstance(data, (pa.Table, pa.RecordBatch, pa.Array, pa.ChunkedArray)):
        return _arrow(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _arrow(pa.table(data))
    raise ParameterError(
        Message(
            "{parameter:named} must be a pandas, polars or Arrow table, or a list, not "
            "{value}.{way_out}",
            parameter=parameter,
            value=kind.__name__,
            way_out=_way_out(data, parameter),
        )
    )


def _arrow(data: Any) -> tuple[Any, _Kept]:
    return data, lambda keep: rows_where(data, keep)


def _pandas(data: Any) -> tuple[Any, _Kept]:
    # Its index and its types stay, since rows are picked from it directly.
    return data, lambda keep: data[keep]


def _polars(data: Any) -> tuple[Any, _Kept]:
    series = sys.modules["polars"].Series
    return data, lambda keep: data.filter(series(keep))


def _lazy_frame(data: Any) -> tuple[Any, _Kept]:
    frame, kept = _polars(data.collect())
    return frame, lambda keep: kept(keep).lazy()


def _hugging_face(data: Any) -> tuple[Any, _Kept]:
    # Rows of a selection or a shuffle are in its order, which the table behind it is not.
    table = data.with_format("arrow")[:]
    return table, lambda keep: data.select(np.flatnonzero(keep))


_KINDS: dict[tuple[str, str], Callable[[Any], tuple[Any, _Kept]]] = {
    ("pandas", "DataFrame"): _pandas,
    ("pandas", "Series"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "Series"): _polars,
    ("polars", "LazyFrame"): _lazy_frame,
    ("datasets", "Dataset"): _hugging_face,
}


#: Hugging Face's kinds of several tables, by the names of their splits.
_SPLITS = ("DatasetDict", "IterableDatasetDict")


def _is_of(data: Any, library: str) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == library and kind.__name__ in ("DataFrame", "Series")


def _length(data: Any) -> int:
    return data.num_rows if isinstance(data, (pa.Table, pa.RecordBatch)) else len(data)


def _way_out(data: Any, parameter: str) -> str:
    if isinstance(data, Mapping) and type(data).__name__ in _SPLITS:
        split = json.dumps(str(next(iter(data), "train")), ensure_ascii=False)
        return Message(" Name a split: {one}.", one=f"{parameter}[{split}]")
    if isinstance(data, (str, os.PathLike)):
        return Message(" Functions for files end in _files: dedup_files, pairs_files.")
    if isinstance(data, (bytes, Mapping)):
        return ""
    return Message(" Make a list of it: list(...).") if isinstance(data, Iterable) else ""


def _are_records(data: Sequence[Any], parameter: str) -> bool:
    """Return whether a list has dicts rather than texts, as its first item that is not None says.

    A later item of another kind is a problem of its record.
    """
    some = ((i, value) for i, value in enumerate(data) if value is not None)
    number, item = next(some, (0, ""))
    if isinstance(item, (str, dict)):
        return isinstance(item, dict)
    way_out: str = ""
    if hasattr(item, "__arrow_c_array__") or hasattr(item, "columns"):
        way_out = Message(
            " Make one table of several: pyarrow.Table.from_batches(...), or pandas.concat(...)."
        )
    elif isinstance(item, bytes):
        way_out = Message(" Decode it with bytes.decode().")
    elif isinstance(item, Mapping):
        way_out = Message(" Make a dict of it: dict(...).")
    raise ParameterError(
        Message(
            "{parameter:named} must be a list of str or dict. Got {value} as item {number} instead."
            "{way_out}",
            parameter=parameter,
            number=number,
            value=type(item).__name__,
            way_out=way_out,
        )
    )


def _choose(data: Any, fields: Fields, parameter: str) -> Callable[[bool], Iterator[Batch]]:
    """Choose the fields to read; return the call that reads them, with or without titles."""
    if isinstance(data, (list, tuple)) and _are_records(data, parameter):
        check_text_field(data, fields, _NAME)
        return partial(_read_records, data, fields)
    if _is_one_column(data):
        # It has no fields that could be named.
        fields, names, columns = Fields(), [_TEXT], {_TEXT: _load(data)}
    else:
        names = _names(data)
        columns = {name: _load(_pick(data, names, name)) for name in _needed(names, fields)}
    if not _length(data):
        # Without values, pandas guesses a type; every type is acceptable.
        columns = dict.fromkeys(columns, pa.chunked_array([], pa.string()))
    schema = pa.schema([(name, _type_of(columns.get(name))) for name in names])
    if isinstance(data, (pa.Table, pa.RecordBatch)) and _length(data):
        schema = data.schema
    lists = [(name, column) for name, column in columns.items() if isinstance(column, list)]
    mixed = [p for n, column in lists for v in column[:SAMPLED_RECORDS] for p in paths_in({n: v})]
    chosen = choose_columns(schema, fields, _NAME, mixed)
    columns = {name: columns[name] for name in chosen.needed(titles=True)}
    return partial(_read_columns, columns, chosen, fields)


def _needed(names: list[str], fields: Fields) -> list[str]:
    """Return the columns that may be chosen, or lead to a field that may be."""
    named = {*fields.texts, fields.id or DEFAULT_ID, fields.title or DEFAULT_TITLE, *fields.extra}
    named.update(*(roots_of(name, names) for name in list(named)))
    # What is there twice is refused if it is chosen.
    times = Counter(names)
    return [name for name in names if name in named and times[name] == 1]


def _is_one_column(data: Any) -> bool:
    is_array = isinstance(data, (list, tuple, pa.Array, pa.ChunkedArray))
    return is_array or type(data).__name__ == "Series"


def _names(data: Any) -> list[str]:
    """Return the names of the columns; a single column has none."""
    if _is_one_column(data):
        return []
    is_frame = _is_of(data, "pandas") or _is_of(data, "polars")
    # Labels of pandas columns need not be text.
    return [str(name) for name in (data.columns if is_frame else data.schema.names)]


def _pick(data: Any, names: list[str], name: str) -> Any:
    if _is_of(data, "pandas"):
        return data.iloc[:, names.index(name)]
    return data[name] if _is_of(data, "polars") else data.column(name)


def _load(column: Any) -> _Loaded:
    """Return a column as Arrow, or as a list if Arrow cannot represent its values."""
    if isinstance(column, (list, tuple)):
        return list(column)
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
            and not pa.types.is_nested(arrow.type)
        ):
            return list(column.tolist())
        column = arrow
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _type_of(column: _Loaded | None) -> pa.DataType:
    if column is None:
        return pa.null()
    return pa.string() if isinstance(column, list) else column.type


def _read_columns(
    columns: dict[str, _Loaded], chosen: Columns, fields: Fields, titles: bool
) -> Iterator[Batch]:
    reader = ColumnReader(chosen, fields, titles, _NAME, _position)
    for begin, end in _ranges(list(columns.values())):

        def column(name: str, begin: int = begin, end: int = end) -> pa.Array[Any] | list[Any]:
            values: Any = columns[name]
            if isinstance(values, list):
                rows: list[Any] = values[begin:end]
                return rows
            part = values.slice(begin, end - begin)
            only: pa.Array[Any] = (
                part.chunk(0) if part.num_chunks == 1 else pa.concat_arrays(part.chunks)
            )
            return only

        yield reader.read(column)


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


def _read_records(data: Sequence[Any], fields: Fields, titles: bool) -> Iterator[Batch]:
    chosen = Columns(
        # The text field may differ between records; this names all candidates.
        fields.text or fields.wanting(),
        (fields.title or DEFAULT_TITLE) if titles else None,
        fields.id or DEFAULT_ID,
        fields.extra,
    )
    all_texts = [fields.text_in(row)[1] if isinstance(row, dict) else None for row in data]
    reader = ColumnReader(chosen, fields, titles, _NAME, _position)
    for begin, end in _ranges([all_texts]):

        def column(name: str, part: slice = slice(begin, end)) -> list[Any]:
            if name == chosen.text:
                return all_texts[part]
            records = (row if isinstance(row, dict) else {} for row in data[part])
            values = (value_at(record, name) for record in records)
            return [None if value is MISSING else value for value in values]

        def explain(
            row: int, code: str, value: Any, begin: int = begin
        ) -> tuple[Hashable, Callable[[], Problem]]:
            return _explain(data[begin + row], begin + row + 1, code, value, fields)

        yield reader.read(column, explain=explain)
    if fields.title is not None:
        records = [row for row in data if isinstance(row, dict)]
        if records and not any(fields.title in record for record in records):
            problem = fields.no_title(_NAME, len(records))
            yield without_records([problem], fields.extra)


def _explain(
    row: Any, number: int, code: str, value: Any, fields: Fields
) -> tuple[Hashable, Callable[[], Problem]]:
    """Return the kind of what is wrong with a row without text, and what makes its problem."""
    if not isinstance(row, dict):
        return "no dict", partial(_no_dict, row, number)
    name, text = fields.text_in(row)
    if name is None or not isinstance(text, str):
        return ("text", name), partial(fields.no_text, row, _NAME, number)
    return code, partial(problem_of_text, _NAME, number, name, code, value)


def _no_dict(row: Any, number: int) -> Problem:
    reason = Message("must be a dict", code="invalid_json")
    return Problem(_NAME, number, None, reason, show(row))


def _position(number: int) -> str:
    return str(number - 1)
