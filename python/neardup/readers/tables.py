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
    make_empty_batch,
    regroup,
    show,
)
from neardup.readers.collection import Collection
from neardup.readers.columns import (
    PART_ROWS,
    ColumnReader,
    choose_columns,
    cut_rows,
    is_text,
    make_text_problem,
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
from neardup.readers.paths import find_roots, find_values, list_paths

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
        self._data, self._kept = _open(data, parameter)
        self._fields = fields
        self._chunks = _choose(self._data, fields, parameter)
        self.records: int = _count_rows(self._data)

    def batches(
        self,
        *,
        titles: bool | None = None,
        batch_bytes: int = BATCH_BYTES,
        batch_records: int = BATCH_RECORDS,
    ) -> Iterator[Batch]:
        """Read the table from its beginning; see `Sources.batches`."""
        wanted = self._fields.title is not None if titles is None else titles
        return regroup(self._fields.bound(self._chunks(wanted)), batch_bytes, batch_records)

    def with_extra(self, names: Sequence[str]) -> Self:
        """Return the same table with other extra fields, None where it lacks them."""
        same = copy.copy(self)
        same._fields = replace(self._fields, extra=tuple(names), optional=True)
        same._chunks = _choose(same._data, same._fields, "data")
        return same

    def titles(self, wanted: Sequence[int]) -> list[str | None]:
        """Return the titles of some rows, which no pass over the table needs."""
        return [title if isinstance(title, str) else None for title in self._read_titles(wanted)]

    def _read_titles(self, rows: Sequence[int]) -> list[Any]:
        data, name = self._data, self._fields.title or DEFAULT_TITLE
        if isinstance(data, (list, tuple)):
            records = (data[row] for row in rows)
            return [r.get(name) if isinstance(r, dict) else None for r in records]
        names = _list_names(data)
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


def _open(data: Any, parameter: str) -> tuple[Any, _Kept]:
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
        return _open_arrow(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _open_arrow(pa.table(data))
    raise ParameterError(
        Message(
            "{parameter:named} must be a pandas, polars or Arrow table, or a list, not "
            "{value}.{way_out}",
            parameter=parameter,
            value=kind.__name__,
            way_out=_advise(data, parameter),
        )
    )


def _open_arrow(data: Any) -> tuple[Any, _Kept]:
    return data, lambda keep: rows_where(data, keep)


def _open_pandas(data: Any) -> tuple[Any, _Kept]:
    # Its index and its types stay, since rows are picked from it directly.
    return data, lambda keep: data[keep]


def _open_polars(data: Any) -> tuple[Any, _Kept]:
    series = sys.modules["polars"].Series
    return data, lambda keep: data.filter(series(keep))


def _open_lazy_frame(data: Any) -> tuple[Any, _Kept]:
    frame, kept = _open_polars(data.collect())
    return frame, lambda keep: kept(keep).lazy()


def _open_hugging_face(data: Any) -> tuple[Any, _Kept]:
    # Rows of a selection or a shuffle are in its order, which the table behind it is not.
    table = data.with_format("arrow")[:]
    return table, lambda keep: data.select(np.flatnonzero(keep))


_KINDS: dict[tuple[str, str], Callable[[Any], tuple[Any, _Kept]]] = {
    ("pandas", "DataFrame"): _open_pandas,
    ("pandas", "Series"): _open_pandas,
    ("polars", "DataFrame"): _open_polars,
    ("polars", "Series"): _open_polars,
    ("polars", "LazyFrame"): _open_lazy_frame,
    ("datasets", "Dataset"): _open_hugging_face,
}


#: Hugging Face's kinds of several tables, by the names of their splits.
_SPLITS = ("DatasetDict", "IterableDatasetDict")


def _is_of(data: Any, library: str) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == library and kind.__name__ in ("DataFrame", "Series")


def _count_rows(data: Any) -> int:
    return data.num_rows if isinstance(data, (pa.Table, pa.RecordBatch)) else len(data)


def _advise(data: Any, parameter: str) -> str:
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
        names = _list_names(data)
        columns = {name: _load(_pick(data, names, name)) for name in _list_needed(names, fields)}
    if not _count_rows(data):
        # Without values, pandas guesses a type; every type is acceptable.
        columns = dict.fromkeys(columns, pa.chunked_array([], pa.string()))
    schema = pa.schema([(name, _find_type(columns.get(name))) for name in names])
    if isinstance(data, (pa.Table, pa.RecordBatch)) and _count_rows(data):
        schema = data.schema
    lists = [(name, column) for name, column in columns.items() if isinstance(column, list)]
    mixed = [p for n, column in lists for v in column[:SAMPLED_RECORDS] for p in list_paths({n: v})]
    chosen = choose_columns(schema, fields, _NAME, mixed)
    columns = {name: columns[name] for name in chosen.list_needed(titles=True)}
    return partial(_read_columns, columns, chosen, fields)


def _list_needed(names: list[str], fields: Fields) -> list[str]:
    """Return the columns that may be chosen, or lead to a field that may be."""
    named = {*fields.texts, fields.id or DEFAULT_ID, fields.title or DEFAULT_TITLE, *fields.extra}
    named.update(*(find_roots(name, names) for name in list(named)))
    # A name that two columns have is refused if it is chosen.
    times = Counter(names)
    return [name for name in names if name in named and times[name] == 1]


def _is_one_column(data: Any) -> bool:
    is_array = isinstance(data, (list, tuple, pa.Array, pa.ChunkedArray))
    return is_array or type(data).__name__ == "Series"


def _list_names(data: Any) -> list[str]:
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


def _find_type(column: _Loaded | None) -> pa.DataType:
    if column is None:
        return pa.null()
    return pa.string() if isinstance(column, list) else column.type


def _read_columns(
    columns: dict[str, _Loaded], chosen: Columns, fields: Fields, titles: bool
) -> Iterator[Batch]:
    reader = ColumnReader(chosen, fields, titles, _NAME, _make_id)
    for begin, end in _cut_rows(list(columns.values())):

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


def _cut_rows(columns: list[Any]) -> Iterator[tuple[int, int]]:
    """Cut the rows of columns into the ranges that are read together."""
    for first in range(0, len(columns[0]), PART_ROWS):
        parts = [
            column[first : first + PART_ROWS]
            if isinstance(column, list)
            else column.slice(first, PART_ROWS)
            for column in columns
        ]
        for begin, end in cut_rows(parts, len(parts[0])):
            yield first + begin, first + end


def _read_records(data: Sequence[Any], fields: Fields, titles: bool) -> Iterator[Batch]:
    chosen = Columns(
        # The text field may differ between records; this names all candidates.
        fields.text or fields.describe_wanted(),
        (fields.title or DEFAULT_TITLE) if titles else None,
        fields.id or DEFAULT_ID,
        fields.extra,
    )
    all_texts = [fields.find_text(row)[1] if isinstance(row, dict) else None for row in data]
    reader = ColumnReader(chosen, fields, titles, _NAME, _make_id)
    for begin, end in _cut_rows([all_texts]):

        def column(name: str, part: slice = slice(begin, end)) -> list[Any]:
            if name == chosen.text:
                return all_texts[part]
            records = (row if isinstance(row, dict) else {} for row in data[part])
            return find_values(records, name)

        def explain(
            row: int, code: str, value: Any, begin: int = begin
        ) -> tuple[Hashable, Callable[[], Problem]]:
            return _explain(data[begin + row], begin + row + 1, code, value, fields)

        yield reader.read(column, explain=explain)
    if fields.title is not None:
        records = [row for row in data if isinstance(row, dict)]
        if records and not any(fields.title in record for record in records):
            problem = fields.make_title_problem(_NAME, len(records))
            yield make_empty_batch([problem], fields.extra)


def _explain(
    row: Any, number: int, code: str, value: Any, fields: Fields
) -> tuple[Hashable, Callable[[], Problem]]:
    """Return the kind of what is wrong with a row without text, and what makes its problem."""
    if not isinstance(row, dict):
        return "no dict", partial(_make_dict_problem, row, number)
    name, text = fields.find_text(row)
    if name is None or not isinstance(text, str):
        return ("text", name), partial(fields.make_text_problem, row, _NAME, number)
    return code, partial(make_text_problem, _NAME, number, name, code, value)


def _make_dict_problem(row: Any, number: int) -> Problem:
    reason = Message("must be a dict", code="invalid_json")
    return Problem(_NAME, number, None, reason, show(row))


def _make_id(number: int) -> str:
    return str(number - 1)
