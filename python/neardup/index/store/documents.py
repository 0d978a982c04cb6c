"""Statements on documents: rows, texts and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import zstandard
from sqlalchemy import and_, func, or_, select, update

from neardup.base.messages import N_, Message
from neardup.index.results import Match
from neardup.index.schema import documents, documents_with_texts, texts
from neardup.index.store.bulk import run_compiled
from neardup.index.store.rows import damage
from neardup.index.store.transaction import TOGETHER, Transaction
from neardup.index.values import DROPPED, EVER, FREED, IDENTICAL, KEPT, id_fault

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

__all__ = ["DocumentStatements"]

#: Documents read at once with their texts, which may be long.
_TEXTS = 100


class DocumentStatements(Transaction):
    """Statements on `documents` and `texts`."""

    @cached_property
    def _unpacker(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()

    def by_ids(self, ids: Sequence[str]) -> dict[str, RowMapping]:
        """Return the existing documents with these ids, without texts."""
        if not ids:
            return {}
        ids = [id for id in ids if id_fault(id) is None]
        found = run_compiled(self.connection, self._compiled.by_ids, ids)
        return {row["id"]: row for row in self.sound(found.mappings())}

    def matches(self, rows: Sequence[RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by number; None for kept and freed documents."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.kept(wanted, with_texts=False)}
        found: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            kept = row["kept_number"]
            if kept not in ids:
                must = Message("the number of a kept document")
                raise self.damaged_document(row["number"], "kept_number", must, kept)
            found[row["number"]] = _match(row, ids[kept], measure)
        return found

    def kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[RowMapping]:
        """Return those of some documents that are kept, by number; texts are compressed."""
        if not numbers:
            return []
        compiled = self._compiled
        statement = compiled.kept_with_texts if with_texts else compiled.kept
        rows = run_compiled(self.connection, statement, numbers, not_before=not_before)
        found = self.sound(rows.mappings())
        found.sort(key=itemgetter("number"))
        return found

    def kept_with(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        if self.dialect != "sqlite":
            statement = self._compiled.kept_with
            rows = run_compiled(self.connection, statement, identities, not_before=not_before)
            return list(rows.scalars())
        numbers: list[int] = []
        for begin in range(0, len(identities), TOGETHER):
            some = tuple(identities[begin : begin + TOGETHER])
            marks = ", ".join("?" * len(some))
            # SQLite uses the index on kept documents only if the condition has the index' own form.
            statement = (
                f"SELECT number FROM documents WHERE identity IN ({marks}) AND state = {KEPT}"
                " AND at >= ?"
            )
            found = self.connection.exec_driver_sql(statement, (*some, not_before))
            numbers.extend(found.scalars())
        return numbers

    def text(self, row: RowMapping) -> str | None:
        """Return the text of a document, fetched if the row lacks it; None if it is not stored."""
        number = row["number"]
        if "text" in row:
            packed = row["text"]
        else:
            query = select(texts.c.text).where(texts.c.number == number)
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
            values = {"number": number, "reason": str(error)}
            raise damage(
                N_("{location}: the text of document {number} is damaged: {reason}. {remedy}"),
                self.location,
                **values,
            ) from error

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
            found = [self.unpacked(one, at) for one, at in zip(packed, numbers, strict=True)]
            return pa.array(found, pa.large_string())

    def free(self, numbers: Sequence[int]) -> list[tuple[int, str, int]]:
        """Free the documents dropped for some; return number, id, and the other's number."""
        columns = documents.c
        is_meant = and_(self.is_one_of(columns.kept_number), columns.state == DROPPED)
        query = select(columns.number, columns.id, columns.kept_number).where(is_meant)
        rows = self.run(query.order_by(columns.number), numbers)
        freed = [(row[0], row[1], row[2]) for row in rows]
        if freed:
            self.run(update(documents).where(is_meant).values(state=FREED), numbers)
        return freed

    def arrived_before(self, at: int, limit: int) -> list[RowMapping]:
        """Return the first documents that arrived before a stamp, without texts."""
        # Ordered as in the index; ordering by number would read all documents each time.
        query = select(documents).where(documents.c.at < at)
        query = query.order_by(documents.c.at, documents.c.number).limit(limit)
        return self.sound(self.connection.execute(query).mappings())

    def dropped_for(
        self, kept_ids: Mapping[int, str], measure: str
    ) -> Iterator[tuple[int, str, Match]]:
        """Yield documents dropped for some: the number of the kept one, id and match."""
        columns = documents.c
        query = select(
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
    ) -> list[RowMapping]:
        """Return the next documents in the order of numbers."""
        query = documents_with_texts if with_texts else select(documents)
        query = query.where(documents.c.number > after)
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
        query = query.order_by(documents.c.number).limit(_TEXTS if with_texts else TOGETHER)
        return self.sound(self.connection.execute(query).mappings())

    def newest_texts(self, limit: int) -> Iterator[pa.LargeStringArray]:
        """Yield the texts of the newest documents that have features, many together."""
        query = (
            select(texts.c.text, texts.c.number)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(documents.c.features > 0)
            .order_by(documents.c.number.desc())
            .limit(limit)
        )
        rows = self.connection.execute(query, execution_options={"yield_per": TOGETHER})
        for some in rows.partitions():
            packed, numbers = zip(*some, strict=True)
            yield self.unpacked_all(packed, numbers)

    def newest_sketches(self, limit: int) -> list[RowMapping]:
        """Return the newest documents that have features."""
        query = select(documents).where(documents.c.features > 0)
        query = query.order_by(documents.c.number.desc()).limit(limit)
        return self.sound(self.connection.execute(query).mappings())

    def numbers_not_kept(self, ids: Sequence[str] | None, *, dropped: bool) -> list[int]:
        """Return the numbers of all freed, and on request dropped, documents, or those of `ids`."""
        query = select(documents.c.number).order_by(documents.c.number)
        if ids is None:
            wanted = documents.c.state != KEPT if dropped else documents.c.state == FREED
            return list(self.connection.scalars(query.where(wanted)))
        query = query.where(self.is_one_of(documents.c.id, "text"), documents.c.state != KEPT)
        return list(self.run(query, [id for id in ids if id_fault(id) is None]).scalars())

    def not_kept(self, numbers: Sequence[int]) -> list[RowMapping]:
        """Return those of some documents that are not kept, with texts, in the order of numbers."""
        query = documents_with_texts.order_by(documents.c.number)
        query = query.where(self.is_one_of(documents.c.number), documents.c.state != KEPT)
        return self.sound(self.run(query, numbers).mappings())

    def arrivals(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last arrival."""
        # Two statements: each takes one lookup in a database index.
        first, last = (
            self.connection.execute(select(edge(documents.c.at))).scalar_one()
            for edge in (func.min, func.max)
        )
        return first, last

    def fingerprints(self, after: int, least: int, size: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of kept documents with later numbers and enough features.

        A sketch has `size` bytes.
        """
        query = select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        found = [(number, sketch) for number, sketch in rows]
        for number, sketch in found:
            if not isinstance(sketch, bytes) or len(sketch) != size:
                must = Message("{size} bytes", size=size)
                raise self.damaged_document(number, "sketch", must, sketch)
        return found


def _contains(table: Any, text: str) -> Any:
    """Return the condition that the id or the title of a document contains a text."""
    columns = (table.c.id, table.c.title)
    return or_(*(column.icontains(text, autoescape=True) for column in columns))


def _match(row: RowMapping, kept_id: str, measure: str) -> Match:
    """Return the match that the row of a dropped document holds."""
    return Match(kept_id, row["similarity"], measure, row["distance"], row["reason"] == IDENTICAL)
