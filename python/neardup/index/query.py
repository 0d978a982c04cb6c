"""Reading an index: what a text repeats, stored documents, and why they are kept or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pyarrow as pa

from neardup.base.lazy import _core
from neardup.base.validation import bad, check_flag, check_string, check_whole
from neardup.index.decide import restore
from neardup.index.ingest.incoming import IncomingBatch, check_optional, check_text
from neardup.index.results import Document, Explanation, Match, NewDocument, Stats
from neardup.index.store.rows import (
    SKIPPED_DOCUMENTS,
    make_unknown_error,
    match_from_row,
    parse_extra,
)
from neardup.index.values import EVER, KEPT, STATES, check_time, convert_stamp, stamp, subtract_span
from neardup.options.index_groups import QueryParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.readers.batch import BATCH_BYTES, BATCH_RECORDS, Batch, regroup
from neardup.readers.collection import Collection

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: Documents that are compared for each near miss; those that share most keys with the text.
_COMPARED = 4

#: Documents that `StoredTexts` fetches together.
_TEXTS = 1000


class Queries:
    """The methods of `Index` that read single documents, or the whole."""

    _engine: Engine

    @takes_options
    def query(
        self,
        text: str,
        k: int = 10,
        *,
        title: str | None = None,
        at: datetime | str | None = None,
        **options: Unpack[QueryParameters],
    ) -> list[Match]:
        """Return the kept documents that a text repeats; stores nothing.

        Parameters
        ----------
        text : str
        k : int, default=10
            The most documents to return; at least 1.
        title : str or None, default=None
            Used by recipes that weigh titles.
        at : datetime, str or None, default=None
            The end of the `within` window; now by default.
        {options}

        Returns
        -------
        list of Match
            The most similar first; ties in the order of arrival.
        """
        within = complete_options(Queries.query, options)["within"]
        corpus = self._sketch_query(text, k, title)
        until = datetime.now(UTC) if at is None else check_time(at, "at")
        not_before = EVER if within is None else subtract_span(stamp(until), within)
        with self._engine.reading() as session:
            decider = self._engine.get_decider(session)
            context = decider.make_context(session, corpus, not_before=not_before)
            matches = context.clusterer.similar(corpus, 0)
        measure = self._engine.rule.measure
        return [
            Match(context.stored[row - 1]["id"], similarity, measure, distance, identical)
            for row, similarity, distance, identical in matches[:k]
        ]

    def near_misses(self, text: str, k: int = 3, *, title: str | None = None) -> list[Match]:
        """Return the kept documents that are most similar to a text without being duplicates.

        Parameters
        ----------
        text : str
        k : int, default=3
            The most documents to return; at least 1.
        title : str or None, default=None
            Used by recipes that weigh titles.

        Returns
        -------
        list of Match
            The most similar first. Empty if no document shares a rare passage with the text, and
            for a rule that searches without keys.
        """
        corpus, rule = self._sketch_query(text, k, title), self._engine.rule
        with self._engine.reading() as session:
            context = self._engine.get_decider(session).make_context(session, corpus)
            similar = {row for row, *_ in context.clusterer.similar(corpus, 0)}
            if context.postings is None:
                return []
            duplicates = {context.stored[row - 1]["number"] for row in similar}
            numbers, counts = np.unique(context.postings.numbers, return_counts=True)
            by_shared_keys = numbers[np.lexsort((numbers, -counts))].tolist()
            others = [number for number in by_shared_keys if number not in duplicates]
            rows = session.documents.find_kept(others[: _COMPARED * k], with_texts=True)
            first = len(corpus)
            restore(corpus, rows, session.location, session.texts.read_all(rows))
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

    def _sketch_query(self, text: str, k: int, title: str | None) -> _core.Corpus:
        """Return a corpus of the text that is looked up; raise if a parameter is out of bounds."""
        check_text(text, "text")
        check_whole(k, "k", 1)
        document = NewDocument("-", text, check_optional(title, "title"))
        incoming = IncomingBatch.from_documents(self._engine, [document])
        incoming.check()
        return incoming.corpus

    def get(self, id: str) -> Document | None:
        """Return a stored document; None if there is none with this id.

        Parameters
        ----------
        id : str
        """
        return self.get_many([check_string(id, "id")]).get(id)

    def get_many(self, ids: Sequence[str], *, texts: bool = True) -> dict[str, Document]:
        """Return stored documents by id.

        Parameters
        ----------
        ids : sequence of str
        texts : bool, default=True
            Whether to fetch texts; otherwise `text` is None.

        Returns
        -------
        dict of str to Document
            In the order of `ids`; ids that do not exist are left out.
        """
        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise bad("ids", "a list of text", ids)
        wanted, texts = [check_string(id, "ids") for id in ids], check_flag(texts, "texts")
        with self._engine.reading() as session:
            rows = list(session.documents.find_by_ids(wanted).values())
            read = as_documents(self._engine, session, rows, texts=texts)
        stored = {document.id: document for document in read}
        return {id: stored[id] for id in wanted if id in stored}

    def explain(self, id: str) -> Explanation:
        """Return why a document is kept or dropped, and its later events.

        Parameters
        ----------
        id : str

        Returns
        -------
        Explanation

        Raises
        ------
        InputError
            If the index has neither the document nor events of it.
        """
        engine = self._engine
        with engine.reading() as session:
            row = session.documents.find_by_ids([check_string(id, "id")]).get(id)
            events = tuple(session.events.read_events(id))
            if row is None and not events:
                raise make_unknown_error(engine.location, id)
            rows = [] if row is None else [row]
            documents = as_documents(engine, session, rows, texts=True)
            dropped = find_dropped(engine, session, rows)
        return Explanation(
            document=documents[0] if documents else None,
            measure=engine.rule.measure,
            threshold=engine.rule.threshold,
            dropped=next(iter(dropped.values()), ()),
            events=events,
        )

    def stats(self) -> Stats:
        """Return the size and the settings of the index."""
        return read_stats(self._engine)

    def __len__(self) -> int:
        """Return the number of documents in any state."""
        counters = self._engine.read_counters()
        return sum(counters[state] for state in STATES)

    def __contains__(self, id: object) -> bool:
        """Return whether the index has a document with this id, in any state."""
        if not isinstance(id, str):
            return False
        with self._engine.reading() as session:
            return bool(session.documents.find_by_ids([id]))

    def _open_stored_texts(self) -> StoredTexts:
        """Return the kept documents as the other collection of a run; readers call it."""
        return StoredTexts(self._engine)


def as_documents(
    engine: Engine, session: Session, rows: Sequence[RowMapping], *, texts: bool
) -> list[Document]:
    """Return rows of documents with what they repeat."""
    repeats = session.documents.read_matches(rows, engine.rule.measure)
    return [
        Document(
            id=row["id"],
            text=session.texts.read(row) if texts else None,
            title=row["title"],
            source=row["source"],
            at=convert_stamp(row["at"]),
            extra=parse_extra(row),
            state=STATES[row["state"]],
            repeats=repeats[row["number"]],
        )
        for row in rows
    ]


def find_dropped(
    engine: Engine, session: Session, kept: Sequence[RowMapping]
) -> dict[int, tuple[tuple[str, Match], ...]]:
    """Return the documents dropped for each of some kept documents, by their numbers."""
    ids = {row["number"]: row["id"] for row in kept}
    by_number: dict[int, list[tuple[str, Match]]] = {number: [] for number in ids}
    for row in session.documents.find_dropped(list(ids)):
        number = row["kept_number"]
        match = match_from_row(row, ids[number], engine.rule.measure)
        by_number[number].append((row["id"], match))
    return {number: tuple(dropped) for number, dropped in by_number.items()}


class StoredTexts(Collection):
    """The documents that an index keeps, read as often as wanted like the sources of a run.

    Each pass reads one snapshot: what is added meanwhile is not in it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
        """Read the documents in the order in which they were added; see `Sources.batches`."""
        return regroup(self._read_chunks(bool(titles)), BATCH_BYTES, BATCH_RECORDS)

    def _read_chunks(self, titles: bool) -> Iterator[Batch]:
        with self._engine.reading() as session:
            for rows in session.documents.stream_with_texts(KEPT, _TEXTS):
                texts = session.texts.read_all(rows)
                named = pa.array([row["title"] for row in rows], pa.large_string())
                yield Batch(
                    texts=texts,
                    ids=pa.array([row["id"] for row in rows], pa.large_string()),
                    titles=named if titles else None,
                    bytes_read=texts.nbytes,
                )


def read_stats(engine: Engine) -> Stats:
    """Return the size and the settings of an index."""
    settings, rule = engine.settings, engine.rule
    with engine.reading() as session:
        counters = session.statistics.read_counters()
        first, last = session.documents.find_arrivals()
        background = engine.get_decider(session, counters["background"]).background
    kept, dropped = (counters[name] for name in STATES)
    texts = 0 if background is None else background.counts()[0]
    return Stats(
        location=engine.location,
        documents=kept + dropped,
        kept=kept,
        dropped=dropped,
        bytes=engine.database.measure_size(),
        recipe_id=settings.recipe.id,
        measure=rule.measure,
        threshold=rule.threshold,
        max_distance=rule.max_distance,
        scheme=rule.scheme,
        background_texts=texts if settings.counts else None,
        skipped_documents=counters[SKIPPED_DOCUMENTS],
        first=None if first is None else convert_stamp(first),
        last=None if last is None else convert_stamp(last),
        created=datetime.fromisoformat(engine.created),
    )
