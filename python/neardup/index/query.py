"""Reading an index: what a text repeats, stored documents, clusters, sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np
import pyarrow as pa
from sqlalchemy import RowMapping

from neardup import _core
from neardup.base.validation import check_whole
from neardup.index.decide import restore
from neardup.index.engine import Engine
from neardup.index.ingest.incoming import Incoming, check_optional, check_text
from neardup.index.results import Cluster, Document, Explanation, Match, NewDocument, Stats
from neardup.index.store.rows import UNLISTED, extra_of, unknown_document
from neardup.index.store.session import Session
from neardup.index.values import EVER, KEPT, STATES, check_time, earlier, moment, plain_text, stamp
from neardup.readers.batch import BATCH_BYTES, BATCH_RECORDS, Batch, regroup
from neardup.readers.collection import Collection

T = TypeVar("T")

#: Documents that are compared for each near miss; those that share most keys with the text.
_COMPARED = 4

#: Documents that `StoredTexts` fetches together.
_TEXTS = 1000


def query(
    engine: Engine,
    text: str,
    k: int,
    *,
    title: str | None,
    at: datetime | str | None,
    within: timedelta | None,
) -> list[Match]:
    """Return the kept documents that a text repeats."""
    corpus = _sketched(engine, text, k, title)
    until = datetime.now(UTC) if at is None else check_time(at, "at")
    not_before = EVER if within is None else earlier(stamp(until), within)
    with engine.reading() as session:
        context = engine.decider(session).context(session, corpus, not_before=not_before)
        matches = context.clusterer.similar(corpus, 0)
    measure = engine.rule.measure
    return [
        Match(context.stored[row - 1]["id"], similarity, measure, distance, identical)
        for row, similarity, distance, identical in matches[:k]
    ]


def _sketched(engine: Engine, text: str, k: int, title: str | None) -> _core.Corpus:
    """Return a corpus of the text that is looked up; raise if a parameter is out of bounds."""
    check_text(text, "text")
    check_whole(k, "k", 1)
    incoming = Incoming.of(engine, [NewDocument("-", text, check_optional(title, "title"))])
    incoming.check()
    return incoming.corpus


def near_misses(engine: Engine, text: str, k: int, *, title: str | None) -> list[Match]:
    """Return the kept documents most similar to a text that are no duplicates of it."""
    corpus, rule = _sketched(engine, text, k, title), engine.rule
    with engine.reading() as session:
        context = engine.decider(session).context(session, corpus)
        similar = {row for row, *_ in context.clusterer.similar(corpus, 0)}
        if context.postings is None:
            return []
        duplicates = {context.stored[row - 1]["number"] for row in similar}
        numbers, counts = np.unique(context.postings.numbers, return_counts=True)
        by_shared_keys = numbers[np.lexsort((numbers, -counts))].tolist()
        others = [number for number in by_shared_keys if number not in duplicates]
        rows = session.documents.kept(others[: _COMPARED * k], with_texts=True)
        first = len(corpus)
        restore(corpus, rows, session.location, session.texts.of_all(rows))
    judged = [
        _core.judge(
            corpus,
            0,
            first + at,
            measure=rule.measured,
            shingle=rule.shingle,
            threshold=rule.threshold,
            max_distance=rule.max_distance,
            min_features=rule.min_features,
        )
        for at in range(len(rows))
    ]
    matches = [
        Match(row["id"], pair["similarity"], rule.measure, pair["distance"], identical=False)
        for row, pair in zip(rows, judged, strict=True)
        if not pair["duplicate"] and pair["similarity"]
    ]
    return sorted(matches, key=lambda match: -match.similarity)[:k]


def get_many(engine: Engine, ids: Sequence[str], *, texts: bool) -> dict[str, Document]:
    """Return stored documents by id, in the order of `ids`."""
    with engine.reading() as session:
        rows = list(session.documents.by_ids(ids).values())
        stored = {
            document.id: document for document in as_documents(engine, session, rows, texts=texts)
        }
    return {id: stored[id] for id in ids if id in stored}


def explain(engine: Engine, id: str) -> Explanation:
    """Return why a document is kept or dropped, and its later events."""
    with engine.reading() as session:
        row = session.documents.by_ids([id]).get(id)
        events = tuple(session.events.of(id))
        if row is None and not events:
            raise unknown_document(engine.location, id)
        rows = [] if row is None else [row]
        documents = as_documents(engine, session, rows, texts=True)
        dropped = _dropped(engine, session, rows)
        return Explanation(
            document=documents[0] if documents else None,
            measure=engine.rule.measure,
            threshold=engine.rule.threshold,
            dropped=next(iter(dropped.values()), ()),
            events=events,
        )


def clusters(engine: Engine, *, search: str | None, after: int) -> Iterator[Cluster]:
    """Yield each kept document for which others were dropped, oldest first."""

    def read(session: Session, rows: Sequence[RowMapping]) -> list[Cluster]:
        dropped = _dropped(engine, session, rows)
        return [Cluster(row["id"], dropped[row["number"]], row["number"]) for row in rows]

    named = None if search is None else plain_text(search)

    def page(session: Session, after: int) -> Sequence[RowMapping]:
        return session.pages.clusters(after, named)

    return _paged(engine, page, read, after)


def all_documents(engine: Engine, state: str | None) -> Iterator[Document]:
    """Yield all documents in the order of arrival."""

    def read(session: Session, rows: Sequence[RowMapping]) -> list[Document]:
        return as_documents(engine, session, rows, texts=True)

    wanted = None if state is None else STATES.index(state)

    def page(session: Session, after: int) -> Sequence[RowMapping]:
        return session.pages.documents(after, wanted)

    return _paged(engine, page, read)


def stats(engine: Engine) -> Stats:
    """Return the size and the settings of the index."""
    settings, rule = engine.settings, engine.rule
    with engine.reading() as session:
        counters = session.statistics.counters()
        first, last = session.whole.arrivals()
        background = engine.decider(session, counters["background"]).background
    kept, dropped = (counters[name] for name in STATES)
    texts = 0 if background is None else background.counts()[0]
    return Stats(
        location=engine.location,
        documents=kept + dropped,
        kept=kept,
        dropped=dropped,
        bytes=engine.database.size(),
        recipe_id=settings.recipe.id,
        measure=rule.measure,
        threshold=rule.threshold,
        max_distance=rule.max_distance,
        scheme=rule.scheme,
        background_texts=texts if settings.counts else None,
        unlisted=counters[UNLISTED],
        first=None if first is None else moment(first),
        last=None if last is None else moment(last),
        created=datetime.fromisoformat(engine.created),
    )


def as_documents(
    engine: Engine, session: Session, rows: Sequence[RowMapping], *, texts: bool
) -> list[Document]:
    """Return rows of documents with what they repeat."""
    repeats = session.documents.matches(rows, engine.rule.measure)
    return [
        Document(
            id=row["id"],
            text=session.texts.of(row) if texts else None,
            title=row["title"],
            source=row["source"],
            at=moment(row["at"]),
            extra=extra_of(row),
            state=STATES[row["state"]],
            repeats=repeats[row["number"]],
        )
        for row in rows
    ]


def _dropped(
    engine: Engine, session: Session, kept: Sequence[RowMapping]
) -> dict[int, tuple[tuple[str, Match], ...]]:
    """Return the documents dropped for each of some kept documents, by their numbers."""
    ids = {row["number"]: row["id"] for row in kept}
    by_number: dict[int, list[tuple[str, Match]]] = {number: [] for number in ids}
    for number, id, match in session.documents.dropped_for(ids, engine.rule.measure):
        by_number[number].append((id, match))
    return {number: tuple(dropped) for number, dropped in by_number.items()}


def _paged(
    engine: Engine,
    page: Callable[[Session, int], Sequence[RowMapping]],
    read: Callable[[Session, Sequence[RowMapping]], list[T]],
    after: int = 0,
) -> Iterator[T]:
    """Yield rows page by page; each page is a snapshot of its own."""
    while True:
        with engine.reading() as session:
            rows = page(session, after)
            items = read(session, rows)
        if not rows:
            return
        after = rows[-1]["number"]
        yield from items


class StoredTexts(Collection):
    """The documents that an index keeps, read as often as wanted like the sources of a run.

    Each pass reads one snapshot: what is added meanwhile is not in it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
        """Read the documents in the order in which they were added; see `Sources.batches`."""
        return regroup(self._chunks(bool(titles)), BATCH_BYTES, BATCH_RECORDS)

    def _chunks(self, titles: bool) -> Iterator[Batch]:
        with self._engine.reading() as session:
            for rows in session.whole.with_texts(KEPT, _TEXTS):
                texts = session.texts.of_all(rows)
                named = pa.array([row["title"] for row in rows], pa.large_string())
                yield Batch(
                    texts=texts,
                    ids=pa.array([row["id"] for row in rows], pa.large_string()),
                    titles=named if titles else None,
                    bytes_read=texts.nbytes,
                )
