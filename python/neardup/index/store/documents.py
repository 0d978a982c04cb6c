"""Statements on the table of documents. Their numbers ascend in the order of their decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from neardup.index.backends import Database
from neardup.index.results import Match
from neardup.index.schema import documents, documents_with_texts, events, passages, texts
from neardup.index.store.rows import make_unknown_error, match_from_row
from neardup.index.store.statements import Statements
from neardup.index.values import DROPPED, EVER, KEPT, find_id_fault

#: Rows read at once where there may be many.
_TOGETHER = 1000

#: A literal, not a parameter: otherwise the indexes on kept documents are not used.
_KEPT: sa.ColumnElement[int] = sa.literal_column(str(KEPT))

#: What candidates are compared by and named with.
_SKETCHED = ("number", "id", "identity", "features", "sketch")

#: The columns of a decision.
_DECIDED = ("number", "id", "state", "at", "kept_number", "similarity", "distance", "reason")


# SQLAlchemy renders a statement once, and finds it again if it is the same object. Building one
# takes longer than SQLite takes to run it, so the statements of every addition are built once.

_ARRIVED = documents.c.at >= sa.bindparam("not_before", type_=sa.BigInteger())
_KEPT_WITH = sa.select(documents.c.number).where(
    documents.c.identity.in_(sa.bindparam("identities", expanding=True)),
    documents.c.state == _KEPT,
    _ARRIVED,
)


@cache
def _select_by_ids(kind: type[Database]) -> sa.Executable:
    ids = kind.make_values_table("text")
    return kind.join_values(ids, sa.select(documents).where(documents.c.id == ids.c.value))


@cache
def _select_kept(kind: type[Database], with_texts: bool) -> sa.Executable:
    values = kind.make_values_table()
    wanted = sa.select(*(documents.c[name] for name in _SKETCHED)).where(
        documents.c.number == values.c.value, documents.c.state == _KEPT, _ARRIVED
    )
    if with_texts:
        rows = documents.outerjoin(texts, texts.c.number == documents.c.number)
        wanted = wanted.add_columns(texts.c.text).select_from(rows)
    return kind.join_values(values, wanted)


class Documents(Statements):
    """Statements on the rows of documents."""

    def find_by_ids(self, ids: Sequence[str]) -> dict[str, sa.RowMapping]:
        """Return the existing documents with these ids, without texts."""
        if not ids:
            return {}
        ids = [id for id in ids if find_id_fault(id) is None]
        rows = self.run(_select_by_ids(self._kind), ids).mappings()
        return {row["id"]: row for row in rows}

    def get(self, id: str) -> sa.RowMapping:
        """Return the document with this id, without its text; InputError if there is none."""
        row = self.find_by_ids([id]).get(id)
        if row is None:
            raise make_unknown_error(self.location, id)
        return row

    def read_with_texts(
        self, numbers: Sequence[int], state: int | None = None
    ) -> Sequence[sa.RowMapping]:
        """Return the existing documents in a state, with texts, by number."""
        query = documents_with_texts.order_by(documents.c.number)
        query = query.where(self.is_one_of(documents.c.number))
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.run(query, numbers).mappings().all()

    def find_kept(
        self, numbers: Sequence[int], *, with_texts: bool, not_before: int = EVER
    ) -> list[sa.RowMapping]:
        """Return the kept documents among these, by number; texts are compressed."""
        if not numbers:
            return []
        rows = self.run(_select_kept(self._kind, with_texts), numbers, not_before=not_before)
        return sorted(rows.mappings(), key=itemgetter("number"))

    def find_identical(self, identities: Sequence[bytes], *, not_before: int = EVER) -> list[int]:
        """Return the numbers of kept documents with these identities."""
        numbers: list[int] = []
        for begin in range(0, len(identities), _TOGETHER):
            part = identities[begin : begin + _TOGETHER]
            values = {"identities": part, "not_before": not_before}
            numbers.extend(self.connection.scalars(_KEPT_WITH, values))
        return numbers

    def read_matches(self, rows: Sequence[sa.RowMapping], measure: str) -> dict[int, Match | None]:
        """Return what some documents repeat, by number; None for kept documents."""
        dropped = [row for row in rows if row["state"] == DROPPED]
        wanted = sorted({row["kept_number"] for row in dropped})
        ids = {row["number"]: row["id"] for row in self.find_kept(wanted, with_texts=False)}
        matches: dict[int, Match | None] = {row["number"]: None for row in rows}
        for row in dropped:
            matches[row["number"]] = match_from_row(row, ids[row["kept_number"]], measure)
        return matches

    def find_dropped(
        self, kept: Sequence[int], *, before: int | None = None
    ) -> Sequence[sa.RowMapping]:
        """Return the documents dropped for some kept ones, by number, without their sketches.

        With `before`, only those that arrived before this stamp.
        """
        columns = documents.c
        query = sa.select(*(columns[name] for name in _DECIDED)).where(
            self.is_one_of(columns.kept_number), columns.state == DROPPED
        )
        if before is not None:
            query = query.where(columns.at < before)
        return self.run(query.order_by(columns.number), kept).mappings().all()

    def list_dropped(self, ids: Sequence[str] | None) -> list[int]:
        """Return the numbers of all dropped documents, or of those with some ids, in order."""
        query = sa.select(documents.c.number).order_by(documents.c.number)
        query = query.where(documents.c.state == DROPPED)
        if ids is None:
            return list(self.connection.scalars(query))
        query = query.where(self.is_one_of(documents.c.id, "text"))
        return list(self.run(query, [id for id in ids if find_id_fault(id) is None]).scalars())

    def find_expired(self, time: int, limit: int) -> Sequence[sa.RowMapping]:
        """Return the first documents that arrived before a stamp, without texts."""
        # Ordered as in the index; ordering by number would read all documents each time.
        query = sa.select(documents).where(documents.c.at < time)
        query = query.order_by(documents.c.at, documents.c.number).limit(limit)
        return self.connection.execute(query).mappings().all()

    def read_fingerprints(self, after: int, least: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of kept documents with later numbers and enough features."""
        query = sa.select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        return [(number, sketch) for number, sketch in rows]

    def list_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all documents, in order."""
        # Unordered: an index of the table has them, so no document is read.
        cursor = self.connection.execute(sa.select(documents.c.number)).cursor
        assert cursor is not None
        parts = [np.zeros(0, np.int64)]
        # There may be a million rows: the driver's plain tuples are fastest.
        while rows := cursor.fetchmany(10_000):
            parts.append(np.fromiter(chain.from_iterable(rows), np.int64, len(rows)))
        return np.sort(np.concatenate(parts))

    def count_states(self) -> dict[int, int]:
        """Return how many documents there are in each state."""
        query = sa.select(documents.c.state, sa.func.count()).group_by(documents.c.state)
        return {row[0]: row[1] for row in self.connection.execute(query)}

    def find_arrivals(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last arrival."""
        # Two statements: each takes one lookup in a database index.
        first, last = (
            self.connection.execute(sa.select(edge(documents.c.at))).scalar_one()
            for edge in (sa.func.min, sa.func.max)
        )
        return first, last

    def stream_with_texts(self, state: int | None, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the documents in a state, or all, with texts, in the order of numbers."""
        query = documents_with_texts.order_by(documents.c.number)
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.stream(query, rows)

    def stream_extras(self, state: int | None, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the further fields of the documents in a state, or of all that have some."""
        query = sa.select(documents.c.extra).where(documents.c.extra.is_not(None))
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.stream(query.order_by(documents.c.number), rows)

    def stream_dropped(self, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the dropped documents, each with the `kept_id` of the one that it repeats."""
        kept = documents.alias()
        joined = documents.join(kept, kept.c.number == documents.c.kept_number)
        query = sa.select(documents, kept.c.id.label("kept_id")).select_from(joined)
        query = query.where(documents.c.state == DROPPED).order_by(documents.c.number)
        return self.stream(query, rows)

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
