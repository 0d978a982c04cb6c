"""Statements on the shingles by which a paper check finds documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from neardup.index.schema import documents, passages, texts
from neardup.index.store.statements import Statements


class Shingles(Statements):
    """Statements on the table of passages; `made_by` says how their shingles are made."""

    def count_missing(self, made_by: str, after: int) -> int:
        """Return how many documents with a text, numbered after `after`, have none."""
        with_text = sa.select(sa.func.count()).select_from(texts).where(texts.c.number > after)
        made = sa.select(sa.func.count()).select_from(passages)
        made = made.where(passages.c.number > after, passages.c.made_by == made_by)
        counts = [self.connection.execute(query).scalar_one() for query in (with_text, made)]
        return int(counts[0] - counts[1])

    def find_missing(self, made_by: str, after: int, limit: int) -> Sequence[sa.RowMapping]:
        """Return number and text of the first documents after a number that have none."""
        is_made = sa.and_(passages.c.number == texts.c.number, passages.c.made_by == made_by)
        query = sa.select(texts).select_from(texts.outerjoin(passages, is_made))
        query = query.where(passages.c.number.is_(None), texts.c.number > after)
        query = query.order_by(texts.c.number).limit(limit)
        return self.connection.execute(query).mappings().all()

    def store(self, numbers: Sequence[int], made_by: str, shingles: Sequence[bytes]) -> None:
        """Store the shingles of some documents, in place of others."""
        self.run(sa.delete(passages).where(self.is_one_of(passages.c.number)), numbers)
        columns: dict[str, Sequence[Any]] = {
            "number": numbers,
            "made_by": [made_by] * len(numbers),
            "shingles": shingles,
        }
        self.insert(passages, columns)

    def read_made(self, made_by: str, after: int, limit: int) -> list[tuple[int, int, bytes]]:
        """Return number, time and shingles of the first documents after a number."""
        query = (
            sa.select(passages.c.number, documents.c.at, passages.c.shingles)
            .select_from(passages.join(documents, documents.c.number == passages.c.number))
            .where(passages.c.made_by == made_by, passages.c.number > after)
            .order_by(passages.c.number)
            .limit(limit)
        )
        return [(row[0], row[1], row[2]) for row in self.connection.execute(query)]
