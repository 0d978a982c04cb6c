"""Statements that read an index from end to end: for exports, checks and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from neardup.index.schema import documents, documents_with_texts, texts
from neardup.index.store.statements import Statements
from neardup.index.values import DROPPED, KEPT


class Whole(Statements):
    """Statements on all documents. The largest results are streams, of some rows at a time."""

    def with_texts(self, state: int | None, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the documents in a state, or all, with texts, in the order of numbers."""
        query = documents_with_texts.order_by(documents.c.number)
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.stream(query, rows)

    def extras(self, state: int | None, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the further fields of the documents in a state, or of all that have some."""
        query = sa.select(documents.c.extra).where(documents.c.extra.is_not(None))
        if state is not None:
            query = query.where(documents.c.state == state)
        return self.stream(query.order_by(documents.c.number), rows)

    def dropped(self, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the dropped documents, each with the `kept_id` of the one that it repeats."""
        kept = documents.alias()
        joined = documents.join(kept, kept.c.number == documents.c.kept_number)
        query = sa.select(documents, kept.c.id.label("kept_id")).select_from(joined)
        query = query.where(documents.c.state == DROPPED).order_by(documents.c.number)
        return self.stream(query, rows)

    def newest_texts(self, limit: int, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the texts of the newest documents that have features."""
        query = (
            sa.select(texts)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(documents.c.features > 0)
            .order_by(documents.c.number.desc())
            .limit(limit)
        )
        return self.stream(query, rows)

    def fingerprints(self, after: int, least: int) -> list[tuple[int, bytes]]:
        """Return number and sketch of kept documents with later numbers and enough features."""
        query = sa.select(documents.c.number, documents.c.sketch).where(
            documents.c.number > after, documents.c.state == KEPT, documents.c.features >= least
        )
        rows = self.connection.execute(query.order_by(documents.c.number))
        return [(number, sketch) for number, sketch in rows]

    def numbers(self) -> list[int]:
        """Return the numbers of all documents, in order."""
        query = sa.select(documents.c.number).order_by(documents.c.number)
        return list(self.connection.scalars(query))

    def count_states(self) -> dict[int, int]:
        """Return how many documents there are in each state."""
        query = sa.select(documents.c.state, sa.func.count()).group_by(documents.c.state)
        return {row[0]: row[1] for row in self.connection.execute(query)}

    def arrivals(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last arrival."""
        # Two statements: each takes one lookup in a database index.
        first, last = (
            self.connection.execute(sa.select(edge(documents.c.at))).scalar_one()
            for edge in (sa.func.min, sa.func.max)
        )
        return first, last
