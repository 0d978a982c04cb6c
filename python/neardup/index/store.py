"""Rows in and out: the statements of all that an index does with its documents.

A `Session` is one transaction. It knows the tables and nothing of how decisions
are made. Numbers of documents ascend in the order in which they were decided.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import zstandard
from sqlalchemy import and_, bindparam, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from neardup._engine.messages import Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError, InputError
from neardup.index.backends.acknowledged import COMMITS
from neardup.index.bulk import insert_rows, run_compiled, values_of, values_table
from neardup.index.results import Match
from neardup.index.rows import COUNTERS, counter_fault, damaged, moment, remedy, sound, stamp
from neardup.index.schema import (
    DROPPED,
    FREED,
    IDENTICAL,
    KEPT,
    background,
    counters,
    documents,
    events,
    keys,
    meta,
    passages,
    recent_keys,
    texts,
)
from neardup.index.statements import statements
from neardup.index.values import id_fault

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection, RowMapping

    from neardup import _core

__all__ = [
    "EVER",
    "NewDocuments",
    "Session",
    "match_of",
    "moment",
    "packer",
    "restore",
    "signed",
    "stamp",
]

#: A counter that counts nothing: see `Session.identity`.
IDENTITY = "identity"

#: How many entries are in the table of recent keys, and how many it holds at most.
#:
#: Keys are random numbers. Each that is written into a large table costs a page of it, in
#: SQLite's log and again in the file. So new ones go into a small table, and from there
#: all at once and in order into the large one: a quarter of the writing, at a million
#: documents. PostgreSQL gains nothing, since readers would have to wait for that.
RECENT, MOST_RECENT = "recent", 500_000

#: How many entries are in both tables, so that a missing one is noticed. Indexes made before
#: this was counted do not have it.
FILED = "filed"

#: Documents read or removed at a time where there may be many.
_TOGETHER = 1000

#: The same where texts come with them, which may be long.
_TEXTS = 100

#: A stamp before all others.
EVER = -(2**62)

_LEVEL = 3


def signed(key: int) -> int:
    """Return a key of 64 bits without a sign as the number of the same bits that is stored."""
    return key - (key >> 63 << 64)


@dataclass(frozen=True)
class Entries:
    """Rows of the table of keys, by column; keys are signed, as they are stored."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    shares: NDArray[np.int64]


@dataclass
class NewDocuments:
    """Rows that are to be stored, a list for each column."""

    number: list[int]
    id: list[str]
    state: list[int]
    at: list[int]
    source: list[str | None]
    title: list[str | None]
    extra: list[str | None]
    identity: list[bytes]
    features: list[int]
    sketch: list[bytes]
    kept_number: list[int | None]
    similarity: list[float | None]
    distance: list[int | None]
    reason: list[int | None]


def packer() -> Callable[[bytes], bytes]:
    """Return what packs texts and backgrounds for the database; for one thread."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress


def restore(
    corpus: _core.Corpus,
    rows: Sequence[RowMapping],
    location: str,
    texts: pa.LargeStringArray | None = None,
) -> None:
    """Add stored documents to a corpus, with the sketches that they have.

    Raises
    ------
    IndexFormatError
        If a sketch is not of the form that the recipe makes.
    """
    try:
        _restore(corpus, rows, texts)
    except InputError as error:
        for row in rows:
            try:
                _restore(corpus.emptied(keeps_texts=False), [row], None)
            except InputError as reason:
                must = Message("index.sketch_of_recipe")
                document = Message("index.row_document", number=row["number"])
                raise damaged(location, document, "sketch", must, row["sketch"]) from reason
        raise IndexFormatError(
            Message(
                "index.sketches_are_damaged",
                location=location,
                reason=error.args[0],
                remedy=remedy(location),
            )
        ) from error


def _restore(
    corpus: _core.Corpus, rows: Sequence[RowMapping], texts: pa.LargeStringArray | None
) -> None:
    corpus.restore(
        pa.nulls(len(rows), pa.large_string()) if texts is None else texts,
        [row["identity"] for row in rows],
        [row["features"] for row in rows],
        [row["sketch"] for row in rows],
    )


def match_of(row: RowMapping, kept_id: str, measure: str) -> Match:
    """Return what the row of a dropped document says of the kept one."""
    return Match(kept_id, row["similarity"], measure, row["distance"], row["reason"] == IDENTICAL)


class Session:
    """The statements of one transaction."""

    def __init__(self, connection: Connection, location: str, identity: int | None = None) -> None:
        self.connection = connection
        self._dialect = connection.dialect.name
        self._compiled = statements(connection)
        self.location = location
        self._identity = identity
        self._recent = 0
        self._unpacker = zstandard.ZstdDecompressor()

    # What the index is

    def meta(self) -> dict[str, str]:
        """Return recipe, settings and the like, by name."""
        return {row.name: row.value for row in self.connection.execute(select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store more of the same."""
        insert_rows(self.connection, meta, {"name": list(rows), "value": list(rows.values())})

    def counters(self) -> dict[str, int]:
        """Return all counters, by name.

        Raises
        ------
        IndexUnavailableError
            If this is not the index that was opened.
        """
        rows = self.connection.exec_driver_sql(self._compiled.counters)
        found = {row[0]: row[1] for row in rows}
        identity = found.pop(IDENTITY, None)
        self._recent = found.pop(RECENT, 0)
        filed = found.pop(FILED, 0)
        found.pop(COMMITS, None)
        if self._identity is not None and identity != self._identity:
            raise IndexUnavailableError(Message("index.another_index", location=self.location))
        own = {RECENT: self._recent, FILED: filed}
        for name, value in {**dict.fromkeys(COUNTERS), **found, **own}.items():
            fault = counter_fault(name, value)
            if fault is not None:
                counter = Message("index.row_counter", name=name)
                raise damaged(self.location, counter, "value", fault, value)
        return found

    def identity(self) -> int:
        """Return the number that tells this index from one made in its place."""
        query = select(counters.c.value).where(counters.c.name == IDENTITY)
        found = self.connection.execute(query).scalar_one_or_none()
        if not isinstance(found, int):
            counter = Message("index.row_counter", name=IDENTITY)
            raise damaged(self.location, counter, "value", Message("index.whole"), found)
        return found

    def make_counters(self, values: Mapping[str, int]) -> None:
        """Make counters, and give the index its identity."""
        identity = secrets.randbits(62)
        # Also where no later change writes: see `neardup.index.backends.acknowledged`.
        self.set_meta({IDENTITY: str(identity)})
        values = {**values, RECENT: 0, FILED: 0, COMMITS: 0, IDENTITY: identity}
        columns: dict[str, list[Any]] = {"name": [*values], "value": [*values.values()]}
        insert_rows(self.connection, counters, columns)

    def add_to_counters(self, changes: dict[str, int]) -> None:
        """Add to counters."""
        for name, change in changes.items():
            if change:
                given = {"change": change, "of": name}
                parameters: Any = given
                if self.connection.dialect.positional:
                    parameters = tuple(given.values())
                self.connection.exec_driver_sql(self._compiled.change_counter, parameters)

    def background(self, version: int) -> bytes:
        """Return a stored background, unpacked.

        Raises
        ------
        IndexFormatError
            If it is missing or damaged.
        """
        query = select(background.c.data).where(background.c.version == version)
        packed = self.connection.execute(query).scalar_one_or_none()
        try:
            return zstandard.decompress(packed or b"")
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            raise IndexFormatError(
                Message(
                    "index.background_cannot_be_unpacked",
                    location=self.location,
                    number=version,
                    reason=str(error),
                    remedy=remedy(self.location),
                )
            ) from error

    def set_background(self, version: int, data: bytes, at: datetime) -> None:
        """Store a background in the place of all others."""
        self.connection.execute(delete(background))
        row = {"version": version, "at": stamp(at), "data": packer()(data)}
        self.connection.execute(background.insert(), row)

    # Documents

    def by_ids(self, ids: Sequence[str]) -> dict[str, RowMapping]:
        """Return the documents with these ids that are there, without texts."""
        if not ids:
            return {}
        ids = [id for id in ids if id_fault(id) is None]
        found = run_compiled(self.connection, self._compiled.by_ids, ids)
        return {row["id"]: row for row in self._sound(found.mappings())}

    def _sound(self, rows: Iterable[RowMapping]) -> list[RowMapping]:
        return sound(rows, self.location)

    def matches(self, rows: Sequence[RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by their numbers; None for kept and freed ones."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.kept(wanted, with_texts=False)}
        found: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            kept = row["kept_number"]
            if kept not in ids:
                must = Message("index.number_of_kept")
                document = Message("index.row_document", number=row["number"])
                raise damaged(self.location, document, "kept_number", must, kept)
            found[row["number"]] = match_of(row, ids[kept], measure)
        return found

    def kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[RowMapping]:
        """Return those documents that are kept, by number; texts are packed."""
        if not numbers:
            return []
        compiled = self._compiled
        statement = compiled.kept_with_texts if with_texts else compiled.kept
        rows = run_compiled(self.connection, statement, numbers, not_before=not_before)
        found = self._sound(rows.mappings())
        found.sort(key=itemgetter("number"))
        return found

    def kept_with(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        if self._dialect != "sqlite":
            statement = self._compiled.kept_with
            rows = run_compiled(self.connection, statement, identities, not_before=not_before)
            return list(rows.scalars())
        numbers: list[int] = []
        for begin in range(0, len(identities), _TOGETHER):
            some = tuple(identities[begin : begin + _TOGETHER])
            marks = ", ".join("?" * len(some))
            # The index knows the kept ones only if the condition stands here as there.
            statement = (
                f"SELECT number FROM documents WHERE identity IN ({marks}) AND state = {KEPT}"
                " AND at >= ?"
            )
            found = self.connection.exec_driver_sql(statement, (*some, not_before))
            numbers.extend(found.scalars())
        return numbers

    def text(self, number: int) -> str | None:
        """Return the text of a document, None if it is not stored."""
        query = select(texts.c.text).where(texts.c.number == number)
        packed = self.connection.execute(query).scalar_one_or_none()
        return None if packed is None else self.unpacked(packed, number)

    def unpacked(self, packed: bytes | None, number: int) -> str:
        """Return a text that was stored.

        Raises
        ------
        IndexFormatError
            If the bytes are damaged or gone.
        """
        if packed is None:
            raise IndexFormatError(
                Message(
                    "index.no_text_of_document",
                    location=self.location,
                    number=number,
                    remedy=remedy(self.location),
                )
            )
        try:
            return self._unpacker.decompress(packed).decode()
        except (zstandard.ZstdError, UnicodeDecodeError, TypeError, MemoryError) as error:
            raise IndexFormatError(
                Message(
                    "index.text_is_damaged",
                    location=self.location,
                    number=number,
                    reason=str(error),
                    remedy=remedy(self.location),
                )
            ) from error

    def insert(
        self, rows: NewDocuments, packed: Sequence[bytes | None], entries: dict[str, list[int]]
    ) -> None:
        """Store documents, their packed texts and the keys of those kept."""
        try:
            self._insert(rows, packed, entries)
        except IntegrityError as error:
            words = str(error.orig).partition("\n")[0]
            raise IndexFormatError(
                Message(
                    "index.new_is_there",
                    location=self.location,
                    reason=words,
                    remedy=remedy(self.location),
                )
            ) from error

    def _insert(
        self, rows: NewDocuments, packed: Sequence[bytes | None], entries: dict[str, list[int]]
    ) -> None:
        insert_rows(self.connection, documents, vars(rows))
        there = [
            (number, text)
            for number, text in zip(rows.number, packed, strict=True)
            if text is not None
        ]
        columns: dict[str, Sequence[Any]] = {
            "number": [number for number, _ in there],
            "text": [text for _, text in there],
        }
        insert_rows(self.connection, texts, columns)
        self.insert_entries(entries)

    def insert_entries(self, entries: dict[str, list[int]]) -> None:
        """Store keys; after a look at the counters."""
        change = len(entries["key"])
        self.add_to_counters({FILED: change})
        if self._dialect != "sqlite":
            insert_rows(self.connection, keys, entries)
            return
        insert_rows(self.connection, recent_keys, entries)
        if self._recent + change >= MOST_RECENT:
            ordered = select(recent_keys).order_by(recent_keys.c.key, recent_keys.c.number)
            names = list(recent_keys.c)
            self.connection.execute(keys.insert().from_select(names, ordered))
            self.connection.execute(delete(recent_keys))
            change = -self._recent
        self.add_to_counters({RECENT: change})

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete documents with all but their keys."""
        if not numbers:
            return
        given = values_of(self._dialect, numbers)
        for table in (documents, texts, passages):
            chosen = select(values_table(self._dialect).c.value)
            statement = delete(table).where(table.c.number.in_(chosen))
            self.connection.execute(statement, given)

    def free(self, numbers: Sequence[int]) -> list[tuple[int, str, int]]:
        """Free the documents that were dropped for some; return number, id, and for whom."""
        chosen = select(values_table(self._dialect).c.value)
        is_meant = and_(documents.c.kept_number.in_(chosen), documents.c.state == DROPPED)
        columns = (documents.c.number, documents.c.id, documents.c.kept_number)
        query = select(*columns).where(is_meant).order_by(documents.c.number)
        given = values_of(self._dialect, numbers)
        freed = [(row[0], row[1], row[2]) for row in self.connection.execute(query, given)]
        if freed:
            statement = update(documents).where(is_meant).values(state=FREED)
            self.connection.execute(statement, given)
        return freed

    def arrived_before(self, at: int, limit: int) -> list[RowMapping]:
        """Return the first documents that arrived before a moment, without texts."""
        # In the order of the index; by number, all documents would be read each time.
        query = select(documents).where(documents.c.at < at)
        query = query.order_by(documents.c.at, documents.c.number).limit(limit)
        return self._sound(self.connection.execute(query).mappings())

    def dropped_for(self, numbers: Sequence[int]) -> list[RowMapping]:
        """Return the documents dropped for some, in the order of arrival."""
        chosen = select(values_table(self._dialect).c.value)
        columns = documents.c
        query = select(
            columns.number,
            columns.id,
            columns.kept_number,
            columns.similarity,
            columns.distance,
            columns.reason,
        ).where(columns.kept_number.in_(chosen), columns.state == DROPPED)
        query = query.order_by(columns.number)
        given = values_of(self._dialect, numbers)
        return self._sound(self.connection.execute(query, given).mappings())

    def page(
        self,
        after: int,
        *,
        state: int | None = None,
        with_texts: bool = False,
        clusters_only: bool = False,
        search: str | None = None,
    ) -> list[RowMapping]:
        """Return the documents with the next numbers."""
        columns: list[Any] = [documents]
        source: Any = documents
        if with_texts:
            columns.append(texts.c.text)
            source = documents.outerjoin(texts, texts.c.number == documents.c.number)
        query = select(*columns).select_from(source).where(documents.c.number > after)
        if state is not None:
            query = query.where(documents.c.state == state)
        if clusters_only:
            other = documents.alias()
            dropped = select(other.c.number).where(
                other.c.kept_number == documents.c.number, other.c.state == DROPPED
            )
            is_found: Any = dropped.exists()
            if search is not None:
                named = dropped.where(_contains(other, search)).exists()
                is_found = and_(is_found, or_(_contains(documents, search), named))
            query = query.where(is_found)
        query = query.order_by(documents.c.number).limit(_TEXTS if with_texts else _TOGETHER)
        return self._sound(self.connection.execute(query).mappings())

    def newest_texts(self, limit: int) -> Iterator[str]:
        """Give the texts of the newest documents with features, from the newest on."""
        query = (
            select(texts.c.text, texts.c.number)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(documents.c.features > 0)
            .order_by(documents.c.number.desc())
            .limit(limit)
        )
        rows = self.connection.execute(query, execution_options={"yield_per": _TEXTS})
        for packed, number in rows:
            yield self.unpacked(packed, number)

    def newest_sketches(self, limit: int) -> list[RowMapping]:
        """Return the newest documents with features."""
        query = select(documents).where(documents.c.features > 0)
        query = query.order_by(documents.c.number.desc()).limit(limit)
        return self._sound(self.connection.execute(query).mappings())

    def numbers_not_kept(self, ids: Sequence[str] | None) -> list[int]:
        """Return the numbers of freed documents, or of what is not kept of some."""
        query = select(documents.c.number).order_by(documents.c.number)
        if ids is None:
            found = self.connection.execute(query.where(documents.c.state == FREED))
        else:
            chosen = select(values_table(self._dialect, "text").c.value)
            is_meant = and_(documents.c.id.in_(chosen), documents.c.state != KEPT)
            sound = [id for id in ids if id_fault(id) is None]
            given = values_of(self._dialect, sound)
            found = self.connection.execute(query.where(is_meant), given)
        return list(found.scalars())

    def not_kept(self, numbers: Sequence[int]) -> list[RowMapping]:
        """Return those of some documents that are not kept, with their texts, by number."""
        chosen = select(values_table(self._dialect).c.value)
        query = (
            select(documents, texts.c.text)
            .select_from(documents.outerjoin(texts, texts.c.number == documents.c.number))
            .where(documents.c.number.in_(chosen), documents.c.state != KEPT)
            .order_by(documents.c.number)
        )
        given = values_of(self._dialect, numbers)
        return self._sound(self.connection.execute(query, given).mappings())

    def arrivals(self) -> tuple[int | None, int | None]:
        """Return when the first and the last document arrived."""
        # Two questions, which an index answers each by one look.
        first, last = (
            self.connection.execute(select(edge(documents.c.at))).scalar_one()
            for edge in (func.min, func.max)
        )
        return first, last

    # Keys

    def entries(self, looked_up: NDArray[np.uint64]) -> Entries:
        """Return the entries under some keys."""
        return Entries(*self._entries(self._compiled.entries, looked_up, 3))

    def entries_since(
        self, looked_up: NDArray[np.uint64], not_before: int
    ) -> tuple[Entries, Entries]:
        """Return the entries of documents that arrived since a moment, and the older ones."""
        *columns, at = self._entries(self._compiled.dated_entries, looked_up, 4)
        is_since = at >= not_before
        return (
            Entries(*(column[is_since] for column in columns)),
            Entries(*(column[~is_since] for column in columns)),
        )

    def _entries(
        self, statement: str, looked_up: NDArray[np.uint64], width: int
    ) -> list[NDArray[np.int64]]:
        result = run_compiled(self.connection, statement, looked_up.view(np.int64).tolist())
        # Some ten thousand rows: the driver's own tuples, without names.
        rows = result.cursor.fetchall() if result.cursor is not None else []
        result.close()
        try:
            flat = np.fromiter(chain.from_iterable(rows), np.int64, width * len(rows))
        except (TypeError, ValueError, OverflowError) as error:
            raise self._entry_fault(rows) from error
        shares = flat[2::width]
        if len(shares) and not 0 <= shares.min() <= shares.max() < 1 << 16:
            raise self._entry_fault(rows)
        return [np.ascontiguousarray(column) for column in flat.reshape(-1, width).T]

    def check_entries(self, rows: Sequence[Sequence[Any]]) -> None:
        """Raise if one of some entries is damaged."""
        for row in rows:
            if not all(isinstance(value, int) for value in row) or not 0 <= row[2] < 1 << 16:
                raise self._entry_fault([row])

    def _entry_fault(self, rows: Sequence[Sequence[Any]]) -> IndexFormatError:
        for key, number, share, *at in rows:
            for name, value in (("key", key), ("number", number), *(("at", one) for one in at)):
                if not isinstance(value, int):
                    row = Message("index.row_key", number=f"{number!r:.40}")
                    return damaged(self.location, row, name, Message("index.whole"), value)
            if not isinstance(share, int) or not 0 <= share < 1 << 16:
                row = Message("index.row_key", number=number)
                return damaged(self.location, row, "share", Message("index.share"), share)
        return IndexFormatError(
            Message("index.keys_are_damaged", location=self.location, remedy=remedy(self.location))
        )

    def delete_entries(self, entries: Mapping[str, Sequence[int]]) -> None:
        """Delete entries given by ``key`` and ``number``."""
        if not entries["key"]:
            return
        pairs = zip(entries["key"], entries["number"], strict=True)
        rows = [{"key_": key, "number_": number} for key, number in pairs]
        for table in (keys, recent_keys) if self._dialect == "sqlite" else (keys,):
            statement = delete(table).where(
                table.c.key == bindparam("key_"), table.c.number == bindparam("number_")
            )
            self.add_to_counters({FILED: -self.connection.execute(statement, rows).rowcount})

    def fingerprints(self, after: int, least: int, size: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of the kept documents with later numbers and enough features.

        A sketch has `size` bytes.
        """
        query = select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        found = [(number, sketch) for number, sketch in rows]
        for number, sketch in found:
            if not isinstance(sketch, bytes) or len(sketch) != size:
                row = Message("index.row_document", number=number)
                must = Message("index.bytes_of_size", size=size)
                raise damaged(self.location, row, "sketch", must, sketch)
        return found

    # Events

    def log(
        self,
        action: Literal["removed", "expired", "freed", "reconsidered", "kept", "recounted"],
        at: datetime,
        happened: Sequence[tuple[int | None, str | None, dict[str, Any]]],
    ) -> None:
        """Record events: number and id of the document, and details."""
        count = len(happened)
        columns: dict[str, Sequence[Any]] = {
            "at": [stamp(at)] * count,
            "action": [action] * count,
            "document": [number for number, _, _ in happened],
            "id": [id for _, id, _ in happened],
            "details": [json.dumps(details, ensure_ascii=False) for _, _, details in happened],
        }
        insert_rows(self.connection, events, columns)

    def events_of(self, id: str) -> list[RowMapping]:
        """Return what happened to the documents with an id, the oldest first."""
        if id_fault(id) is not None:
            return []
        query = select(events).where(events.c.id == id).order_by(events.c.event)
        return list(self.connection.execute(query).mappings())

    def all_events(self, after: int, limit: int = _TOGETHER) -> list[RowMapping]:
        """Return the next events."""
        query = select(events).where(events.c.event > after).order_by(events.c.event)
        return list(self.connection.execute(query.limit(limit)).mappings())


def _contains(table: Any, text: str) -> Any:
    """Return the condition that the id or the title of a document contains a text."""
    columns = (table.c.id, table.c.title)
    return or_(*(column.icontains(text, autoescape=True) for column in columns))
