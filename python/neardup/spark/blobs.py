"""Blobs: what the steps of a job send to each other, as few large rows.

A kernel is a function that takes all blobs for one receiver and yields blobs for others. Only
kernels know the content of a body. Spark moves, sorts and stores it as a whole. If Spark handled
each value of a document apart, it would take longer than all kernels together. A receiver is a
batch, a group, a bucket or a unit; its number also tells the partition in which it is.

This module does not use Spark, except where it divides rows among tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.base.lazy import NDArray

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame


def make_schema(**types: pa.DataType) -> pa.Schema:
    """Return a schema of columns by their names."""
    return pa.schema(list(types.items()))


#: Blobs as columns.
SCHEMA = make_schema(
    receiver=pa.int64(), kind=pa.large_string(), sender=pa.int64(), body=pa.large_binary()
)

#: Stored blobs with the requests for them.
_ASKED = make_schema(
    kind=SCHEMA.field("kind").type,
    sender=pa.int64(),
    body=SCHEMA.field("body").type,
    request=SCHEMA.field("kind").type,
    bodies=pa.list_(SCHEMA.field("body").type),
)

_COMPRESSED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))


class Blob(NamedTuple):
    """Bytes of one kind from one sender for one receiver."""

    receiver: int
    kind: str
    sender: int
    body: bytes


class Inbox:
    """The blobs for one receiver, each kind by ascending sender."""

    def __init__(self, receiver: int, blobs: Iterable[Blob]) -> None:
        self.receiver = receiver
        self._blobs: dict[str, list[Blob]] = {}
        for blob in blobs:
            self._blobs.setdefault(blob.kind, []).append(blob)

    def get_blobs(self, kind: str) -> list[Blob]:
        """Return the blobs of a kind."""
        return self._blobs.get(kind, [])

    def get_bodies(self, kind: str) -> list[bytes]:
        """Return the bodies of a kind."""
        return [blob.body for blob in self.get_blobs(kind)]

    def read_rows(self, kind: str, type: Any) -> NDArray[Any]:
        """Return the rows of all bodies of a kind, which are arrays of a numpy type."""
        return np.frombuffer(b"".join(self.get_bodies(kind)), type)


Kernel = Callable[..., Iterable[Blob]]


def pack(values: pa.Array[Any] | pa.RecordBatch, *, compressed: bool = False) -> bytes:
    """Return an Arrow array or batch as bytes."""
    batch = values
    if not isinstance(batch, pa.RecordBatch):
        batch = pa.record_batch({"values": values})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_COMPRESSED if compressed else None) as out:
        out.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpack(body: bytes) -> pa.RecordBatch:
    """Return the batch that was packed."""
    with pa.ipc.open_stream(body) as packed:
        return packed.read_next_batch()


def unpack_array(body: bytes) -> Any:
    """Return the array that was packed."""
    return unpack(body).column(0)


def group_blobs(blobs: Iterable[Blob]) -> Iterator[Inbox]:
    """Return the inbox of each receiver, ascending."""
    return group_sorted_blobs(sorted(blobs, key=itemgetter(0, 1, 2)))


def group_sorted_blobs(blobs: Iterable[Blob]) -> Iterator[Inbox]:
    """Return the inbox of each receiver, one in memory at a time."""
    for receiver, of_receiver in groupby(blobs, itemgetter(0)):
        yield Inbox(receiver, of_receiver)


def from_rows(rows: Iterable[pa.RecordBatch]) -> Iterator[Blob]:
    """Return blobs from rows of `SCHEMA`."""
    for batch in rows:
        yield from map(Blob, *(batch.column(name).to_pylist() for name in SCHEMA.names))


def to_rows(blobs: Iterable[Blob]) -> Iterator[pa.RecordBatch]:
    """Return rows of `SCHEMA`, each apart: bodies are large."""
    for blob in blobs:
        columns = [pa.array([value], field.type) for value, field in zip(blob, SCHEMA, strict=True)]
        yield pa.record_batch(columns, schema=SCHEMA)


def make_rdd(rows: DataFrame) -> RDD[Blob]:
    """Return rows of `SCHEMA` as blobs."""
    return _make_arrow_rdd(rows).flatMap(lambda message: from_rows([_read(message)]))


def _make_arrow_rdd(rows: DataFrame) -> RDD[bytes]:
    """Return rows as Arrow messages: `DataFrame.rdd` pickles in Java, which takes it longer than
    kernels take for the content."""
    from pyspark import RDD
    from pyspark.serializers import NoOpSerializer

    messages = rows._jdf.toArrowBatchRdd().toJavaRDD()
    return RDD(messages, rows.sparkSession.sparkContext, NoOpSerializer())


def _read(message: bytes, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.ipc.read_message(message), schema)


def serve(stored: DataFrame, requests: DataFrame, kernel: Kernel, **known: Any) -> RDD[Blob]:
    """Return the blobs that a kernel yields, called for each stored blob whose sender has requests
    of one kind: with an inbox of that blob and these, in any order.

    If the requests are few, all tasks get all of them, and nothing that is stored moves.
    """
    from pyspark.sql import functions as F

    asked = requests.groupBy("receiver").agg(F.first("kind"), F.collect_list("body"))
    asked = asked.toDF("asked", "request", "bodies")
    joined = stored.join(asked, F.col("sender") == F.col("asked"))
    rows = joined.select("kind", "sender", "body", "request", "bodies")

    def each(message: bytes) -> Iterator[Blob]:
        batch = _read(message, _ASKED)
        for kind, sender, body, request, bodies in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            asked = [Blob(sender, request, 0, one) for one in bodies]
            yield from kernel(Inbox(sender, [Blob(sender, kind, sender, body), *asked]), **known)

    return _make_arrow_rdd(rows).flatMap(each)


def swap(blobs: RDD[Blob]) -> RDD[Blob]:
    """Return the same blobs for their senders, from their receivers."""
    return blobs.map(lambda blob: Blob(blob.sender, blob.kind, blob.receiver, blob.body))


def exchange(blobs: list[RDD[Blob]], kernel: Kernel, partitions: int, **known: Any) -> RDD[Blob]:
    """Return the blobs that a kernel yields, called once for each receiver of the given blobs."""

    def each(inboxes: Iterable[Inbox]) -> Iterator[Blob]:
        for inbox in inboxes:
            yield from kernel(inbox, **known)

    return stream(blobs, each, partitions)


def stream(
    blobs: list[RDD[Blob]],
    work: Callable[[Iterable[Inbox]], Iterable[Any]],
    partitions: int,
) -> RDD[Any]:
    """Return what is made of the inboxes of each partition, in ascending order."""
    every = blobs[0].context.union(blobs).keyBy(itemgetter(0))
    # The partition of a number is its remainder.
    gathered = every.partitionBy(partitions, lambda receiver: receiver)
    return gathered.mapPartitions(lambda rows: work(group_blobs(row[1] for row in rows)))


def convert_schema(schema: pa.Schema) -> Any:
    """Return Spark's schema for an Arrow schema."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
