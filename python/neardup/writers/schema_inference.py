"""Schema inference: one Arrow schema for records of different structure.

Arrow infers the type of the values that are read together, and unifies the types of different
parts. A field that has no type for all its values unchanged is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from neardup.writers.cells import format_plain

#: Values whose type is inferred together. Few, since a mapping of data, of which Arrow makes a
#: record with a field for each key, takes the product of its keys and the values.
PART = 256
#: Beyond this number of fields, a nested value is a mapping of data rather than a record.
_FIELDS = 1000


class InferredType:
    """The type of the observed values of a field."""

    def __init__(self) -> None:
        self._kind: pa.DataType = pa.null()
        #: Whether it has whole numbers that a float64 may round.
        self._is_wide = False
        #: Whether no other type represents the values.
        self._is_text = False

    def observe(self, values: Sequence[Any]) -> None:
        """Observe values."""
        if self._is_text:
            return
        try:
            array = pa.array(values)
        except (pa.ArrowException, OverflowError):
            self._is_text = True
        else:
            self._merge(array.type, _is_wide(array))

    def observe_type(self, kind: pa.DataType) -> None:
        """Observe a column of an Arrow type."""
        self._merge(kind, kind in (pa.int64(), pa.uint64()))

    def _merge(self, kind: pa.DataType, is_wide: bool) -> None:
        both = kind
        if kind != self._kind:
            parts = [pa.schema([("", one)]) for one in (self._kind, kind)]
            try:
                both = pa.unify_schemas(parts, promote_options="permissive").field(0).type
            except pa.ArrowException:
                self._is_text = True
                return
        for one, may_be_rounded in ((self._kind, self._is_wide), (kind, is_wide)):
            is_whole = pa.types.is_integer(both) and one != pa.uint64()
            self._is_text |= may_be_rounded and both != one and not is_whole
        self._is_text |= _count_types(both) > _FIELDS
        self._kind, self._is_wide = both, self._is_wide or is_wide

    @property
    def is_mixed(self) -> bool:
        """Whether the field is text because no other type represents its values."""
        return self._is_text or _has_empty_record(self._kind)

    def find_type(self) -> pa.DataType:
        """Return the type for all observed values."""
        return pa.string() if self.is_mixed or pa.types.is_null(self._kind) else self._kind

    def column(self, values: Sequence[Any]) -> pa.Array[Any]:
        """Return an Arrow column of observed values."""
        if self.is_mixed:
            values = [None if value is None else format_plain(value) for value in values]
        return pa.array(values, self.find_type())


def _is_wide(array: Any) -> bool:
    """Return whether an array, or one inside it, has whole numbers that a float64 rounds."""
    kind = array.type
    if pa.types.is_list(kind):
        return _is_wide(array.flatten())
    if pa.types.is_struct(kind):
        return any(map(_is_wide, array.flatten()))
    if not pa.types.is_integer(kind):
        return False
    try:
        array.cast(pa.float64())
    except pa.ArrowInvalid:
        return True
    return False


def _count_types(kind: pa.DataType) -> int:
    """Return the number of types in a type, itself included."""
    return 1 + sum(map(_count_types, _list_parts(kind)))


def _has_empty_record(kind: pa.DataType) -> bool:
    """Return whether a type has a record without fields, which Parquet does not support."""
    if pa.types.is_struct(kind) and not kind.num_fields:
        return True
    return any(map(_has_empty_record, _list_parts(kind)))


def _list_parts(kind: pa.DataType) -> list[pa.DataType]:
    return [kind.field(at).type for at in range(kind.num_fields)]
