"""Background statistics of an index, counted again as it grows.

An index without documents counts the files that are added to it first. Later it counts its newest
documents, at moments that depend only on how many have arrived: boilerplate comes and goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime

from neardup import _core
from neardup.base.prefetch import prefetch
from neardup.base.progress import Progress
from neardup.index.decide import empty_corpus, restore
from neardup.index.settings import Settings
from neardup.index.store.session import Session
from neardup.readers import Batch, Problem
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable

#: The most documents that one count reads.
NEWEST = 20_000

#: Arrivals before the first count, and the most arrivals between two counts.
FIRST, _MOST = 100, 20_000


def next_count(counted_at: int) -> int:
    """Return the number of arrivals at which the next count is due.

    `counted_at` is the number of arrivals that the last count covers; 0 if there was none.
    """
    return max(FIRST, counted_at + min(counted_at, _MOST))


def counted_from(
    batches: Iterable[Batch],
    settings: Settings,
    *,
    workers: int = 0,
    progress: Progress | None = None,
    share: Callable[[], float] | None = None,
    added_later: bool = False,
) -> _core.Corpus:
    """Return a corpus from which the background statistics of a collection can be made.

    Documents that are `added_later` are reported then, and so are their problems.
    """
    progress = progress or Progress()
    progress.stage("read and sketch", None, share)
    corpus = empty_corpus(settings, workers=workers, counts=True)
    with closing(prefetch(batches)) as unread:
        for batch in unread:
            problems = _push(corpus, batch, settings)
            if added_later:
                progress.advance(0, batch.bytes_read)
                continue
            for problem in problems:
                progress.problem(problem)
            progress.advance(len(batch), batch.bytes_read)
    corpus.finish()
    return corpus


def _push(corpus: _core.Corpus, batch: Batch, settings: Settings) -> list[Problem]:
    texts, units, problems = readable(batch, settings.recipe, compiled(settings.recipe))
    corpus.push(texts, titles=None, units=units)
    return problems


def recount(session: Session, settings: Settings, *, workers: int) -> int:
    """Count the newest documents of the index, store the result, and return their number.

    The session must be in a write transaction.
    """
    corpus = empty_corpus(settings, workers=workers, counts=True)
    if settings.store == "text":
        for texts in session.newest_texts(NEWEST):
            _push(corpus, Batch(texts, texts), settings)
    else:
        restore(corpus, session.newest_sketches(NEWEST), session.location)
    corpus.finish()
    store(session, corpus, counted_at=session.counters()["arrived"])
    return len(corpus)


def store(session: Session, corpus: _core.Corpus, *, counted_at: int) -> None:
    """Store the background statistics of a corpus, which cover `counted_at` arrivals."""
    counters = session.counters()
    version = counters["background"] + 1
    session.set_background(version, _core.Background(corpus).to_bytes(), datetime.now(UTC))
    session.add_to_counters({"background": 1, "counted_at": counted_at - counters["counted_at"]})
    details = {"texts": len(corpus), "arrived": counters["arrived"], "version": version}
    session.log("recounted", [(None, None, details)])
