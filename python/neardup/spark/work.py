"""Work: what a task does with the rows of a batch, bucket or unit, as Spark calls it.

Each function is one of `steps`, `verifying` or `commonness` between messages.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark import commonness, steps, verifying
from neardup.spark.blobs import batch_from_bytes, numbers_from_bytes, numbers_to_bytes
from neardup.spark.numbering import batches_of, by_batch, places_of
from neardup.spark.settings import exchange
from neardup.spark.sketching import GROUP_DOCUMENTS
from neardup.spark.steps import Pairs, State
from neardup.spark.tables import (
    CLOSED,
    DROPPED,
    KNOWN,
    PAIRS,
    PART,
    REQUEST,
    TEXTS,
    Message,
    as_columns,
    messages,
    rows_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.spark.search import Search

_spark = sys.modules.get("pyspark")
if _spark is not None and _spark.TaskContext.get() is not None:
    # Spark's worker looks for garbage after each task, at all that was ever imported: as
    # long as a small task takes.
    gc.freeze()

#: Tables of shingles that wait to be merged, up to 72 MB each.
_TABLES = 8

#: A batch with what the buckets told of it.
PREPARED = "batch long, sketches binary, state binary, counts binary"


def ask(
    batch: int,
    group: int,
    identities: bytes,
    features: bytes,
    sketches: bytes,
    *,
    search: Search,
) -> Iterator[Message]:
    """Deal keys and identities to buckets."""
    blobs = steps.ask(
        _exchange(search), search.buckets, batch, group, identities, features, sketches
    )
    return (Message(bucket, PART, batch, blob) for bucket, blob in enumerate(blobs))


def count(bucket: int, asked: list[Message], *, search: Search) -> Iterator[Message]:
    """Tell each batch what a bucket knows."""
    answers = steps.count(_exchange(search), [message.body for message in asked])
    return _back(bucket, asked, answers)


def prepare(
    batch: int,
    identities: bytes,
    features: bytes,
    sketches: bytes,
    told: list[Message],
    *,
    search: Search,
) -> dict[str, list[Any]]:
    """Put together what the buckets told of a batch."""
    least = search.settings.rule.min_features
    state, counts = steps.prepare(batch, identities, features, least, [m.body for m in told])
    return {"batch": [batch], "sketches": [sketches], "state": [state], "counts": [counts]}


def file(
    batch: int,
    sketches: bytes,
    state: bytes,
    counts: bytes,
    told: Iterable[Message] = (),
    *,
    search: Search,
) -> Iterator[Message]:
    """File the documents of a batch that are not known to be dropped."""
    blobs = steps.file(_exchange(search), State.from_bytes(state), sketches, counts, _dropped(told))
    return (Message(bucket, PART, batch, blob) for bucket, blob in enumerate(blobs))


def file_less(*row: Any, search: Search) -> dict[str, list[Any]]:
    """As `file`, of a batch with what is dropped of it."""
    return as_columns(file(*row, search=search))


def lists(
    bucket: int, filed: list[Message], *, search: Search, tells_closed: bool
) -> Iterator[Message]:
    """Return the lists of a bucket to the batches, and tell them who stands in closed ones."""
    of_batches, closed = steps.lists(_exchange(search), [message.body for message in filed])
    yield from _back(bucket, filed, of_batches)
    if tells_closed:
        for batch, some in by_batch(closed):
            yield Message(batch, CLOSED, bucket, numbers_to_bytes(some))


def candidates(
    batch: int,
    sketches: bytes,
    state: bytes,
    counts: bytes,
    told: list[Message],
    *,
    search: Search,
) -> dict[str, list[Any]]:
    """Find the candidates of a batch, and ask for their texts.

    Of the documents that take part in the search, and of those that repeat a text that was
    dropped, which the messages name.
    """
    known = State.from_bytes(state)
    is_asked = known.is_searched | np.isin(known.numbers, _dropped(told))
    pairs = steps.candidates(
        _exchange(search),
        known,
        sketches,
        counts,
        [m.body for m in told if m.kind == PART],
        is_asked,
        [m.body for m in told if m.kind == KNOWN],
    )
    is_new = pairs.similarity == steps.UNKNOWN
    # Who stands in closed lists is only noted.
    sent = [message for message in told if message.kind == CLOSED]
    if not is_new.all():
        sent.append(Message(batch, KNOWN, batch, pairs[~is_new].to_bytes()))
    pairs = pairs[is_new]
    units = steps.units_of(pairs, batch, search.batches, search.units)
    sent += (Message(unit, PAIRS, batch, some.to_bytes()) for unit, some in pairs.by(units))
    sent += (Message(owner, REQUEST, batch, some) for owner, some in steps.needed(pairs, units))
    return as_columns(sent)


def answer(
    batch: int,
    records: bytes | None,
    features: bytes | None,
    sketches: bytes | None,
    requests: list[dict[str, Any]],
    *,
    search: Search,
) -> Iterator[Message]:
    """Send what is looked at of a batch's documents to the units that need it."""
    asked = (request["body"] for request in requests)
    answers = verifying.answer(batch, records, features, sketches, asked, search.settings)
    return (Message(unit, TEXTS, batch, body) for unit, body in answers)


def verify(unit: int, told: list[Message], *, search: Search, background: Any) -> Iterator[Message]:
    """Verify the pairs of a unit by the texts that came; they go back to their batches."""
    pairs = Pairs.together(m.body for m in told if m.kind == PAIRS)
    texts = [m.body for m in told if m.kind == TEXTS]
    common = None if background is None else background.value
    verified = verifying.verify(pairs, texts, common, search.settings, search.documents)
    for batch, some in verified.by(batches_of(verified.later)):
        yield Message(batch, KNOWN, unit, some.to_bytes())


def similar(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield similar pairs, from rows of verified ones."""
    for (body,) in rows_of(batches):
        pairs = Pairs.from_bytes(body)
        columns = pairs[pairs.similarity >= 0].columns
        yield pa.record_batch(
            dict(zip(("later", "earlier", "similarity", "distance"), columns, strict=True))
        )


def numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield numbers of documents, a row each, from rows of many."""
    for (body,) in rows_of(batches):
        yield pa.record_batch({"number": numbers_from_bytes(body)})


def repeats(batches: Iterable[pa.RecordBatch], *, kind: str) -> Iterator[pa.RecordBatch]:
    """Yield the documents whose text came before, with the first, from states.

    And how far the two are apart: 0 if they have fingerprints, else -1.
    """
    for (body,) in rows_of(batches):
        state = State.from_bytes(body)
        at = np.flatnonzero((state.firsts != state.numbers) & (state.firsts >= 0))
        apart = np.where(state.has_sketch[at] & (kind == "simhash"), 0, -1).astype(np.int32)
        yield pa.record_batch(
            {"number": state.numbers[at], "first": state.firsts[at], "distance": apart}
        )


def overcounted(batch: int, state: bytes) -> Iterator[Message]:
    """Name the documents whose shingles were counted too often."""
    known = State.from_bytes(state)
    yield from _named(batch, known.numbers[known.overcounted])


def firsts(batch: int, state: bytes) -> Iterator[Message]:
    """Name the documents whose text did not come before."""
    known = State.from_bytes(state)
    yield from _named(batch, known.numbers[known.firsts == known.numbers])


def _named(batch: int, numbers: NDArray[np.int64]) -> Iterator[Message]:
    if len(numbers):
        yield Message(batch, REQUEST, batch, numbers_to_bytes(numbers))


def count_again(
    batches: Iterable[pa.RecordBatch], *, search: Search, apart: bool
) -> Iterator[pa.RecordBatch]:
    """Count the shingles of some documents of the batches of a task.

    Of equal texts one is counted; with `apart`, one of each batch.
    """
    tables: list[bytes] = []
    counting: commonness.Counting | None = None
    for _, records, requests in rows_of(batches):
        counting = counting or commonness.Counting(search.settings)
        for request in requests:
            places = places_of(numbers_from_bytes(request["body"]))
            counting.add(batch_from_bytes(records), places)
        if apart or counting.documents >= GROUP_DOCUMENTS:
            tables.append(counting.table())
            counting = None
        if len(tables) == _TABLES:
            tables = [commonness.merged(tables)]
    if counting is not None:
        tables.append(counting.table())
    if tables:
        yield from messages([Message(0, PART, 0, commonness.merged(tables))])


def thin(batches: Iterable[pa.RecordBatch], *, level: int) -> Iterator[pa.RecordBatch]:
    """Thin tables of shingles out to a level."""
    yield from messages(
        Message(group, PART, 0, commonness.thinned(table, level))
        for group, table in rows_of(batches)
    )


def level(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the level of all tables, from all probes, and the highest one in doubt."""
    probes, doubted = [], 0
    for probe, level in rows_of(batches):
        probes.append(probe)
        doubted = max(doubted, level)
    if probes:
        found = {"level": [commonness.level_of(probes)], "doubted": [doubted]}
        yield pa.record_batch({name: pa.array(v, pa.int32()) for name, v in found.items()})


def merge(target: int, tables: list[Message]) -> Iterator[Message]:
    """Merge tables of shingles; of each kind to one."""
    for kind in sorted({m.kind for m in tables}):
        merged = commonness.merged([m.body for m in tables if m.kind == kind])
        yield Message(target, kind, target, merged)


def _exchange(search: Search) -> Any:
    return exchange(search.settings, search.documents, search.buckets)


def _back(bucket: int, asked: list[Message], bodies: list[bytes]) -> Iterator[Message]:
    pairs = zip(asked, bodies, strict=True)
    return (Message(message.origin, PART, bucket, body) for message, body in pairs)


def _dropped(told: Iterable[Message]) -> NDArray[np.int64]:
    some = [numbers_from_bytes(m.body) for m in told if m.kind == DROPPED]
    return np.concatenate(some) if some else np.zeros(0, np.int64)


def deal_numbers(batches: Iterable[pa.RecordBatch], *, kind: int) -> Iterator[pa.RecordBatch]:
    """Send numbers of documents to their batches."""
    for batch in batches:
        yield from messages(
            Message(target, kind, 0, numbers_to_bytes(some))
            for target, some in by_batch(batch.column(0).to_numpy())
        )
