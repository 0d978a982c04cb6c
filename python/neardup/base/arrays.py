"""Arrow arrays from Python values and NumPy arrays, made from their buffers.

``pyarrow.array`` and most methods of arrays import pandas or ``pyarrow.compute``, which take long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from neardup.base.lazy import NDArray, _core, np, pa


def texts_array(values: Sequence[Any]) -> pa.LargeStringArray:
    """Return an Arrow array of texts; None becomes null."""
    missing = None
    if None in values:
        missing = np.fromiter((value is None for value in values), bool, len(values))
        values = ["" if value is None else value for value in values]
    encoded = list(map(str.encode, values))
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    buffers = [_validity(missing), pa.py_buffer(offsets.data), pa.py_buffer(b"".join(encoded))]
    array: Any = pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)
    return cast("pa.LargeStringArray", array)


def numbers_array(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array[Any]:
    """Return an Arrow array of numbers, null where they are missing."""
    values = np.ascontiguousarray(values)
    buffers = [_validity(missing), pa.py_buffer(values.data)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def repeated_text(text: str, count: int) -> pa.StringArray:
    """Return an Arrow array that repeats a text `count` times."""
    encoded = text.encode()
    offsets = np.array([0, len(encoded)], np.int32)
    buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(encoded)]
    single: Any = pa.Array.from_buffers(pa.string(), 1, buffers)
    array: pa.StringArray = pa.repeat(single[0], count)
    return array


def rows_of(column: pa.ChunkedArray[Any], rows: NDArray[np.integer[Any]]) -> pa.Array[Any]:
    """Return these rows of a column of large strings as one array."""
    taken: Any = _core.rows_of(column.chunks, rows.astype(np.int64, copy=False))
    array: pa.Array[Any] = pa.array(taken)
    return array


def _validity(missing: NDArray[np.bool_] | None) -> pa.Buffer | None:
    if missing is None or not missing.any():
        return None
    return pa.py_buffer(np.packbits(~missing, bitorder="little").data)


def word_count(bits: int) -> int:
    """Return the 64-bit words of a fingerprint of 1 to 256 bits: 1, 2 or 4."""
    return 1 << max(0, (bits - 1).bit_length() - 6)


def rows_where(data: Any, keep: NDArray[np.bool_]) -> Any:
    """Return the kept rows of a table, a batch or an array of Arrow, of any type."""
    try:
        return data.filter(pa.array(keep))
    except pa.ArrowNotImplementedError:
        # Views of texts have no such kernel, but ranges of any type can be joined.
        ends = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
        ranges = [(begin, end - begin) for begin, end in ends.reshape(-1, 2).tolist()] or [(0, 0)]
        parts = [data.slice(*part) for part in ranges]
    if isinstance(data, pa.Table):
        return pa.concat_tables(parts)
    if isinstance(data, pa.RecordBatch):
        joined: Any = getattr(pa, "concat_batches")  # noqa: B009  # Its stubs lack it.
        return joined(parts)
    if isinstance(data, pa.ChunkedArray):
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks], data.type)
    return pa.concat_arrays(parts)
