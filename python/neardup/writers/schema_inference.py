"""Schema inference: one Arrow schema for records of different structure.

JSON has no schema: a field may be a number in one record and text in another. An
`InferredType` observes the values of a field and returns the narrowest Arrow type
that represents all of them unchanged. If there is none, the field becomes text: text
values unchanged, other values as JSON. The result does not depend on the order of the
values or on batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from neardup.base.messages import Message
from neardup.writers.cells import plain_text

__all__ = ["InferredType"]

# Beyond these, a nested value is a mapping of data rather than a record.
_DEPTH = 32
_FIELDS = 1000
# Whole numbers up to this one are exact in a float64.
_EXACT = 1 << 53


class InferredType:
    """The observed values of a field, or of the items or fields inside it."""

    __slots__ = (
        "_depth",
        "_flag",
        "_float",
        "_high",
        "_items",
        "_low",
        "_other",
        "_records",
        "_text",
        "_types",
    )

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._text = self._flag = self._float = self._other = False
        # An empty range: no integer was observed.
        self._low, self._high = 1, 0
        self._items: InferredType | None = None
        self._records: dict[str, InferredType] | None = None
        self._types: list[pa.DataType] = []

    def observe(self, value: Any) -> None:
        """Observe a value."""
        kind = value.__class__
        if kind is str:
            self._text = True
        elif value is None or self._other:
            return
        elif kind is bool:
            self._flag = True
        elif kind is int:
            if self._low > self._high:
                self._low = self._high = value
            elif value < self._low:
                self._low = value
            elif value > self._high:
                self._high = value
        elif kind is float:
            self._float = True
        elif kind is list and self._depth < _DEPTH:
            if self._items is None:
                self._items = InferredType(self._depth + 1)
            for item in value:
                self._items.observe(item)
        elif kind is dict and self._depth < _DEPTH:
            self._observe_record(value)
        else:
            self._other = True

    def _observe_record(self, record: dict[str, Any]) -> None:
        if self._records is None:
            self._records = {}
        for name, value in record.items():
            inner = self._records.get(name)
            if inner is None:
                if len(self._records) >= _FIELDS:
                    self._other = True
                    return
                inner = self._records[name] = InferredType(self._depth + 1)
            inner.observe(value)

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
        other = (
            self._flag,
            self._float,
            self._other,
            self._low <= self._high,
            self._items is not None,
            self._records is not None,
            any(not _is_text(kind) for kind in self._types),
        )
        return any(other) and self.arrow() == pa.string()

    def reason(self) -> Message:
        """Return the kind of the values of a field that is `mixed`."""
        if self._number_alone() and not self._float:
            return Message("writers.large_numbers")
        return Message("writers.several_types")

    def _number_alone(self) -> bool:
        number = self._low <= self._high or self._float
        return number and not (
            self._text or self._flag or self._other or self._items or self._records or self._types
        )

    def _seen(self) -> pa.DataType | None:
        number = self._low <= self._high or self._float
        families = (
            self._text,
            self._flag,
            number,
            self._items is not None,
            self._records is not None,
        )
        if self._other or sum(families) > 1:
            return pa.string()
        if number:
            return self._number()
        if self._flag:
            return pa.bool_()
        if self._items is not None:
            return pa.list_(self._items.arrow())
        if self._records is not None:
            if not self._records:
                # Parquet does not support a record without fields.
                return pa.string()
            return pa.struct([(name, inner.arrow()) for name, inner in self._records.items()])
        return pa.string() if self._text else None

    def _number(self) -> pa.DataType:
        low, high = (self._low, self._high) if self._low <= self._high else (0, 0)
        if self._float:
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
