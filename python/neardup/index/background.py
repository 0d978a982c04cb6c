"""Background statistics of an index, counted again as it grows.

The first import counts its own documents (`ingest.first_import`). Later the index counts its newest
documents, at moments that depend only on how many have arrived: boilerplate comes and goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.base.lazy import _core
from neardup.index.decide import make_corpus
from neardup.index.settings import Settings
from neardup.readers import Batch
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable

if TYPE_CHECKING:
    from neardup.index.store.session import Session

#: The most documents that one count reads, and how many of them together.
NEWEST, _READ = 20_000, 1000

#: Arrivals before the first count, and the most arrivals between two counts.
FIRST, _MOST = 100, 20_000


def plan_next_count(counted_at: int) -> int:
    """Return the number of arrivals at which the next count is due.

    `counted_at` is the number of arrivals that the last count covers; 0 if there was none.
    """
    return max(FIRST, counted_at + min(counted_at, _MOST))


def recount(session: Session, settings: Settings, *, workers: int) -> int:
    """Count the newest documents of the index, store the result, and return their number.

    The session must be in a write transaction.
    """
    corpus = make_corpus(settings, workers=workers, counts=True)
    for rows in session.texts.stream_newest(NEWEST, _READ):
        stored = session.texts.read_all(rows)
        batch = Batch(stored, stored)
        texts, units, _ = readable(batch, settings.recipe, compiled(settings.recipe))
        corpus.push(texts, titles=None, units=units)
    corpus.finish()
    store(session, corpus, counted_at=session.statistics.read_counters()["arrived"])
    return len(corpus)


def store(session: Session, corpus: _core.Corpus, *, counted_at: int) -> None:
    """Store the background statistics of a corpus, which cover `counted_at` arrivals."""
    counters = session.statistics.read_counters()
    version = counters["background"] + 1
    data = _core.Background(corpus).to_bytes()
    session.statistics.set_background(version, data)
    session.statistics.count({"background": 1, "counted_at": counted_at - counters["counted_at"]})
    details = {"texts": len(corpus), "arrived": counters["arrived"], "version": version}
    session.events.log("recounted", [(None, None, details)])
