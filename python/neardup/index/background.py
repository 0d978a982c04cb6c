"""What is common in an index, counted again as it grows.

A batch knows its whole collection before it decides. An index does not know what
will come, so it counts what it has, at moments that depend on nothing but how many
documents have arrived: after the first 1,000, whenever that number has doubled, and
from 32,000 on after every 20,000. It counts the newest 20,000 documents: forms come
and go, and the count takes about a second however large the index is. Decisions made
before stand.

A form that begins between two counts is unknown until the second. To count twice as
often would learn it twice as soon, and take a tenth of the time of a bulk load. But
documents of an unknown form are dropped for each other, and that shows: if drops come
in a burst, it is counted at once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup._engine.ingest import collect, readable
from neardup._engine.summary import Progress
from neardup.index.store import restore
from neardup.readers import Batch
from neardup.recipe.assets import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neardup import _core
    from neardup.index.settings import Settings
    from neardup.index.store import Session

__all__ = ["NEWEST", "burst_end", "counted_from", "next_count", "recount"]

#: Documents that are counted, at most.
NEWEST = 20_000

#: Documents after which it is counted for the first time, and the most between two.
_FIRST, _MOST = 1_000, 20_000

#: Drops that make a burst, and one of how many arrivals they are at least.
_BURST, _SHARE = 100, 5

_TOGETHER = 1024


def next_count(counted_at: int) -> int:
    """Return at how many arrivals it is counted again, from the last time (0: never).

    Examples
    --------
    >>> [next_count(at) for at in (0, 1_000, 2_000, 16_000, 32_000, 52_000)]
    [1000, 2000, 4000, 32000, 52000, 72000]
    """
    return max(_FIRST, counted_at + min(counted_at, _MOST))


def burst_end(counters: Mapping[str, int], similar: Sequence[bool]) -> int | None:
    """Return after how many of the next documents a burst of drops is noticed; None for never.

    `similar` says of each whether it is dropped for a text that is not the same. A burst
    is a hundred of these since the last count, and a fifth of all that arrived; after
    each burst twice as many, until a count that was due anyway.

    Examples
    --------
    >>> counters = {"arrived": 1400, "counted_at": 1000, "similar": 98, "bursts": 0}
    >>> burst_end(counters, [False, True, True, True])
    3
    >>> burst_end({**counters, "bursts": 1}, [True] * 10)
    """
    drops, arrived = counters["similar"], counters["arrived"] - counters["counted_at"]
    for at, is_similar in enumerate(similar, 1):
        drops += is_similar
        enough = drops >= _BURST << counters["bursts"]
        if is_similar and enough and drops * _SHARE >= arrived + at:
            return at
    return None


def counted_from(
    batches: Iterable[Batch],
    settings: Settings,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> _core.Background:
    """Count what a collection has in common."""
    from neardup import _core

    rule = settings.rule
    collected = collect(
        batches,
        settings.recipe,
        workers=workers,
        keeps_texts=False,
        counted_shingle=rule.counted_shingle,
        progress=progress,
    )
    return _core.Background(collected.corpus)


def _batched(items: Iterator[str], size: int) -> Iterator[list[str]]:
    while some := list(islice(items, size)):
        yield some


def recount(session: Session, settings: Settings, *, workers: int) -> int:
    """Count an index' own newest documents, store the result, and return their number.

    Inside a transaction that writes.
    """
    from neardup import _core

    rule = settings.rule
    counters = session.counters()
    core = compiled(settings.recipe)
    corpus = _core.Corpus(core, keeps_texts=False, shingle=rule.counted_shingle, workers=workers)
    if settings.store == "text":
        for some in _batched(session.newest_texts(NEWEST), _TOGETHER):
            batch = Batch(0, pa.array(some, pa.large_string()), [""] * len(some))
            texts, units, _ = readable(batch, settings.recipe, core)
            corpus.push(texts, titles=None, units=units)
    else:
        restore(corpus, session.newest_sketches(NEWEST), session.location)
    corpus.finish()
    found = _core.Background(corpus)
    version, now = counters["background"] + 1, datetime.now(UTC)
    session.set_background(version, found.to_bytes(), now)
    arrived = counters["arrived"]
    session.add_to_counters({"background": 1, "counted_at": arrived - counters["counted_at"]})
    details = {"texts": len(corpus), "arrived": arrived, "version": version}
    session.log("recounted", now, [(None, None, details)])
    return len(corpus)
