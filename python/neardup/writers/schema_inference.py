"""Schema inference: one Arrow schema for records of different structure.

It is the narrowest that represents all values of a field unchanged, else text. The result does not
depend on the order of the values or on batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from neardup.base.messages import Message
from neardup.writers.cells import plain_text

# Beyond these, a nested value is a mapping of data rather than a record.
_DEPTH = 32
_FIELDS = 1000
# Whole numbers up to this one are exact in a float64.
_EXACT = 1 << 53


class InferredType:
    """The observed values of a field, or of the items or fields inside it."""

    __slots__ = ("_depth", "_high", "_items", "_kinds", "_low", "_records", "_types")

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        #: The classes of the values; `object` for those that become text.
        self._kinds: set[type] = set()
        #: The range of the whole numbers, and 0.
        self._low = self._high = 0
        self._items: InferredType | None = None
        self._records: dict[str, InferredType] = {}
        self._types: list[pa.DataType] = []

    def observe(self, value: Any) -> None:
        """Observe a value."""
        kind = value.__class__
        if value is None or (object in self._kinds and kind is not str):
            return
        if kind is int:
            self._low, self._high = min(self._low, value), max(self._high, value)
        elif kind is list and self._depth < _DEPTH:
            if self._items is None:
                self._items = InferredType(self._depth + 1)
            for item in value:
                self._items.observe(item)
        elif kind is dict and self._depth < _DEPTH:
            for name, inner_value in value.items():
                if name not in self._records:
                    if len(self._records) >= _FIELDS:
                        kind = object
                        break
                    self._records[name] = InferredType(self._depth + 1)
                self._records[name].observe(inner_value)
        elif kind not in (str, bool, float):
            kind = object
        self._kinds.add(kind)

    def observe_type(self, kind: pa.DataType) -> None:
        """Observe a column of an Arrow type."""
        if kind not in self._types and not pa.types.is_null(kind):
            self._types.append(kind)

    def arrow(self) -> pa.DataType:
        """Return the type for all observed values."""
        seen = self._seen()
        if not self._types:
            return seen or pa.string()
        if seen is None and len(self._types) == 1:
            return self._types[0]
        # Small JSON integers fit into floats; the range of a column is unknown.
        if seen == pa.int64() and self._low >= -(1 << 31) and self._high < 1 << 31:
            seen = pa.int32()
        return _common([*self._types, *([] if seen is None else [seen])])

    def mixed(self) -> bool:
        """Return whether the field is text because no other type represents its values."""
        has_others = self._kinds - {str} or not all(map(_is_text, self._types))
        return bool(has_others) and self.arrow() == pa.string()

    def reason(self) -> Message:
        """Return the kind of the values of a field that is `mixed`."""
        if self._kinds == {int} and not self._types:
            return Message("whole numbers beyond 64 bits")
        return Message("values of several types")

    def _seen(self) -> pa.DataType | None:
        """Return the type for the Python values; None if there are none."""
        kinds = self._kinds
        if not kinds:
            return None
        if kinds <= {int, float}:
            return self._number()
        if kinds == {bool}:
            return pa.bool_()
        if kinds == {list} and self._items is not None:
            return pa.list_(self._items.arrow())
        if kinds == {dict} and self._records:
            return pa.struct([(name, inner.arrow()) for name, inner in self._records.items()])
        # Parquet does not support a record without fields.
        return pa.string()

    def _number(self) -> pa.DataType:
        low, high = self._low, self._high
        if float in self._kinds:
            return pa.float64() if low >= -_EXACT and high <= _EXACT else pa.string()
        if low >= -(1 << 63) and high < 1 << 63:
            return pa.int64()
        return pa.uint64() if low >= 0 and high < 1 << 64 else pa.string()

    def column(self, values: Iterable[Any], kind: pa.DataType) -> pa.Array[Any]:
        """Return an Arrow column of observed values; `kind` is `arrow()`."""
        return pa.array([_fitted(value, kind) for value in values], kind)


def _fitted(value: Any, kind: pa.DataType) -> Any:
    if value is None or value.__class__ is str:
        return value
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return plain_text(value)
    if pa.types.is_list(kind):
        return [_fitted(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: _fitted(value.get(field.name), field.type) for field in kind}
    return value


def _common(kinds: list[pa.DataType]) -> pa.DataType:
    """Return a type for the values of all these types, unchanged; text if there is none."""
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if all(pa.types.is_integer(kind) for kind in kinds):
        if all(pa.types.is_unsigned_integer(kind) for kind in kinds):
            return pa.uint64()
        return pa.string() if pa.uint64() in kinds else pa.int64()
    if all(_fits_float(kind) for kind in kinds):
        return pa.float64()
    return pa.string()


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _fits_float(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or (pa.types.is_integer(kind) and kind.bit_width <= 32))
