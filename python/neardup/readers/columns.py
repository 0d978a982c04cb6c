"""Texts and ids from Arrow columns, for Parquet files and tables in memory.

Arrow does not check that a string column is UTF-8, and the core trusts Arrow.
Every text is therefore validated here first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.base.arrays import texts_array
from neardup.base.messages import N_, Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, Problems, make_refusal, show
from neardup.readers.fields import Columns, Fields, as_id
from neardup.readers.paths import (
    as_text,
    find_text,
    find_value,
    find_values,
    is_list,
    list_types,
    split_name,
)

#: Rows, and bytes of text with dictionaries decoded, that are read together. The sizes are
#: fixed, so that the records read before damage do not depend on the batch size.
PART_ROWS = 4096
PART_BYTES = 16 << 20


#: Errors for a value that Python has no object for: text that is not UTF-8, a date or a duration
#: beyond its range, an unknown time zone.
UNCONVERTIBLE = (ValueError, OverflowError, KeyError)


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type can have texts; a column of nulls can."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )


def holds_text(kind: Any) -> bool:
    """Return whether a column of this type can have texts, or lists of them."""
    return holds_text(kind.value_type) if is_list(kind) else is_text(kind)


def with_leaves(kind: Any, leaf: Callable[[Any], Any]) -> pa.DataType:
    """Return a type with what `leaf` makes of each of its types that contain no others."""
    types = pa.types
    if types.is_struct(kind):
        fields = (kind.field(i) for i in range(kind.num_fields))
        return pa.struct([field.with_type(with_leaves(field.type, leaf)) for field in fields])
    if types.is_map(kind):
        return pa.map_(with_leaves(kind.key_type, leaf), with_leaves(kind.item_type, leaf))
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(with_leaves(kind.value_type, leaf)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(with_leaves(kind.value_type, leaf)))
    made: pa.DataType = leaf(kind)
    return made


def choose_columns(
    schema: pa.Schema, fields: Fields, source: str, mixed: Iterable[str] = ()
) -> Columns:
    """Choose columns, refuse named ones of unusable types, and drop default ones.

    `mixed` are paths inside columns that are no Arrow columns.
    """
    inside = {**list_types(schema), **dict.fromkeys(mixed, pa.null())}
    columns = Columns.choose(schema.names, fields, source, inside)

    def find_type(name: str) -> pa.DataType:
        return schema.field(name).type if name in schema.names else inside[name]

    must_be_text = N_("column '{column}' must hold text"), "not_a_text"
    must_be_id = N_("column '{column}' must hold text or integers"), "not_an_id"

    def make_error(name: str, must: tuple[str, str]) -> InputError:
        reason = Message(must[0], code=must[1], column=show(name))
        return InputError(make_refusal(source, reason, str(find_type(name))))

    for part in [columns.text] if columns.text in schema.names else split_name(columns.text):
        if not holds_text(find_type(part)):
            raise make_error(part, must_be_text)
    title, key = columns.title, columns.id
    if title is not None and not is_text(find_type(title)):
        if fields.title is not None:
            raise make_error(title, must_be_text)
        title = None
    if key is not None:
        kind = find_type(key)
        if not is_text(kind) and not pa.types.is_integer(kind):
            if fields.id is not None:
                raise make_error(key, must_be_id)
            key = None
    return replace(columns, title=title, id=key)


def cut_rows(columns: Iterable[Any], rows: int) -> Iterator[tuple[int, int]]:
    """Cut rows into half-open ranges of about PART_BYTES of text or less, or of one row."""
    # A dictionary may repeat a large value in every row, and then decodes to any size.
    sizes = np.zeros(rows, np.int64)
    for column in columns:
        sizes += _measure_texts(column)
    ends = np.cumsum(sizes)
    begin = 0
    while begin < rows:
        limit = ends[begin] - sizes[begin] + PART_BYTES
        end = max(begin + 1, int(np.searchsorted(ends, limit, "right")))
        yield begin, end
        begin = end


def _measure_texts(column: Any) -> Any:
    """Return the size of each text of a column; 0 for other values."""
    if isinstance(column, list):
        sizes = (len(value) if isinstance(value, str) else 0 for value in column)
        return np.fromiter(sizes, np.int64, len(column))
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.int64), *map(_measure_texts, column.chunks)])
    import pyarrow.compute as pc

    if not is_text(column.type) or pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    values: Any = column
    if pa.types.is_dictionary(column.type):
        values = column.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    lengths: Any = pc.binary_length(values)
    if pa.types.is_dictionary(column.type):
        lengths = lengths.take(column.indices)
    return lengths.fill_null(0).to_numpy(zero_copy_only=False)


#: The row, the code of what is wrong, and the value.
_Wrong = tuple[int, str, Any]
_NOT_TEXT, _NOT_UTF8, _SURROGATE = "not_a_text", "invalid_utf8", "lone_surrogate"

_Column = Callable[[str], "pa.Array[Any] | list[Any]"]
_Explain = Callable[[int, str, Any], tuple[Hashable, Callable[[], Problem]]]


def check_texts(
    column: pa.Array[Any] | list[Any],
) -> tuple[pa.LargeStringArray, list[_Wrong]]:
    """Return the column as valid texts, and each value that is not a text."""
    if isinstance(column, list):
        if set(map(type, column)) <= {str}:
            try:
                return texts_array(column), []
            except UnicodeEncodeError:
                pass
        return _check_each(column)
    import pyarrow.compute as pc

    if is_list(column.type):
        return _check_each(list(map(as_text, _list_values(column))))
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    texts: Any = pc.cast(column, pa.large_string())
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return _check_each(texts.view(pa.large_binary()).to_pylist(), encoded=True)
    if not texts.null_count:
        return texts, []
    nulls: list[int] = pc.indices_nonzero(texts.is_null()).to_pylist()
    return texts, [(index, _NOT_TEXT, None) for index in nulls]


def _check_each(
    values: list[Any], *, encoded: bool = False
) -> tuple[pa.LargeStringArray, list[_Wrong]]:
    """Check values one by one; `encoded` ones are bytes that may be no UTF-8."""
    texts: list[str | None] = []
    wrong: list[_Wrong] = []
    for index, value in enumerate(values):
        text = code = None
        if encoded and value is not None:
            try:
                text = value.decode()
            except UnicodeDecodeError:
                code = _NOT_UTF8
        elif not isinstance(value, str):
            code = _NOT_TEXT
        elif _is_encodable(value):
            text = str(value)
        else:
            code = _SURROGATE
        if code is not None:
            wrong.append((index, code, value))
        texts.append(text)
    return texts_array(texts), wrong


def make_text_problem(source: str, number: int, field: str, code: str, value: Any) -> Problem:
    """Return the problem of a value that is not a text."""
    if code == _NOT_TEXT:
        reason = Message("must be text", code=code)
    elif code == _SURROGATE:
        where = Message(" (\\ud800-\\udfff)")
        reason = Message("must be text without lone surrogates{where}", code=code, where=where)
    else:
        where = Message(" (byte {byte} is not)", byte=_find_invalid(value))
        reason = Message("must be valid UTF-8{where}", code=code, where=where)
    return Problem(source, number, field, reason, show(value))


def _find_invalid(value: bytes) -> int:
    """Return the number of the first byte that is not UTF-8."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start + 1
    return 0


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class ColumnReader:
    """Reads batches of chosen columns; the state of one pass over a source.

    `id_of` returns the id of a record without one, by its number from 1.
    """

    def __init__(
        self,
        columns: Columns,
        fields: Fields,
        titles: bool,
        source: str,
        id_of: Callable[[int], str | None] | None = None,
    ) -> None:
        self._columns, self._fields, self._titles, self._source = columns, fields, titles, source
        self._id_of = id_of or (lambda number: f"{source}:{number}")
        self._problems = Problems()
        #: Records read so far.
        self.done = 0

    def read(
        self, column: _Column, size: int | None = None, explain: _Explain | None = None
    ) -> Batch:
        """Read the next records; `column` returns a column by its name.

        They take `size` bytes, by default the size of their texts. `explain` returns the kind
        and the problem of a row that has no text.
        """
        columns, problems, first = self._columns, self._problems, self.done + 1
        texts, wrong = check_texts(self._find_values(columns.text, column, find_text))
        for row, code, value in wrong:
            if explain is not None:
                problems.add(row, *explain(row, code, value))
            else:
                place = self._source, first + row, columns.text
                problems.add(row, code, partial(make_text_problem, *place, code, value))
        titles = None
        if self._titles and columns.title is not None:
            titles, _ = check_texts(self._find_values(columns.title, column))
        without_text = {row for row, _, _ in wrong}
        values: list[Any] = [None] * len(texts)
        if columns.id is not None:
            values = _list_values(self._find_values(columns.id, column), only_valid=True)
        ids = list(map(as_id, values))
        for row, key in enumerate(ids):
            if key is None:
                ids[row] = self._id_of(first + row)
                if self._fields.id is not None and row not in without_text:
                    no_id = partial(
                        _make_id_problem, self._source, first + row, self._fields.id, values[row]
                    )
                    problems.add(row, "id", no_id)
        extra = {name: _list_values(self._find_values(name, column)) for name in columns.extra}
        self.done += len(texts)
        size = texts.nbytes if size is None else size
        runs = [(0, self._source, first)]
        return Batch(texts, texts_array(ids), titles, extra, problems.take(), size, runs)

    def _find_values(
        self, name: str, column: _Column, find: Callable[[Any, str], Any] = find_value
    ) -> pa.Array[Any] | list[Any]:
        """Return the column of a name, or the values at a path within columns."""
        roots = self._columns.roots.get(name)
        if roots is None:
            return column(name)
        rows = zip(*(_list_values(column(root)) for root in roots), strict=True)
        return find_values((dict(zip(roots, row, strict=True)) for row in rows), name, find)


def _make_id_problem(source: str, number: int, field: str, value: Any) -> Problem:
    reason = Message("must be text or an integer", code="not_an_id")
    return Problem(source, number, field, reason, show(value))


def _list_values(column: pa.Array[Any] | list[Any], *, only_valid: bool = False) -> list[Any]:
    """Return the values of a column, None for one that Python has no object for.

    With `only_valid`, None also for a text that is not UTF-8.
    """
    if isinstance(column, list):
        if only_valid:
            return [None if isinstance(v, str) and not _is_encodable(v) else v for v in column]
        return column
    if only_valid and is_text(column.type):
        column, _ = check_texts(column)
    values: list[Any] = []
    try:
        values = column.to_pylist()
    except UNCONVERTIBLE:
        for value in column:
            values.append(None)
            with suppress(*UNCONVERTIBLE):
                values[-1] = value.as_py()
    return values
