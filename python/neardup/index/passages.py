"""What a paper check reads from an index: winnowed shingles, and texts by number.

The shingles of a document are computed and stored when a check first needs them, so a library
is sketched only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, func, select

from neardup._engine.messages import Message
from neardup.index.schema import documents, passages, texts
from neardup.index.store.bulk import insert_rows
from neardup.index.store.rows import damaged

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine

__all__ = ["count_missing", "make_missing", "stored", "texts_of"]

#: Documents per write transaction. Other writers wait for it.
_TOGETHER = 100


def count_missing(engine: Engine, made_by: str) -> int:
    """Return how many documents with a text have no shingles of the version `made_by`."""
    with engine.reading() as session:
        connection = session.connection
        there = select(func.count()).select_from(texts)
        made = select(func.count()).select_from(passages).where(passages.c.made_by == made_by)
        found: int = connection.execute(there).scalar_one() - connection.execute(made).scalar_one()
        return found


def make_missing(
    engine: Engine, made_by: str, sketch: Callable[[list[str]], list[bytes]]
) -> Iterator[int]:
    """Compute and store missing shingles; yield the number of documents after each batch."""
    after = 0
    is_made = and_(passages.c.number == texts.c.number, passages.c.made_by == made_by)
    query = (
        select(texts)
        .select_from(texts.outerjoin(passages, is_made))
        .where(passages.c.number.is_(None))
        .order_by(texts.c.number)
        .limit(_TOGETHER)
    )
    while True:
        with engine.writing() as session:
            # Raises if another index has replaced this one.
            session.counters()
            connection = session.connection
            rows = connection.execute(query.where(texts.c.number > after)).all()
            if not rows:
                return
            numbers = [row.number for row in rows]
            made = sketch([session.unpacked(row.text, row.number) for row in rows])
            session.run(delete(passages).where(session.is_one_of(passages.c.number)), numbers)
            columns: dict[str, Sequence[object]] = {
                "number": numbers,
                "made_by": [made_by] * len(numbers),
                "shingles": made,
            }
            insert_rows(connection, passages, columns)
        after = numbers[-1]
        yield len(numbers)


def stored(engine: Engine, made_by: str) -> tuple[list[int], list[bytes]]:
    """Return the numbers of documents and their shingles, ordered by number."""
    query = select(passages.c.number, passages.c.shingles).where(passages.c.made_by == made_by)
    with engine.reading() as session:
        rows = session.connection.execute(query.order_by(passages.c.number)).all()
    for row in rows:
        if not isinstance(row.shingles, bytes) or len(row.shingles) % 4:
            must = Message("index.bytes_of_shingles")
            name = Message("index.row_passages", number=row.number)
            raise damaged(engine.location, name, "shingles", must, row.shingles)
    return [row.number for row in rows], [row.shingles for row in rows]


def texts_of(engine: Engine, numbers: Sequence[int]) -> dict[int, tuple[RowMapping, str]]:
    """Return the rows (id and title) and texts of some documents, by number."""
    with engine.reading() as session:
        query = (
            select(documents.c.number, documents.c.id, documents.c.title, texts.c.text)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(session.is_one_of(documents.c.number))
        )
        found = session.sound(session.run(query, numbers).mappings())
        return {row["number"]: (row, session.unpacked(row["text"], row["number"])) for row in found}
