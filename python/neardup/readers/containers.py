"""Containers that other libraries have for tables: their rows, and what is kept in the same kind.

Each kind is known by the name of its class, so that no library is imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: Returns the kept rows in the container's kind, from a flag for each row.
Kept = Callable[[NDArray[np.bool_]], Any]


def opened_container(data: Any) -> tuple[Any, Kept] | None:
    """Return the rows of a container as a table, and what returns its kept rows.

    Parameters
    ----------
    data : object

    Returns
    -------
    (table, function) or None
        None for what is no such container.
    """
    kind = type(data)
    opening = _KINDS.get((kind.__module__.partition(".")[0], kind.__name__))
    if opening is None:
        # A dataset of pyarrow has many classes.
        opening = _dataset if any(one.__name__ == "Dataset" for one in _of_arrow(kind)) else None
    return None if opening is None else opening(data)


def _of_arrow(kind: type) -> list[type]:
    return [one for one in kind.__mro__ if one.__module__ == "pyarrow._dataset"]


def _dataset(data: Any) -> tuple[Any, Kept]:
    table = data.to_table()
    return table, lambda keep: table.filter(pa.array(keep))


def _lazy_frame(data: Any) -> tuple[Any, Kept]:
    frame = data.collect()
    series = sys.modules["polars"].Series
    return frame, lambda keep: frame.filter(series(keep)).lazy()


def _relation(data: Any) -> tuple[Any, Kept]:
    # A relation belongs to a connection that does not know the result.
    table = pa.table(data)
    return table, lambda keep: table.filter(pa.array(keep))


def _hugging_face(data: Any) -> tuple[Any, Kept]:
    # Rows of a selection or a shuffle are in its order, which the table behind it is not.
    table = data.with_format("arrow")[:]
    return table, lambda keep: data.select(np.flatnonzero(keep))


def _splits(data: Any) -> tuple[Any, Kept]:
    tables = [split.with_format("arrow")[:] for split in data.values()]
    ends = np.cumsum([len(table) for table in tables])

    def kept(keep: NDArray[np.bool_]) -> Any:
        parts = np.split(keep, ends[:-1])
        return type(data)(
            {
                name: split.select(np.flatnonzero(part))
                for (name, split), part in zip(data.items(), parts, strict=True)
            }
        )

    return pa.concat_tables(tables, promote_options="permissive"), kept


def _iterable(data: Any) -> tuple[Any, Kept]:
    rows = list(data)
    made = sys.modules["datasets"].Dataset.from_list

    def kept(keep: NDArray[np.bool_]) -> Any:
        some = [row for row, is_kept in zip(rows, keep.tolist(), strict=True) if is_kept]
        return made(some, features=data.features).to_iterable_dataset()

    return rows, kept


def _ray(data: Any) -> tuple[Any, Kept]:
    ray = sys.modules["ray"]
    table = pa.concat_tables(ray.get(data.to_arrow_refs()), promote_options="permissive")
    return table, lambda keep: ray.data.from_arrow(table.filter(pa.array(keep)))


def _daft(data: Any) -> tuple[Any, Kept]:
    table = data.to_arrow()
    made = sys.modules["daft"].from_arrow
    return table, lambda keep: made(table.filter(pa.array(keep)))


_KINDS: dict[tuple[str, str], Callable[[Any], tuple[Any, Kept]]] = {
    ("polars", "LazyFrame"): _lazy_frame,
    ("duckdb", "DuckDBPyRelation"): _relation,
    ("datasets", "Dataset"): _hugging_face,
    ("datasets", "DatasetDict"): _splits,
    ("datasets", "IterableDataset"): _iterable,
    # Ray has two classes for one that was computed and one that was not.
    ("ray", "Dataset"): _ray,
    ("ray", "MaterializedDataset"): _ray,
    ("daft", "DataFrame"): _daft,
}
