"""Tables of blobs: how a step's function meets the rows of its batch, bucket or unit.

A *message* is a row with a target (a batch, a bucket or a unit), a kind, an origin and a body.
Messages for one target come together by a shuffle, in order; the function gets them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Columns of a message.
MESSAGE = "target long, kind int, origin long, body binary"

#: Kinds of messages.
PART, DROPPED, KNOWN, PAIRS, REQUEST, TEXTS, CLOSED = range(7)

#: Bytes of requests that every task may hold, so that texts need not move.
BROADCAST = 64 << 20

#: What Spark needs for a row beside its body.
_ROW_BYTES = 64

#: Bytes of bodies handed on together.
_TOGETHER = 8 << 20


@dataclass(frozen=True)
class Message:
    """A blob for a batch or bucket.

    Parameters
    ----------
    target : int
    kind : int
    origin : int
    body : bytes
    """

    target: int
    kind: int
    origin: int
    body: bytes


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    """Yield rows one by one, as tuples."""
    for batch in batches:
        for at in range(batch.num_rows):
            yield tuple(column[at].as_py() for column in batch.columns)


def messages(some: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    """Yield messages as rows, a few megabytes at a time."""
    waiting: list[Message] = []
    size = 0
    for message in some:
        waiting.append(message)
        size += len(message.body)
        if size >= _TOGETHER:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(some: list[Message]) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "target": pa.array([m.target for m in some], pa.int64()),
            "kind": pa.array([m.kind for m in some], pa.int32()),
            "origin": pa.array([m.origin for m in some], pa.int64()),
            "body": pa.array([m.body for m in some], pa.large_binary()),
        }
    )


def for_each_row(
    frame: DataFrame, work: Callable[..., Iterable[Message]], **known: Any
) -> DataFrame:
    """Call `work` with the columns of each row; it returns messages."""
    return frame.mapInArrow(partial(_each_row, work, known), MESSAGE)


def _each_row(
    work: Callable[..., Iterable[Message]], known: dict[str, Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return messages(m for row in rows_of(batches) for m in work(*row, **known))


def for_each_target(
    frame: DataFrame,
    work: Callable[..., Iterable[Message]],
    partitions: int,
    **known: Any,
) -> DataFrame:
    """Call `work` with each target and all messages for it, by kind and origin."""
    order = ("target", "kind", "origin")
    together = frame.repartition(partitions, "target").sortWithinPartitions(*order)
    return together.mapInArrow(partial(_each_target, work, known), MESSAGE)


def _each_target(
    work: Callable[..., Iterable[Message]], known: dict[str, Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    def made() -> Iterator[Message]:
        waiting: list[Message] = []
        for row in rows_of(batches):
            message = Message(*row)
            if waiting and waiting[0].target != message.target:
                yield from work(waiting[0].target, waiting, **known)
                waiting = []
            waiting.append(message)
        if waiting:
            yield from work(waiting[0].target, waiting, **known)

    return messages(made())


def for_each_batch(
    batches: DataFrame, frame: DataFrame, work: Callable[..., Any], schema: str, **known: Any
) -> DataFrame:
    """Call `work` with the row of each batch and all messages for it, by kind and origin.

    `work` returns rows of `schema` as a dict of columns. Messages for no batch are lost.
    """
    together = batches.groupBy("batch").cogroup(frame.groupBy("target"))
    return together.applyInArrow(partial(_each_batch, work, known, schema), schema)


def _each_batch(
    work: Callable[..., Any], known: dict[str, Any], schema: str, batch: pa.Table, some: pa.Table
) -> pa.Table:
    kinds = arrow_schema(schema)
    if not batch.num_rows:
        return kinds.empty_table()
    (row,) = rows_of(batch.to_batches())
    order: Any = [("kind", "ascending"), ("origin", "ascending")]
    sent = [Message(*m) for m in rows_of(some.sort_by(order).to_batches())]
    return pa.table(work(*row, sent, **known), schema=kinds)


def beside(batches: DataFrame, asked: DataFrame, columns: Sequence[Any]) -> DataFrame:
    """Return some columns of each batch with the messages that ask something of it."""
    from pyspark.sql import functions as F

    requests = asked.groupBy("target").agg(
        F.collect_list(F.struct("origin", "body")).alias("requests")
    )
    row = asked.agg(F.sum(F.length("body") + F.lit(_ROW_BYTES))).first()
    size = 0 if row is None else row[0] or 0
    # The texts are the largest thing there is: they stay where they are if they can, and are
    # not sorted in any case.
    requests = requests.hint("broadcast" if size <= BROADCAST else "shuffle_hash")
    together = batches.join(requests, batches.batch == requests.target)
    return together.select("batch", *columns, "requests")


def as_columns(some: Iterable[Message]) -> dict[str, list[Any]]:
    """Return messages as columns."""
    every = list(some)
    return {name: [getattr(m, name) for m in every] for name in Message.__dataclass_fields__}


_TYPES: dict[str, pa.DataType] = {
    "long": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.large_binary(),
    "string": pa.large_string(),
}


def arrow_schema(columns: str) -> pa.Schema:
    """Return the Arrow schema of columns that are told as Spark tells them."""
    return pa.schema([(name, _TYPES[kind]) for name, kind in map(str.split, columns.split(", "))])
