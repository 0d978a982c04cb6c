"""Statements on the log: what happened to documents after they were added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from neardup.index.results import Event
from neardup.index.schema import events
from neardup.index.store.statements import Statements
from neardup.index.values import convert_stamp, find_id_fault, stamp

Action = Literal[
    "removed",
    "replaced",
    "renamed",
    "expired",
    "reconsidered",
    "kept",
    "confirmed",
    "undone",
    "recounted",
]

#: Events read at once.
_TOGETHER = 100

_LATER = events.alias()
#: Events, and whether it is the last one of its document.
_EVENTS = sa.select(
    events,
    ~sa.exists()
    .where(_LATER.c.id == events.c.id, _LATER.c.event > events.c.event)
    .label("is_last"),
)


class Events(Statements):
    """Statements on events."""

    def log(
        self,
        action: Action,
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
        self.insert(events, columns)

    def read_events(self, id: str) -> list[Event]:
        """Return the events of documents with this id, oldest first."""
        if find_id_fault(id) is not None:
            return []
        return self._read(_EVENTS.where(events.c.id == id).order_by(events.c.event))

    def find_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the ids, among these, that have events."""
        query = sa.select(events.c.id).where(self.is_one_of(events.c.id, "text")).distinct()
        return list(self.run(query.order_by(events.c.id), ids).scalars())

    def read_latest(self, actions: Sequence[str], before: int | None) -> list[Event]:
        """Return the latest events of some actions, before the one with a number."""
        query = _EVENTS.where(events.c.action.in_(actions))
        if before is not None:
            query = query.where(events.c.event < before)
        return self._read(query.order_by(events.c.event.desc()).limit(_TOGETHER))

    def _read(self, query: sa.Select[Any]) -> list[Event]:
        return [
            Event(
                row["event"],
                convert_stamp(row["at"]),
                row["action"],
                row["id"],
                json.loads(row["details"]),
                bool(row["is_last"]),
            )
            for row in self.connection.execute(query).mappings()
        ]
