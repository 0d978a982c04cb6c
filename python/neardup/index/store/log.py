"""The log of events of documents after they were added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import select

from neardup.index.schema import events
from neardup.index.store.bulk import insert_rows
from neardup.index.store.transaction import TOGETHER, Transaction
from neardup.index.values import id_fault, stamp

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

__all__ = ["LogStatements"]


class LogStatements(Transaction):
    """Statements on `events`."""

    def log(
        self,
        action: Literal["removed", "expired", "freed", "reconsidered", "kept", "recounted"],
        happened: Sequence[tuple[int | None, str | None, dict[str, Any]]],
    ) -> None:
        """Log events that happen now, each with number and id of a document, and details."""
        count = len(happened)
        columns: dict[str, Sequence[Any]] = {
            "at": [stamp(datetime.now(UTC))] * count,
            "action": [action] * count,
            "document": [number for number, _, _ in happened],
            "id": [id for _, id, _ in happened],
            "details": [json.dumps(details, ensure_ascii=False) for _, _, details in happened],
        }
        insert_rows(self.connection, events, columns)

    def events_of(self, id: str) -> list[RowMapping]:
        """Return the events of documents with this id, oldest first."""
        if id_fault(id) is not None:
            return []
        query = select(events).where(events.c.id == id).order_by(events.c.event)
        return list(self.connection.execute(query).mappings())

    def all_events(self, after: int, limit: int = TOGETHER) -> list[RowMapping]:
        """Return the next events of all documents."""
        query = select(events).where(events.c.event > after).order_by(events.c.event)
        return list(self.connection.execute(query.limit(limit)).mappings())
