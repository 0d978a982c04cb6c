"""Statements on the keys of kept documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from neardup.index.backends import Database
from neardup.index.schema import keys, recent_keys
from neardup.index.store.rows import Postings
from neardup.index.store.statements import Statements

#: The most postings in the table of recent keys.
#:
#: Keys are random numbers, so each insert into a large table writes another page, in SQLite's
#: log and again in the file. New postings therefore go into a small table, and from there all
#: at once and in order into the large one. At a million documents this saves three quarters of
#: the writing. PostgreSQL gains nothing, because readers would have to wait for the move.
MOST_RECENT = 500_000

#: Postings that go into the large table at once, since they are many.
_AT_ONCE = 50_000


def _choose_tables(kind: type[Database]) -> list[sa.Table]:
    return [keys, recent_keys] if kind.keeps_recent_keys else [keys]


@cache
def _select_postings(kind: type[Database]) -> list[sa.Executable]:
    """Return the statements that read the postings of keys."""
    statements: list[sa.Executable] = []
    for table in _choose_tables(kind):
        # Joined with the values as they are parsed: a table of them, to be read for both tables
        # of postings, would take longer to fill than parsing them twice.
        values = kind.make_values_table()
        wanted = sa.select(table.c.key, table.c.number, table.c.share)
        statements.append(kind.join_values(values, wanted.where(table.c.key == values.c.value)))
    return statements


class PostingLists(Statements):
    """Statements on postings."""

    def find(self, looked_up: NDArray[np.uint64]) -> Postings:
        """Return the postings of some keys."""
        values = looked_up.view(np.int64).tolist()
        rows: list[Any] = []
        for statement in _select_postings(self._kind):
            result = self.run(statement, values)
            # There are tens of thousands of rows: the driver's plain tuples are fastest.
            if result.cursor is not None:
                rows += result.cursor.fetchall()
            result.close()
        flat = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows))
        return Postings(*(np.ascontiguousarray(column) for column in flat.reshape(-1, 3).T))

    def add(self, postings: Postings, recent: int) -> int:
        """Store postings; return the change of the number of recent ones, which is given."""
        change = len(postings.keys)
        # Neighbours in the table follow each other, which finds their page in the cache.
        order = np.lexsort((postings.numbers, postings.keys))
        columns = {
            "key": postings.keys[order].tolist(),
            "number": postings.numbers[order].tolist(),
            "share": postings.shares[order].tolist(),
        }
        if not self._kind.keeps_recent_keys or change >= _AT_ONCE:
            self.insert(keys, columns)
            return 0
        self.insert(recent_keys, columns)
        if recent + change < MOST_RECENT:
            return change
        ordered = sa.select(recent_keys).order_by(recent_keys.c.key, recent_keys.c.number)
        self.connection.execute(keys.insert().from_select(list(recent_keys.c), ordered))
        self.connection.execute(sa.delete(recent_keys))
        return -recent

    def delete(self, postings: Sequence[tuple[int, int]]) -> None:
        """Delete postings, each given as its key and the number of its document."""
        if not postings:
            return
        rows = [{"key_": key, "number_": number} for key, number in postings]
        for table in _choose_tables(self._kind):
            statement = sa.delete(table).where(
                table.c.key == sa.bindparam("key_"), table.c.number == sa.bindparam("number_")
            )
            self.connection.execute(statement, rows)
