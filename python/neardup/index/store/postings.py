"""Postings: which kept documents have a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import bindparam, delete, select

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError
from neardup.index.schema import keys, recent_keys
from neardup.index.store.bulk import insert_rows, run_compiled
from neardup.index.store.rows import damage, damaged
from neardup.index.store.transaction import FILED, RECENT, Transaction

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PostingStatements", "Postings", "signed"]

#: The most postings in the table of recent keys.
#:
#: Keys are random numbers, so each insert into a large table writes another page, in SQLite's
#: log and again in the file. New postings therefore go into a small table, and from there all
#: at once and in order into the large one. At a million documents this saves three quarters of
#: the writing. PostgreSQL gains nothing, because readers would have to wait for the move.
MOST_RECENT = 500_000


def signed(keys: Sequence[int]) -> list[int]:
    """Return unsigned 64-bit keys as signed numbers with the same bits, their stored form."""
    found: list[int] = np.array(keys, np.uint64).view(np.int64).tolist()
    return found


@dataclass(frozen=True)
class Postings:
    """Rows of the table of keys, by column; keys are signed as in the store."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    shares: NDArray[np.int64]


class PostingStatements(Transaction):
    """Statements on `keys` and `recent_keys`."""

    def postings(self, looked_up: NDArray[np.uint64]) -> Postings:
        """Return the postings of some keys."""
        return Postings(*self._postings(self._compiled.postings, looked_up, 3))

    def postings_since(
        self, looked_up: NDArray[np.uint64], not_before: int
    ) -> tuple[Postings, Postings]:
        """Return two parts of the postings: documents since a stamp, and older ones."""
        *columns, at = self._postings(self._compiled.dated_postings, looked_up, 4)
        is_since = at >= not_before
        return (
            Postings(*(column[is_since] for column in columns)),
            Postings(*(column[~is_since] for column in columns)),
        )

    def _postings(
        self, compiled: Sequence[str], looked_up: NDArray[np.uint64], width: int
    ) -> list[NDArray[np.int64]]:
        values = looked_up.view(np.int64).tolist()
        rows: list[Any] = []
        for statement in compiled:
            result = run_compiled(self.connection, statement, values)
            # There are tens of thousands of rows: the driver's plain tuples are fastest.
            if result.cursor is not None:
                rows += result.cursor.fetchall()
            result.close()
        try:
            flat = np.fromiter(chain.from_iterable(rows), np.int64, width * len(rows))
        except (TypeError, ValueError, OverflowError) as error:
            raise self._posting_fault(rows) from error
        shares = flat[2::width]
        if len(shares) and not 0 <= shares.min() <= shares.max() < 1 << 16:
            raise self._posting_fault(rows)
        return [np.ascontiguousarray(column) for column in flat.reshape(-1, width).T]

    def check_postings(self, rows: Sequence[Sequence[Any]]) -> None:
        """Raise if any of the postings is damaged."""
        for row in rows:
            if not all(isinstance(value, int) for value in row) or not 0 <= row[2] < 1 << 16:
                raise self._posting_fault([row])

    def _posting_fault(self, rows: Sequence[Sequence[Any]]) -> IndexFormatError:
        for key, number, share, *at in rows:
            for name, value in (("key", key), ("number", number), *(("at", one) for one in at)):
                if not isinstance(value, int):
                    row = Message("a key of document {number}", number=f"{number!r:.40}")
                    return damaged(self.location, row, name, Message("a whole number"), value)
            if not isinstance(share, int) or not 0 <= share < 1 << 16:
                row = Message("a key of document {number}", number=number)
                return damaged(self.location, row, "share", Message("from 0 to 65,535"), share)
        return damage(N_("{location}: keys are damaged. {remedy}"), self.location)

    def add_postings(self, postings: Mapping[str, Sequence[int]]) -> None:
        """Store postings given as columns of the table; the counters must have been read before."""
        change = len(postings["key"])
        self.add_to_counters({FILED: change})
        # Neighbours in the table follow each other, which finds their page in the cache.
        order = np.argsort(np.array(postings["key"], np.int64), kind="stable").tolist()
        postings = {name: [values[at] for at in order] for name, values in postings.items()}
        if self.dialect != "sqlite":
            insert_rows(self.connection, keys, postings)
            return
        insert_rows(self.connection, recent_keys, postings)
        if self._recent + change >= MOST_RECENT:
            ordered = select(recent_keys).order_by(recent_keys.c.key, recent_keys.c.number)
            names = list(recent_keys.c)
            self.connection.execute(keys.insert().from_select(names, ordered))
            self.connection.execute(delete(recent_keys))
            change = -self._recent
        self.add_to_counters({RECENT: change})

    def delete_postings(self, postings: Mapping[str, Sequence[int]]) -> None:
        """Delete postings given as columns ``key`` and ``number``."""
        if not postings["key"]:
            return
        pairs = zip(postings["key"], postings["number"], strict=True)
        rows = [{"key_": key, "number_": number} for key, number in pairs]
        for table in (keys, recent_keys) if self.dialect == "sqlite" else (keys,):
            statement = delete(table).where(
                table.c.key == bindparam("key_"), table.c.number == bindparam("number_")
            )
            self.add_to_counters({FILED: -self.connection.execute(statement, rows).rowcount})
