"""Statements that only lists for people need: pages of documents and removals, and counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from neardup.index.schema import documents, documents_with_texts, events
from neardup.index.store.statements import Statements
from neardup.index.values import DROPPED, KEPT

#: Rows of a page, and of one with texts, which may be long.
_TOGETHER, _TEXTS = 1000, 100

#: What happened last to a document after it was added.
_LAST_ACTION = (
    sa.select(events.c.action)
    .where(events.c.id == documents.c.id)
    .order_by(events.c.event.desc())
    .limit(1)
    .scalar_subquery()
)


class Pages(Statements):
    """Statements on pages of documents."""

    def list_documents(self, after: int, state: int | None) -> Sequence[sa.RowMapping]:
        """Return the next documents, with texts, in the order of numbers."""
        query = documents_with_texts.where(documents.c.number > after)
        if state is not None:
            query = query.where(documents.c.state == state)
        return self._read_first(query, _TEXTS)

    def list_clusters(self, after: int, search: str | None) -> Sequence[sa.RowMapping]:
        """Return the next kept documents for which others were dropped, in the order of numbers."""
        other = documents.alias()
        dropped = sa.select(other.c.number).where(
            other.c.kept_number == documents.c.number, other.c.state == DROPPED
        )
        query = sa.select(documents).where(
            documents.c.number > after, documents.c.state == KEPT, dropped.exists()
        )
        if search is not None:
            named = dropped.where(_contains(other, search)).exists()
            query = query.where(sa.or_(_contains(documents, search), named))
        return self._read_first(query, _TOGETHER)

    def _read_first(self, query: sa.Select[Any], limit: int) -> Sequence[sa.RowMapping]:
        query = query.order_by(documents.c.number).limit(limit)
        return self.connection.execute(query).mappings().all()

    def list_removal_places(
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
        query = sa.select(value, number).where(*_make_conditions(**bounds))
        if after is not None:
            query = query.where(
                sa.or_(value > after[0], sa.and_(value == after[0], number > after[1]))
            )
        query = query.order_by(value, number).limit(limit)
        return [(row[0], row[1]) for row in self.connection.execute(query)]

    def count_removals(self, *, order: str, **bounds: Any) -> int:  # noqa: ARG002
        """Return how many documents `list_removal_places` has in all."""
        query = sa.select(sa.func.count()).select_from(documents)
        return int(self.connection.execute(query.where(*_make_conditions(**bounds))).scalar_one())

    def find_by_numbers(self, numbers: Collection[int]) -> dict[int, sa.RowMapping]:
        """Return the existing documents with these numbers, with texts and their last action."""
        query = documents_with_texts.add_columns(_LAST_ACTION.label("last_action"))
        query = query.where(self.is_one_of(documents.c.number))
        return {row["number"]: row for row in self.run(query, list(numbers)).mappings()}

    def count_arrivals(self, since: int) -> tuple[int, int]:
        """Return how many documents arrived since a stamp, and how many of them are not kept."""
        query = sa.select(documents.c.state, sa.func.count())
        query = query.where(documents.c.at >= since).group_by(documents.c.state)
        counts: dict[int, int] = {row[0]: row[1] for row in self.connection.execute(query)}
        return sum(counts.values()), sum(counts.values()) - counts.get(KEPT, 0)


def _make_conditions(
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
