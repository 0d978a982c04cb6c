"""One transaction with all statements on the rows of an index.

Numbers of documents ascend in the order of their decisions.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
import zstandard
from numpy.typing import NDArray
from sqlalchemy.exc import IntegrityError

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError
from neardup.index.backends.acknowledged import COMMITS
from neardup.index.results import Match
from neardup.index.schema import (
    background,
    counters,
    documents,
    documents_with_texts,
    events,
    keys,
    meta,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store.bulk import insert_rows, joined, values_of, values_table
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, damage, damaged, sound
from neardup.index.values import DROPPED, EVER, FREED, IDENTICAL, KEPT, id_fault, stamp

#: Rows read or removed at once where there may be many.
_TOGETHER = 1000

#: Not a count: a random number that tells this index from one created in its place.
IDENTITY = "identity"

#: Number of postings in the table of recent keys.
RECENT = "recent"

#: Number of postings in both tables, so that a missing one is noticed. Indexes created before
#: this counter existed do not have it.
FILED = "filed"

#: Documents read at once with their texts, which may be long.
_TEXTS = 100

#: The most postings in the table of recent keys.
#:
#: Keys are random numbers, so each insert into a large table writes another page, in SQLite's
#: log and again in the file. New postings therefore go into a small table, and from there all
#: at once and in order into the large one. At a million documents this saves three quarters of
#: the writing. PostgreSQL gains nothing, because readers would have to wait for the move.
MOST_RECENT = 500_000

#: A literal, not a parameter: otherwise the indexes on kept documents are not used.
_KEPT: sa.ColumnElement[int] = sa.literal_column(str(KEPT))

#: What candidates are compared by and named with.
_SKETCHED = ("number", "id", "identity", "features", "sketch")


# SQLAlchemy renders a statement once, and finds it again if it is the same object. Building one
# takes longer than SQLite takes to run it, so the statements of every addition are built once.

_ARRIVED = documents.c.at >= sa.bindparam("not_before", type_=sa.BigInteger())
_COUNTERS = sa.select(counters)
_CHANGE = (
    sa.update(counters)
    .where(counters.c.name == sa.bindparam("of"))
    .values(value=counters.c.value + sa.bindparam("change"))
)
_KEPT_WITH = sa.select(documents.c.number).where(
    documents.c.identity.in_(sa.bindparam("identities", expanding=True)),
    documents.c.state == _KEPT,
    _ARRIVED,
)


@cache
def _by_ids(dialect: str) -> sa.Executable:
    ids = values_table(dialect, "text")
    return joined(dialect, ids, documents, documents.c.id == ids.c.value, list(documents.c))


@cache
def _kept(dialect: str, with_texts: bool) -> sa.Executable:
    number, given = documents.c.number, values_table(dialect)
    is_wanted = sa.and_(number == given.c.value, documents.c.state == _KEPT, _ARRIVED)
    columns: list[Any] = [documents.c[name] for name in _SKETCHED]
    beside = None
    if with_texts:
        columns.append(texts.c.text)
        beside = (texts, texts.c.number == number)
    return joined(dialect, given, documents, is_wanted, columns, beside=beside)


@cache
def _postings(dialect: str, dated: bool) -> list[sa.Executable]:
    """Return the statements that read the postings of keys; `dated` adds the arrival times."""
    statements: list[sa.Executable] = []
    for table in _key_tables(dialect):
        # Joined with the values as they are parsed: a table of them, to be read for both tables
        # of postings, would take longer to fill than parsing them twice.
        given = values_table(dialect)
        columns: list[Any] = [table.c.key, table.c.number, table.c.share]
        beside = None
        if dated:
            columns.append(documents.c.at)
            beside = (documents, documents.c.number == table.c.number)
        is_wanted = table.c.key == given.c.value
        statements.append(joined(dialect, given, table, is_wanted, columns, beside=beside))
    return statements


def _key_tables(dialect: str) -> list[sa.Table]:
    return [keys, recent_keys] if dialect == "sqlite" else [keys]


def packer() -> zstandard.ZstdCompressor:
    """Return a compressor for texts and background statistics; not shared between threads."""
    return zstandard.ZstdCompressor(level=3)


def signed(keys: Sequence[int]) -> list[int]:
    """Return unsigned 64-bit keys as signed numbers with the same bits, their stored form."""
    converted: list[int] = np.array(keys, np.uint64).view(np.int64).tolist()
    return converted


@dataclass(frozen=True)
class Postings:
    """Rows of the table of keys, by column; keys are signed as in the store."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    shares: NDArray[np.int64]


class Session:
    """One transaction on an index; `identity` is that of the index when it was opened."""

    def __init__(
        self, connection: sa.Connection, location: str, identity: int | None = None
    ) -> None:
        self.connection = connection
        self.dialect = connection.dialect.name
        self.location = location
        self._identity = identity
        #: Rows in the table of recent keys; set when the counters are read.
        self._recent = 0

    def is_one_of(
        self, column: sa.ColumnElement[Any], kind: str = "numbers"
    ) -> sa.ColumnElement[bool]:
        """Return the condition that a column has one of the values passed to `run`."""
        return column.in_(sa.select(values_table(self.dialect, kind).c.value))

    def run(
        self, statement: sa.Executable, values: Sequence[Any], **more: Any
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        """Run a statement with these values of its `values_table` or `is_one_of`."""
        return self.connection.execute(statement, values_of(self.dialect, values) | more)

    def stream(self, query: sa.Executable, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the rows of a query; at most `rows` of them are in memory at once."""
        result = self.connection.execute(query, execution_options={"yield_per": rows})
        with closing(result):
            yield from result.mappings().partitions()

    def sound(self, rows: Iterable[sa.RowMapping]) -> list[sa.RowMapping]:
        """Return rows of documents, or raise if one is invalid."""
        return sound(rows, self.location)

    def damaged_document(
        self, number: int, column: str, must: Message, value: Any
    ) -> IndexFormatError:
        """Return the error for a damaged column of a document."""
        document = Message("document {number}", number=number)
        return damaged(self.location, document, column, must, value)

    def meta(self) -> dict[str, str]:
        """Return recipe and other settings, by name."""
        return {row.name: row.value for row in self.connection.execute(sa.select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store recipe and other settings, by name."""
        insert_rows(self.connection, meta, {"name": list(rows), "value": list(rows.values())})

    def counters(self) -> dict[str, int]:
        """Return the counters of `COUNTERS` and, if it is there, `UNLISTED`, by name."""
        values = {row[0]: row[1] for row in self.connection.execute(_COUNTERS)}
        if self._identity is not None and values.get(IDENTITY) != self._identity:
            raise IndexUnavailableError(
                Message(
                    "{location}: must be the index that was opened. Got another index in "
                    "its place instead. Nothing of this call was stored. Open it again.",
                    code="index_replaced",
                    location=self.location,
                )
            )
        self._recent = values.get(RECENT, 0)
        optional = {RECENT: self._recent, FILED: values.get(FILED, 0)}
        optional[UNLISTED] = values.get(UNLISTED, 0)
        known = {name: values.get(name) for name in COUNTERS}
        for name, value in {**known, **optional}.items():
            fault = counter_fault(name, value)
            if fault is not None:
                raise self._damaged_counter(name, fault, value)
        return {name: values[name] for name in (*COUNTERS, UNLISTED) if name in values}

    def _damaged_counter(self, name: str, must: Message, value: Any) -> IndexFormatError:
        return damaged(self.location, Message("counter '{name}'", name=name), "value", must, value)

    def identity(self) -> int:
        """Return the number that tells this index from one created in its place."""
        query = sa.select(counters.c.value).where(counters.c.name == IDENTITY)
        value = self.connection.execute(query).scalar_one_or_none()
        if not isinstance(value, int):
            raise self._damaged_counter(IDENTITY, Message("a whole number"), value)
        return value

    def make_counters(self, values: Mapping[str, int]) -> None:
        """Create the counters, and give the index its identity."""
        identity = secrets.randbits(62)
        # Also in `meta`, which later changes leave alone: see `index.backends.acknowledged`.
        self.set_meta({IDENTITY: str(identity)})
        values = {UNLISTED: 0, **values, RECENT: 0, FILED: 0, COMMITS: 0, IDENTITY: identity}
        columns: dict[str, list[Any]] = {"name": [*values], "value": [*values.values()]}
        insert_rows(self.connection, counters, columns)

    def add_to_counters(self, changes: dict[str, int]) -> None:
        """Add the changes to the counters."""
        for name, change in changes.items():
            if change:
                self.connection.execute(_CHANGE, {"change": change, "of": name})

    def background(self, version: int) -> bytes:
        """Return stored background statistics, decompressed."""
        query = sa.select(background.c.data).where(background.c.version == version)
        packed = self.connection.execute(query).scalar_one_or_none()
        try:
            return zstandard.decompress(packed or b"")
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            template = N_("{location}: background {number} is damaged: {reason}. {remedy}")
            reason = str(error)
            raise damage(template, self.location, number=version, reason=reason) from error

    def set_background(self, version: int, data: bytes, time: datetime) -> None:
        """Store background statistics, replacing all earlier versions."""
        self.connection.execute(sa.delete(background))
        row = {"version": version, "at": stamp(time), "data": packer().compress(data)}
        self.connection.execute(background.insert(), row)

    def log(
        self,
        action: Literal[
            "removed",
            "expired",
            "freed",
            "reconsidered",
            "kept",
            "confirmed",
            "undone",
            "recounted",
        ],
        happened: Sequence[tuple[int | None, str | None, dict[str, Any]]],
    ) -> None:
        """Log events that happen now, each with number and id of a document, and details."""
        count = len(happened)
        columns: dict[str, Sequence[Any]] = {
            "at": [stamp(datetime.now(UTC))] * count,
            "action": [action] * count,
            "document": [number for number, _, _ in happened],
            "id": [id for _, id, _ in happened],
            "details": [json.dumps(details, ensure_ascii=False) for _, _, details in happened],
        }
        insert_rows(self.connection, events, columns)

    def events_of(self, id: str) -> list[sa.RowMapping]:
        """Return the events of documents with this id, oldest first."""
        if id_fault(id) is not None:
            return []
        query = _EVENTS.where(events.c.id == id).order_by(events.c.event)
        return list(self.connection.execute(query).mappings())

    def with_events(self, ids: Sequence[str]) -> list[str]:
        """Return those of some ids that have events."""
        query = sa.select(events.c.id).where(self.is_one_of(events.c.id, "text")).distinct()
        return list(self.run(query.order_by(events.c.id), ids).scalars())

    def latest_events(self, actions: Sequence[str], before: int | None) -> list[sa.RowMapping]:
        """Return the latest events of some actions, before the one with a number."""
        query = _EVENTS.where(events.c.action.in_(actions))
        if before is not None:
            query = query.where(events.c.event < before)
        query = query.order_by(events.c.event.desc()).limit(_TEXTS)
        return list(self.connection.execute(query).mappings())

    # Documents

    @cached_property
    def _unpacker(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()

    def by_ids(self, ids: Sequence[str]) -> dict[str, sa.RowMapping]:
        """Return the existing documents with these ids, without texts."""
        if not ids:
            return {}
        ids = [id for id in ids if id_fault(id) is None]
        rows = self.sound(self.run(_by_ids(self.dialect), ids).mappings())
        return {row["id"]: row for row in rows}

    def matches(self, rows: Sequence[sa.RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by number; None for kept and freed documents."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.kept(wanted, with_texts=False)}
        matches: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            kept = row["kept_number"]
            if kept not in ids:
                must = Message("the number of a kept document")
                raise self.damaged_document(row["number"], "kept_number", must, kept)
            matches[row["number"]] = _match(row, ids[kept], measure)
        return matches

    def kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[sa.RowMapping]:
        """Return those of some documents that are kept, by number; texts are compressed."""
        if not numbers:
            return []
        rows = self.run(_kept(self.dialect, with_texts), numbers, not_before=not_before)
        return sorted(self.sound(rows.mappings()), key=itemgetter("number"))

    def kept_with(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        numbers: list[int] = []
        for begin in range(0, len(identities), _TOGETHER):
            part = identities[begin : begin + _TOGETHER]
            values = {"identities": part, "not_before": not_before}
            numbers.extend(self.connection.scalars(_KEPT_WITH, values))
        return numbers

    def text(self, row: sa.RowMapping) -> str | None:
        """Return the text of a document, fetched if the row lacks it; None if it is not stored."""
        number = row["number"]
        if "text" in row:
            packed = row["text"]
        else:
            query = sa.select(texts.c.text).where(texts.c.number == number)
            packed = self.connection.execute(query).scalar_one_or_none()
        return None if packed is None else self.unpacked(packed, number)

    def unpacked(self, packed: bytes | None, number: int) -> str:
        """Return a stored text, decompressed."""
        if packed is None:
            raise damage(
                N_(
                    "{location}: must have the text of each document. Got none of "
                    "document {number} instead. {remedy}"
                ),
                self.location,
                number=number,
            )
        try:
            return self._unpacker.decompress(packed).decode()
        except (zstandard.ZstdError, UnicodeDecodeError, TypeError, MemoryError) as error:
            template = N_(
                "{location}: the text of document {number} is damaged: {reason}. {remedy}"
            )
            reason = str(error)
            raise damage(template, self.location, number=number, reason=reason) from error

    def unpacked_all(
        self, packed: Sequence[bytes | None], numbers: Sequence[int]
    ) -> pa.LargeStringArray:
        """Return the stored texts of the documents with these numbers, decompressed."""
        unpack: Any = self._unpacker.decompress
        try:
            # Strings of Python would be decoded here, only to be encoded again.
            texts: Any = pa.array(map(unpack, packed), pa.large_binary()).cast(pa.large_string())
            return texts  # type: ignore[no-any-return]
        except (zstandard.ZstdError, pa.ArrowInvalid, TypeError, MemoryError):
            # Again one by one: the error names the document.
            unpacked = [
                self.unpacked(data, number) for data, number in zip(packed, numbers, strict=True)
            ]
            return pa.array(unpacked, pa.large_string())

    def free(self, numbers: Sequence[int]) -> list[tuple[int, str, int]]:
        """Free the documents dropped for some; return number, id, and the other's number."""
        columns = documents.c
        is_meant = sa.and_(self.is_one_of(columns.kept_number), columns.state == DROPPED)
        query = sa.select(columns.number, columns.id, columns.kept_number).where(is_meant)
        rows = self.run(query.order_by(columns.number), numbers)
        freed = [(row[0], row[1], row[2]) for row in rows]
        if freed:
            self.run(sa.update(documents).where(is_meant).values(state=FREED), numbers)
        return freed

    def set_freed(self, number: int) -> None:
        """Make a document one that waits for a new decision."""
        self.connection.execute(
            sa.update(documents).where(documents.c.number == number).values(state=FREED)
        )

    def arrived_before(self, time: int, limit: int) -> list[sa.RowMapping]:
        """Return the first documents that arrived before a stamp, without texts."""
        # Ordered as in the index; ordering by number would read all documents each time.
        query = sa.select(documents).where(documents.c.at < time)
        query = query.order_by(documents.c.at, documents.c.number).limit(limit)
        return self.sound(self.connection.execute(query).mappings())

    def dropped_for(
        self, kept_ids: Mapping[int, str], measure: str
    ) -> Iterator[tuple[int, str, Match]]:
        """Yield documents dropped for some: the number of the kept one, id and match."""
        columns = documents.c
        query = sa.select(
            columns.number,
            columns.id,
            columns.kept_number,
            columns.similarity,
            columns.distance,
            columns.reason,
        ).where(self.is_one_of(columns.kept_number), columns.state == DROPPED)
        rows = self.run(query.order_by(columns.number), list(kept_ids))
        for row in self.sound(rows.mappings()):
            kept = row["kept_number"]
            yield kept, row["id"], _match(row, kept_ids[kept], measure)

    def page(
        self,
        after: int,
        *,
        state: int | None = None,
        with_texts: bool = False,
        clusters_only: bool = False,
        search: str | None = None,
    ) -> list[sa.RowMapping]:
        """Return the next documents in the order of numbers."""
        query = documents_with_texts if with_texts else sa.select(documents)
        query = query.where(documents.c.number > after)
        if state is not None:
            query = query.where(documents.c.state == state)
        if clusters_only:
            other = documents.alias()
            dropped = sa.select(other.c.number).where(
                other.c.kept_number == documents.c.number, other.c.state == DROPPED
            )
            is_found: Any = dropped.exists()
            if search is not None:
                named = dropped.where(_contains(other, search)).exists()
                is_found = sa.and_(is_found, sa.or_(_contains(documents, search), named))
            query = query.where(is_found)
        query = query.order_by(documents.c.number).limit(_TEXTS if with_texts else _TOGETHER)
        return self.sound(self.connection.execute(query).mappings())

    def removal_places(
        self, after: tuple[float, int] | None, limit: int, *, order: str, **bounds: Any
    ) -> list[tuple[float, int]]:
        """Return the places of the next dropped documents: the value ordered by, and the number.

        `after` is such a place.
        """
        number = documents.c.number
        value = {
            "doubt": documents.c.similarity,
            "newest": -documents.c.at,
            "cluster": documents.c.kept_number,
        }[order]
        query = sa.select(value, number).where(*_removal_bounds(**bounds))
        if after is not None:
            query = query.where(
                sa.or_(value > after[0], sa.and_(value == after[0], number > after[1]))
            )
        query = query.order_by(value, number).limit(limit)
        return [(row[0], row[1]) for row in self.connection.execute(query)]

    def by_numbers(self, numbers: Collection[int]) -> dict[int, sa.RowMapping]:
        """Return the existing documents with these numbers, with texts and their last action."""
        query = documents_with_texts.add_columns(_LAST_ACTION.label("last_action"))
        query = query.where(self.is_one_of(documents.c.number))
        rows = self.sound(self.run(query, list(numbers)).mappings())
        return {row["number"]: row for row in rows}

    def count_removals(self, *, order: str, **bounds: Any) -> int:  # noqa: ARG002
        """Return how many documents `removals` has in all."""
        query = sa.select(sa.func.count()).select_from(documents)
        return int(self.connection.execute(query.where(*_removal_bounds(**bounds))).scalar_one())

    def count_arrivals(self, since: int) -> tuple[int, int]:
        """Return how many documents arrived since a stamp, and how many of them are not kept."""
        query = sa.select(documents.c.state, sa.func.count())
        query = query.where(documents.c.at >= since).group_by(documents.c.state)
        counts: dict[int, int] = {row[0]: row[1] for row in self.connection.execute(query)}
        return sum(counts.values()), sum(counts.values()) - counts.get(KEPT, 0)

    def newest_texts(self, limit: int) -> Iterator[pa.LargeStringArray]:
        """Yield the texts of the newest documents that have features, many together."""
        query = (
            sa.select(texts.c.text, texts.c.number)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(documents.c.features > 0)
            .order_by(documents.c.number.desc())
            .limit(limit)
        )
        rows = self.connection.execute(query, execution_options={"yield_per": _TOGETHER})
        for partition in rows.partitions():
            packed, numbers = zip(*partition, strict=True)
            yield self.unpacked_all(packed, numbers)

    def newest_sketches(self, limit: int) -> list[sa.RowMapping]:
        """Return the newest documents that have features."""
        query = sa.select(documents).where(documents.c.features > 0)
        query = query.order_by(documents.c.number.desc()).limit(limit)
        return self.sound(self.connection.execute(query).mappings())

    def numbers_not_kept(self, ids: Sequence[str] | None, *, dropped: bool) -> list[int]:
        """Return the numbers of all freed, and on request dropped, documents, or those of `ids`."""
        query = sa.select(documents.c.number).order_by(documents.c.number)
        if ids is None:
            wanted = documents.c.state != KEPT if dropped else documents.c.state == FREED
            return list(self.connection.scalars(query.where(wanted)))
        query = query.where(self.is_one_of(documents.c.id, "text"), documents.c.state != KEPT)
        return list(self.run(query, [id for id in ids if id_fault(id) is None]).scalars())

    def not_kept(self, numbers: Sequence[int]) -> list[sa.RowMapping]:
        """Return those of some documents that are not kept, with texts, in the order of numbers."""
        query = documents_with_texts.order_by(documents.c.number)
        query = query.where(self.is_one_of(documents.c.number), documents.c.state != KEPT)
        return self.sound(self.run(query, numbers).mappings())

    def arrivals(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last arrival."""
        # Two statements: each takes one lookup in a database index.
        first, last = (
            self.connection.execute(sa.select(edge(documents.c.at))).scalar_one()
            for edge in (sa.func.min, sa.func.max)
        )
        return first, last

    def fingerprints(self, after: int, least: int, size: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of kept documents with later numbers and enough features.

        A sketch has `size` bytes.
        """
        query = sa.select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        fingerprints = [(number, sketch) for number, sketch in rows]
        for number, sketch in fingerprints:
            if not isinstance(sketch, bytes) or len(sketch) != size:
                must = Message("{size} bytes", size=size)
                raise self.damaged_document(number, "sketch", must, sketch)
        return fingerprints

    # Postings

    def postings(
        self, looked_up: NDArray[np.uint64], not_before: int | None = None
    ) -> tuple[Postings, Postings | None]:
        """Return the postings of some keys; with a stamp those since, and those of older ones."""
        if not_before is None:
            return Postings(*self._posting_columns(looked_up, dated=False)), None
        *columns, times = self._posting_columns(looked_up, dated=True)
        is_since = times >= not_before
        return (
            Postings(*(column[is_since] for column in columns)),
            Postings(*(column[~is_since] for column in columns)),
        )

    def _posting_columns(
        self, looked_up: NDArray[np.uint64], *, dated: bool
    ) -> list[NDArray[np.int64]]:
        values = looked_up.view(np.int64).tolist()
        width = 4 if dated else 3
        rows: list[Any] = []
        for statement in _postings(self.dialect, dated):
            result = self.run(statement, values)
            # There are tens of thousands of rows: the driver's plain tuples are fastest.
            if result.cursor is not None:
                rows += result.cursor.fetchall()
            result.close()
        try:
            flat = np.fromiter(chain.from_iterable(rows), np.int64, width * len(rows))
        except (TypeError, ValueError, OverflowError) as error:
            raise self.posting_fault(rows) or self._damaged_keys() from error
        shares = flat[2::width]
        if len(shares) and not 0 <= shares.min() <= shares.max() < 1 << 16:
            raise self.posting_fault(rows) or self._damaged_keys()
        return [np.ascontiguousarray(column) for column in flat.reshape(-1, width).T]

    def posting_fault(self, rows: Iterable[Sequence[Any]]) -> IndexFormatError | None:
        """Return the error for the first posting that is damaged: key, number, share, and time."""
        for key, number, share, *times in rows:
            for name, value in (
                ("key", key),
                ("number", number),
                *(("at", time) for time in times),
            ):
                if not isinstance(value, int):
                    row = Message("a key of document {number}", number=f"{number!r:.40}")
                    return damaged(self.location, row, name, Message("a whole number"), value)
            if not isinstance(share, int) or not 0 <= share < 1 << 16:
                row = Message("a key of document {number}", number=number)
                return damaged(self.location, row, "share", Message("from 0 to 65,535"), share)
        return None

    def _damaged_keys(self) -> IndexFormatError:
        return damage(N_("{location}: keys are damaged. {remedy}"), self.location)

    def add_postings(self, postings: Mapping[str, Sequence[int]]) -> None:
        """Store postings given as columns of the table; the counters must have been read before."""
        change = len(postings["key"])
        self.add_to_counters({FILED: change})
        # Neighbours in the table follow each other, which finds their page in the cache.
        order = np.argsort(np.array(postings["key"], np.int64), kind="stable").tolist()
        postings = {name: [values[number] for number in order] for name, values in postings.items()}
        if self.dialect != "sqlite":
            insert_rows(self.connection, keys, postings)
            return
        insert_rows(self.connection, recent_keys, postings)
        if self._recent + change >= MOST_RECENT:
            ordered = sa.select(recent_keys).order_by(recent_keys.c.key, recent_keys.c.number)
            names = list(recent_keys.c)
            self.connection.execute(keys.insert().from_select(names, ordered))
            self.connection.execute(sa.delete(recent_keys))
            change = -self._recent
        self.add_to_counters({RECENT: change})

    def delete_postings(self, postings: Mapping[str, Sequence[int]]) -> None:
        """Delete postings given as columns ``key`` and ``number``."""
        if not postings["key"]:
            return
        pairs = zip(postings["key"], postings["number"], strict=True)
        rows = [{"key_": key, "number_": number} for key, number in pairs]
        for table in _key_tables(self.dialect):
            statement = sa.delete(table).where(
                table.c.key == sa.bindparam("key_"), table.c.number == sa.bindparam("number_")
            )
            self.add_to_counters({FILED: -self.connection.execute(statement, rows).rowcount})

    def insert(
        self,
        columns: Mapping[str, Sequence[Any]],
        packed: Sequence[bytes | None],
        postings: Mapping[str, Sequence[int]],
    ) -> None:
        """Store documents, given as columns, with their compressed texts and postings."""
        with_text = [
            (number, text)
            for number, text in zip(columns["number"], packed, strict=True)
            if text is not None
        ]
        stored_texts: dict[str, Sequence[Any]] = {
            "number": [number for number, _ in with_text],
            "text": [text for _, text in with_text],
        }
        try:
            insert_rows(self.connection, documents, columns)
            insert_rows(self.connection, texts, stored_texts)
            self.add_postings(postings)
        except IntegrityError as error:
            words = str(error.orig).partition("\n")[0]
            raise damage(
                N_(
                    "{location}: rows to be added exist already ({reason}): counters, texts or "
                    "keys are damaged. Nothing of this change was stored. {remedy}"
                ),
                self.location,
                reason=words,
            ) from error

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete documents with everything except their postings."""
        if numbers:
            for table in (documents, texts, passages):
                self.run(sa.delete(table).where(self.is_one_of(table.c.number)), numbers)


_LATER = events.alias()
#: Events, and whether it is the last one of its document.
_EVENTS = sa.select(
    events,
    ~sa.exists()
    .where(_LATER.c.id == events.c.id, _LATER.c.event > events.c.event)
    .label("is_last"),
)

#: What happened last to a document after it was added.
_LAST_ACTION = (
    sa.select(events.c.action)
    .where(events.c.id == documents.c.id)
    .order_by(events.c.event.desc())
    .limit(1)
    .scalar_subquery()
)


def _removal_bounds(
    *,
    source: str,
    since: int | None,
    until: int | None,
    similarity: tuple[float, float],
    confirmed: bool | None,
) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on dropped documents of a `RemovalFilter`, without its `search`."""
    columns = documents.c
    conditions = [columns.state == DROPPED, columns.similarity.between(*similarity)]
    if source:
        conditions.append(columns.source == source)
    if since is not None:
        conditions.append(columns.at >= since)
    if until is not None:
        conditions.append(columns.at < until)
    if confirmed is not None:
        is_confirmed = sa.func.coalesce(_LAST_ACTION, "") == "confirmed"
        conditions.append(is_confirmed if confirmed else sa.not_(is_confirmed))
    return conditions


def _contains(table: Any, text: str) -> Any:
    """Return the condition that the id or the title of a document contains a text."""
    columns = (table.c.id, table.c.title)
    return sa.or_(*(column.icontains(text, autoescape=True) for column in columns))


def _match(row: sa.RowMapping, kept_id: str, measure: str) -> Match:
    """Return the match that the row of a dropped document holds."""
    return Match(kept_id, row["similarity"], measure, row["distance"], row["reason"] == IDENTICAL)
