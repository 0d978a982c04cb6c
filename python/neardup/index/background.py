"""Background statistics of an index, recomputed as it grows.

`dedup` sees its whole collection before it decides. An index cannot, so it counts the documents
it has. The moments depend only on how many documents have arrived: after the first 100, then
whenever that number has doubled, and from 25,600 on after every 20,000. Only the newest 20,000
documents are counted: boilerplate comes and goes, and this way a count takes about a second
however large the index is. Earlier decisions do not change.

Boilerplate that first appears between two counts is unknown until the second one. Counting twice
as often would halve that delay and take a tenth of the time of a bulk load.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from neardup._engine.ingest import collect, readable
from neardup._engine.summary import Progress
from neardup.index.sketches import restore
from neardup.readers import Batch
from neardup.recipe.assets import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neardup import _core
    from neardup.index.settings import Settings
    from neardup.index.store.session import Session

__all__ = ["NEWEST", "counted_from", "next_count", "recount"]

#: The most documents that one count reads.
NEWEST = 20_000

#: Arrivals before the first count, and the most arrivals between two counts.
_FIRST, _MOST = 100, 20_000


def next_count(counted_at: int) -> int:
    """Return the number of arrivals at which the next count is due.

    `counted_at` is the number of arrivals at the last count; 0 if there was none.

    Examples
    --------
    >>> [next_count(at) for at in (0, 100, 200, 12_800, 25_600, 45_600)]
    [100, 200, 400, 25600, 45600, 65600]
    """
    return max(_FIRST, counted_at + min(counted_at, _MOST))


def counted_from(
    batches: Iterable[Batch],
    settings: Settings,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> _core.Background:
    """Compute the background statistics of a collection."""
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


def recount(session: Session, settings: Settings, *, workers: int) -> int:
    """Count the newest documents of the index, store the result, and return their number.

    The session must be in a write transaction.
    """
    from neardup import _core

    rule = settings.rule
    counters = session.counters()
    core = compiled(settings.recipe)
    corpus = _core.Corpus(core, keeps_texts=False, shingle=rule.counted_shingle, workers=workers)
    if settings.store == "text":
        for some in session.newest_texts(NEWEST):
            batch = Batch(0, some, some)
            texts, units, _ = readable(batch, settings.recipe, core)
            corpus.push(texts, titles=None, units=units)
    else:
        restore(corpus, session.newest_sketches(NEWEST), session.location)
    corpus.finish()
    found = _core.Background(corpus)
    version = counters["background"] + 1
    session.set_background(version, found.to_bytes(), datetime.now(UTC))
    arrived = counters["arrived"]
    session.add_to_counters({"background": 1, "counted_at": arrived - counters["counted_at"]})
    details = {"texts": len(corpus), "arrived": arrived, "version": version}
    session.log("recounted", [(None, None, details)])
    return len(corpus)
