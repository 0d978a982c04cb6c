"""What a paper check reads from an index: winnowed shingles, and texts by number.

The shingles of a document are computed and stored when a check first needs them, so a library
is sketched only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, delete, func, select

from neardup.base.messages import Message
from neardup.index.schema import documents, passages, texts
from neardup.index.store.bulk import insert_rows
from neardup.index.store.rows import damaged

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine

__all__ = [
    "Present",
    "any_has_text",
    "count_missing",
    "make_missing",
    "numbers_and_times",
    "stored",
    "texts_of",
]

#: Documents per write transaction. Other writers wait for it.
_TOGETHER = 100

#: Documents per read transaction.
_READ = 1000


class Present(NamedTuple):
    """The documents of an index: numbers, ascending, and when each was added."""

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]


def numbers_and_times(engine: Engine) -> Present:
    """Return which documents there are."""
    # An index of the table has both columns, so no document is read.
    query = select(documents.c.number, documents.c.at)
    numbers: list[int] = []
    times: list[int] = []
    with engine.reading() as session:
        rows = session.connection.execute(query, execution_options={"yield_per": 10_000})
        with closing(rows):
            for some in rows.partitions():
                numbers += [row[0] for row in some]
                # A damaged row may hold anything.
                times += [row[1] if row[1].__class__ is int else 0 for row in some]
    found = np.array(numbers, np.int64)
    order = np.argsort(found)
    return Present(found[order], np.array(times, np.int64)[order])


def any_has_text(engine: Engine, numbers: Sequence[int]) -> bool:
    """Return whether the text of any of these documents is stored."""
    if not numbers:
        return False
    with engine.reading() as session:
        query = select(texts.c.number).where(session.is_one_of(texts.c.number)).limit(1)
        return session.run(query, numbers).first() is not None


def count_missing(engine: Engine, made_by: str, after: int) -> int:
    """Return how many documents with a text have no shingles of the version `made_by`.

    Only documents with numbers larger than `after` are counted.
    """
    with engine.reading() as session:
        connection = session.connection
        there = select(func.count()).select_from(texts).where(texts.c.number > after)
        made = (
            select(func.count())
            .select_from(passages)
            .where(passages.c.number > after, passages.c.made_by == made_by)
        )
        found: int = connection.execute(there).scalar_one() - connection.execute(made).scalar_one()
        return found


def make_missing(
    engine: Engine, made_by: str, sketch: Callable[[list[str]], list[bytes]], after: int
) -> Iterator[int]:
    """Compute and store missing shingles; yield the number of documents after each batch.

    Documents with numbers up to `after` are left as they are.
    """
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


def stored(
    engine: Engine, made_by: str, after: int
) -> Iterator[tuple[list[int], list[int], list[bytes]]]:
    """Yield numbers, times and shingles of documents after a number, ordered by number."""
    query = (
        select(passages.c.number, documents.c.at, passages.c.shingles)
        .select_from(passages.join(documents, documents.c.number == passages.c.number))
        .where(passages.c.made_by == made_by)
        .order_by(passages.c.number)
        .limit(_READ)
    )
    while True:
        # In short transactions: a long one would keep the log of SQLite from being emptied.
        with engine.reading() as session:
            rows = session.connection.execute(query.where(passages.c.number > after)).all()
        if not rows:
            return
        for row in rows:
            if not isinstance(row.shingles, bytes) or len(row.shingles) % 4:
                must = Message("index.bytes_of_shingles")
                name = Message("index.row_passages", number=row.number)
                raise damaged(engine.location, name, "shingles", must, row.shingles)
        yield (
            [row.number for row in rows],
            [row.at if row.at.__class__ is int else 0 for row in rows],
            [row.shingles for row in rows],
        )
        after = rows[-1].number


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
