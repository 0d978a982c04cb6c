"""Statements on the table of documents. Their numbers ascend in the order of their decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter

import sqlalchemy as sa

from neardup.index.backends import Database
from neardup.index.results import Match
from neardup.index.schema import documents, documents_with_texts, events, passages, texts
from neardup.index.store.rows import unknown_document
from neardup.index.store.statements import Statements
from neardup.index.values import DROPPED, EVER, IDENTICAL, KEPT, id_fault

#: Rows read at once where there may be many.
_TOGETHER = 1000

#: A literal, not a parameter: otherwise the indexes on kept documents are not used.
_KEPT: sa.ColumnElement[int] = sa.literal_column(str(KEPT))

#: What candidates are compared by and named with.
_SKETCHED = ("number", "id", "identity", "features", "sketch")


# SQLAlchemy renders a statement once, and finds it again if it is the same object. Building one
# takes longer than SQLite takes to run it, so the statements of every addition are built once.

_ARRIVED = documents.c.at >= sa.bindparam("not_before", type_=sa.BigInteger())
_KEPT_WITH = sa.select(documents.c.number).where(
    documents.c.identity.in_(sa.bindparam("identities", expanding=True)),
    documents.c.state == _KEPT,
    _ARRIVED,
)


@cache
def _by_ids(kind: type[Database]) -> sa.Executable:
    ids = kind.values_table("text")
    return kind.joined(ids, sa.select(documents).where(documents.c.id == ids.c.value))


@cache
def _kept(kind: type[Database], with_texts: bool) -> sa.Executable:
    given = kind.values_table()
    wanted = sa.select(*(documents.c[name] for name in _SKETCHED)).where(
        documents.c.number == given.c.value, documents.c.state == _KEPT, _ARRIVED
    )
    if with_texts:
        rows = documents.outerjoin(texts, texts.c.number == documents.c.number)
        wanted = wanted.add_columns(texts.c.text).select_from(rows)
    return kind.joined(given, wanted)


class Documents(Statements):
    """Statements on the rows of documents."""

    def by_ids(self, ids: Sequence[str]) -> dict[str, sa.RowMapping]:
        """Return the existing documents with these ids, without texts."""
        if not ids:
            return {}
        ids = [id for id in ids if id_fault(id) is None]
        rows = self.run(_by_ids(self._kind), ids).mappings()
        return {row["id"]: row for row in rows}

    def existing(self, id: str) -> sa.RowMapping:
        """Return the document with this id, without its text; InputError if there is none."""
        row = self.by_ids([id]).get(id)
        if row is None:
            raise unknown_document(self.location, id)
        return row

    def with_texts(
        self, numbers: Sequence[int], state: int | None = None
    ) -> Sequence[sa.RowMapping]:
        """Return the existing documents in a state, with texts, by number."""
        query = documents_with_texts.order_by(documents.c.number)
        query = query.where(self.is_one_of(documents.c.number))
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.run(query, numbers).mappings().all()

    def kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[sa.RowMapping]:
        """Return the kept documents among these, by number; texts are compressed."""
        if not numbers:
            return []
        rows = self.run(_kept(self._kind, with_texts), numbers, not_before=not_before)
        return sorted(rows.mappings(), key=itemgetter("number"))

    def kept_with(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        numbers: list[int] = []
        for begin in range(0, len(identities), _TOGETHER):
            part = identities[begin : begin + _TOGETHER]
            values = {"identities": part, "not_before": not_before}
            numbers.extend(self.connection.scalars(_KEPT_WITH, values))
        return numbers

    def matches(self, rows: Sequence[sa.RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by number; None for kept documents."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.kept(wanted, with_texts=False)}
        matches: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            matches[row["number"]] = _match(row, ids[row["kept_number"]], measure)
        return matches

    def dropped_for(
        self, kept_ids: Mapping[int, str], measure: str
    ) -> Iterator[tuple[int, str, Match]]:
        """Yield documents dropped for some: the number of the kept one, id and match."""
        columns = documents.c
        names = ("number", "id", "kept_number", "similarity", "distance", "reason")
        query = sa.select(*(columns[name] for name in names)).where(
            self.is_one_of(columns.kept_number), columns.state == DROPPED
        )
        rows = self.run(query.order_by(columns.number), list(kept_ids))
        for row in rows.mappings():
            kept = row["kept_number"]
            yield kept, row["id"], _match(row, kept_ids[kept], measure)

    def dropped_numbers(self, kept: Sequence[int]) -> dict[int, int]:
        """Return the number of each document dropped for these, in order, and its kept one."""
        columns = documents.c
        is_meant = sa.and_(self.is_one_of(columns.kept_number), columns.state == DROPPED)
        query = sa.select(columns.number, columns.kept_number).where(is_meant)
        return {row[0]: row[1] for row in self.run(query.order_by(columns.number), kept)}

    def dropped(self, ids: Sequence[str] | None) -> list[int]:
        """Return the numbers of all dropped documents, or of those with some ids, in order."""
        query = sa.select(documents.c.number).order_by(documents.c.number)
        query = query.where(documents.c.state == DROPPED)
        if ids is None:
            return list(self.connection.scalars(query))
        query = query.where(self.is_one_of(documents.c.id, "text"))
        return list(self.run(query, [id for id in ids if id_fault(id) is None]).scalars())

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


def _match(row: sa.RowMapping, kept_id: str, measure: str) -> Match:
    """Return the match that the row of a dropped document holds."""
    return Match(kept_id, row["similarity"], measure, row["distance"], row["reason"] == IDENTICAL)
