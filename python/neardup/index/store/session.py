"""One transaction with all statements on the rows of an index.

Numbers of documents ascend in the order of their decisions.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
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

from neardup.base.messages import N_
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
from neardup.index.store.rows import COUNTERS, RECENT, damage, unknown_document
from neardup.index.values import DROPPED, EVER, IDENTICAL, KEPT, id_fault, stamp

#: Rows read or removed at once where there may be many.
_TOGETHER = 1000

#: Documents read at once with their texts, which may be long.
_TEXTS = 100

#: The most postings in the table of recent keys.
#:
#: Keys are random numbers, so each insert into a large table writes another page, in SQLite's
#: log and again in the file. New postings therefore go into a small table, and from there all
#: at once and in order into the large one. At a million documents this saves three quarters of
#: the writing. PostgreSQL gains nothing, because readers would have to wait for the move.
MOST_RECENT = 500_000

#: Postings that go into the large table at once, since they are many.
_AT_ONCE = 50_000

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
def _postings(dialect: str) -> list[sa.Executable]:
    """Return the statements that read the postings of keys."""
    statements: list[sa.Executable] = []
    for table in _key_tables(dialect):
        # Joined with the values as they are parsed: a table of them, to be read for both tables
        # of postings, would take longer to fill than parsing them twice.
        given = values_table(dialect)
        columns: list[Any] = [table.c.key, table.c.number, table.c.share]
        statements.append(joined(dialect, given, table, table.c.key == given.c.value, columns))
    return statements


def _key_tables(dialect: str) -> list[sa.Table]:
    return [keys, recent_keys] if dialect == "sqlite" else [keys]


def packer() -> zstandard.ZstdCompressor:
    """Return a compressor for texts and background statistics; not shared between threads."""
    return zstandard.ZstdCompressor(level=3)


def as_signed(keys: Sequence[int]) -> list[int]:
    """Return unsigned 64-bit keys as signed numbers with the same bits, their stored form."""
    converted: list[int] = np.array(keys, np.uint64).view(np.int64).tolist()
    return converted


@dataclass(frozen=True)
class Postings:
    """Rows of the table of keys, by column; keys are signed as in the store."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    shares: NDArray[np.int64]

    @classmethod
    def none(cls) -> Postings:
        """Return no rows."""
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))


class Session:
    """One transaction on an index."""

    def __init__(self, connection: sa.Connection, location: str) -> None:
        self.connection = connection
        self.dialect = connection.dialect.name
        self.location = location
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

    def meta(self) -> dict[str, str]:
        """Return recipe and other settings, by name."""
        return {row.name: row.value for row in self.connection.execute(sa.select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store recipe and other settings, by name; replace those that are there."""
        self.connection.execute(meta.delete().where(meta.c.name.in_(rows)))
        insert_rows(self.connection, meta, {"name": list(rows), "value": list(rows.values())})

    def counters(self) -> dict[str, int]:
        """Return the counters, by name."""
        values: dict[str, int] = {row[0]: row[1] for row in self.connection.execute(_COUNTERS)}
        for name in COUNTERS:
            if not isinstance(values.get(name), int):
                template = N_("{location}: counter '{name}' is damaged. {remedy}")
                raise damage(template, self.location, name=name)
        self._recent = values[RECENT]
        return values

    def make_counters(self, values: Mapping[str, int]) -> None:
        """Create the counters; those without a value are 0."""
        values = {**dict.fromkeys(COUNTERS, 0), **values}
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
            "replaced",
            "renamed",
            "expired",
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
        """Return the ids that have events."""
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
        rows = self.run(_by_ids(self.dialect), ids).mappings()
        return {row["id"]: row for row in rows}

    def existing(self, id: str) -> sa.RowMapping:
        """Return the document with this id, without its text; InputError if there is none."""
        row = self.by_ids([id]).get(id)
        if row is None:
            raise unknown_document(self.location, id)
        return row

    def matches(self, rows: Sequence[sa.RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by number; None for kept documents."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.kept(wanted, with_texts=False)}
        matches: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            matches[row["number"]] = _match(row, ids[row["kept_number"]], measure)
        return matches

    def kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[sa.RowMapping]:
        """Return the kept ones of some documents, by number; texts are compressed."""
        if not numbers:
            return []
        rows = self.run(_kept(self.dialect, with_texts), numbers, not_before=not_before)
        return sorted(rows.mappings(), key=itemgetter("number"))

    def kept_with(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        numbers: list[int] = []
        for begin in range(0, len(identities), _TOGETHER):
            part = identities[begin : begin + _TOGETHER]
            values = {"identities": part, "not_before": not_before}
            numbers.extend(self.connection.scalars(_KEPT_WITH, values))
        return numbers

    def text(self, row: sa.RowMapping) -> str:
        """Return the text of a document, fetched if the row lacks it."""
        number = row["number"]
        if "text" in row:
            return self.unpacked(row["text"], number)
        query = sa.select(texts.c.text).where(texts.c.number == number)
        return self.unpacked(self.connection.execute(query).scalar_one_or_none(), number)

    def unpacked(self, packed: bytes | None, number: int) -> str:
        """Return a stored text, decompressed."""
        if packed is None:
            raise damage(
                N_(
                    "{location}: must have the text of each document, but has none of document "
                    "{number}. {remedy}"
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

    def dropped_numbers(self, kept: Sequence[int]) -> dict[int, int]:
        """Return the numbers of documents dropped for some, in order, with the kept one of each."""
        columns = documents.c
        is_meant = sa.and_(self.is_one_of(columns.kept_number), columns.state == DROPPED)
        query = sa.select(columns.number, columns.kept_number).where(is_meant)
        return {row[0]: row[1] for row in self.run(query.order_by(columns.number), kept)}

    def arrived_before(self, time: int, limit: int) -> Sequence[sa.RowMapping]:
        """Return the first documents that arrived before a stamp, without texts."""
        # Ordered as in the index; ordering by number would read all documents each time.
        query = sa.select(documents).where(documents.c.at < time)
        query = query.order_by(documents.c.at, documents.c.number).limit(limit)
        return self.connection.execute(query).mappings().all()

    def dropped_before(self, kept: Sequence[sa.RowMapping], time: int) -> Sequence[sa.RowMapping]:
        """Return the documents dropped for some that arrived before a stamp, without texts."""
        query = sa.select(documents).where(
            self.is_one_of(documents.c.kept_number), documents.c.at < time
        )
        numbers = [row["number"] for row in kept]
        return self.run(query.order_by(documents.c.number), numbers).mappings().all()

    def set_dropped(self, number: int) -> None:
        """Make a kept document one that is about to be decided again."""
        self.connection.execute(
            sa.update(documents).where(documents.c.number == number).values(state=DROPPED)
        )

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
        for row in rows.mappings():
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
    ) -> Sequence[sa.RowMapping]:
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
        return self.connection.execute(query).mappings().all()

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
        return {row["number"]: row for row in self.run(query, list(numbers)).mappings()}

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

    def dropped(self, ids: Sequence[str] | None) -> list[int]:
        """Return the numbers of all dropped documents, or of those with some ids, in order."""
        query = sa.select(documents.c.number).order_by(documents.c.number)
        query = query.where(documents.c.state == DROPPED)
        if ids is None:
            return list(self.connection.scalars(query))
        query = query.where(self.is_one_of(documents.c.id, "text"))
        return list(self.run(query, [id for id in ids if id_fault(id) is None]).scalars())

    def still_dropped(self, numbers: Sequence[int]) -> Sequence[sa.RowMapping]:
        """Return the dropped ones of some documents, with texts, in the order of numbers."""
        query = documents_with_texts.order_by(documents.c.number)
        query = query.where(self.is_one_of(documents.c.number), documents.c.state == DROPPED)
        return self.run(query, numbers).mappings().all()

    def arrivals(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last arrival."""
        # Two statements: each takes one lookup in a database index.
        first, last = (
            self.connection.execute(sa.select(edge(documents.c.at))).scalar_one()
            for edge in (sa.func.min, sa.func.max)
        )
        return first, last

    def fingerprints(self, after: int, least: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of kept documents with later numbers and enough features."""
        query = sa.select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        return [(number, sketch) for number, sketch in rows]

    # Postings

    def postings(self, looked_up: NDArray[np.uint64]) -> Postings:
        """Return the postings of some keys."""
        values = looked_up.view(np.int64).tolist()
        rows: list[Any] = []
        for statement in _postings(self.dialect):
            result = self.run(statement, values)
            # There are tens of thousands of rows: the driver's plain tuples are fastest.
            if result.cursor is not None:
                rows += result.cursor.fetchall()
            result.close()
        flat = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows))
        return Postings(*(np.ascontiguousarray(column) for column in flat.reshape(-1, 3).T))

    def add_postings(self, postings: Postings) -> None:
        """Store postings; the counters must have been read before."""
        change = len(postings.keys)
        # Neighbours in the table follow each other, which finds their page in the cache.
        order = np.lexsort((postings.numbers, postings.keys))
        columns = {
            "key": postings.keys[order].tolist(),
            "number": postings.numbers[order].tolist(),
            "share": postings.shares[order].tolist(),
        }
        if self.dialect != "sqlite" or change >= _AT_ONCE:
            insert_rows(self.connection, keys, columns)
            return
        insert_rows(self.connection, recent_keys, columns)
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
            self.connection.execute(statement, rows)

    def insert(
        self,
        columns: Mapping[str, Sequence[Any]],
        packed: Sequence[bytes],
        postings: Postings,
    ) -> None:
        """Store documents, given as columns, with their compressed texts and postings."""
        try:
            insert_rows(self.connection, documents, columns)
            insert_rows(self.connection, texts, {"number": columns["number"], "text": packed})
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

    def rename(self, number: int, old: str, new: str) -> None:
        """Change the id of a document and of its events."""
        renamed = sa.update(documents).where(documents.c.number == number).values(id=new)
        self.connection.execute(renamed)
        self.connection.execute(sa.update(events).where(events.c.id == old).values(id=new))

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
