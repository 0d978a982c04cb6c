"""A new index of what can be read of a damaged one: its rows are restored as from a dump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func, select
from sqlalchemy.exc import DatabaseError

from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError
from neardup.index.backends.failures import Moment, explained
from neardup.index.decide import Decider
from neardup.index.dump import restore, settings_rows
from neardup.index.engine import Engine
from neardup.index.integrity import Examined, examine_texts, is_object, stored_background
from neardup.index.schema import (
    background,
    counters,
    documents,
    documents_with_texts,
    events,
    missing_parts,
)
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, document_fault, sound_event
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, FREED, KEPT, SIMILAR, STATES

#: Documents read at once, with their texts.
_TOGETHER = 200

#: Columns without which a document is the same.
_OPTIONAL = ("source", "title", "extra")

_DECISION = ("kept_number", "similarity", "distance", "reason")


def rebuild(engine: Engine, location: str | Path, progress: Progress) -> list[str]:
    """Create an index of what can be read; return a line for each loss."""
    with engine.reading(check_identity=False) as session:
        for line in missing_parts(session.connection):
            if line.template != "index {index}: is missing":
                values = {"location": engine.location, "damage": line}
                raise IndexFormatError(
                    Message(
                        "{location}: {damage}, so it cannot be read. Restore a backup.", **values
                    )
                )
        rebuilding = _Rebuilding(engine, session)
        progress.stage("rebuild", None)
        restore(location, settings_rows(session), rebuilding.rows(), progress)
    return list(rebuilding.lost)


class _Rebuilding:
    """What has been read of a damaged index, and what was lost."""

    def __init__(self, engine: Engine, session: Session) -> None:
        self._engine = engine
        self._session = session
        version, known, _ = stored_background(session)
        query = select(background).where(background.c.version == version)
        self._background = None if known is None else (self._read(query) or [None])[0]
        self._decider = Decider(engine.settings, known)
        #: The counters of the damaged index that can be read.
        self._counted: dict[str, int] = {
            row["name"]: row["value"]
            for row in self._read(select(counters)) or ()
            if row["name"] in (*COUNTERS, UNLISTED)
            and counter_fault(row["name"], row["value"]) is None
        }
        self._kept: set[int] = set()
        self._states: Counter[int] = Counter()
        self._last = 0
        #: One message for each loss.
        self.lost: list[Message] = []

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the rows of the new index, each with its kind, as a dump has them."""
        has_keys = self._decider.key_scheme.has_keys()
        if self._background is not None:
            yield "background", dict(self._background)
        for rows in self._pages(documents_with_texts, documents, "document"):
            batch = [Examined(dict(row)) for row in rows]
            examine_texts(self._engine, self._session, batch)
            batch = [document for document in batch if self._restorable(document)]
            for document in batch:
                self._decide(document.row)
            kept = [document.row for document in batch if document.row["state"] == KEPT]
            if kept and has_keys:
                yield "keys", self._keys(kept)
            for document in batch:
                yield "document", {**document.row, "text": document.text}
        for rows in self._pages(select(events), events, "event"):
            for row in rows:
                try:
                    event = dict(sound_event(row, self._session.location)[0])
                except IndexFormatError:
                    self._lose(N_("event {number}: cannot be read"), number=row["event"])
                    continue
                del event["event"]
                yield "event", event
        yield "counters", self._counters()

    def _lose(self, template: str, **values: Any) -> None:
        self.lost.append(Message(template, **values))

    def _pages(self, query: Any, table: Table, kind: str) -> Iterator[list[Any]]:
        """Yield the rows of a table in order; of damaged pages those that can be read."""
        (number,) = table.primary_key.columns
        last = self._read(select(func.max(number).label("last")))
        end = self._counted.get("next", 0) if last is None else last[0]["last"] or 0
        after = 0
        while after < end:
            rows = self._read(query.where(number > after).order_by(number).limit(_TOGETHER))
            if rows is not None:
                after = rows[-1][number.name] if rows else end
                yield rows
                continue
            for position in range(after + 1, min(after + _TOGETHER, end) + 1):
                single = self._read(query.where(number == position))
                if single is None:
                    self._lose(N_("{table} {number}: cannot be read"), table=kind, number=position)
                else:
                    yield single
            after += _TOGETHER

    def _read(self, query: Any) -> list[Any] | None:
        """Return the rows of a query; None if its pages are damaged."""
        try:
            return list(self._session.connection.execute(query).mappings())
        except DatabaseError as error:
            meant = explained(error, self._session.location, Moment.READING)
            if not isinstance(meant, IndexFormatError):
                raise
            return None

    def _restorable(self, document: Examined) -> bool:
        """Complete the row of a document from its text; return whether it can be stored."""
        row = document.row
        fault = self._lost_content(document)
        row.update(document.made)
        for name in _OPTIONAL:
            if not isinstance(row[name], str | None) or (
                name == "extra" and not is_object(row[name])
            ):
                row[name] = None
                what = Message("its '{field}' is lost", field=name)
                self._lose(N_("document {number}: {what}"), number=row["number"], what=what)
        wrong = document_fault({**row, **dict.fromkeys(_DECISION), "state": KEPT})
        if fault is None and wrong is not None:
            fault = Message("its '{field}' must be {expected}", field=wrong[0], expected=wrong[1])
        if fault is not None:
            id = f"{row['id']!r:.60}"
            self._lose(
                N_("document {number} ({id}): is left out: {reason}. Add it again"),
                number=row["number"],
                id=id,
                reason=fault,
            )
        return fault is None

    def _lost_content(self, document: Examined) -> Message | None:
        """Return what is wrong with the text of a document, or with its sketch if it has none."""
        if document.has_other_text:
            return Message("its text differs from the one that was added")
        if self._engine.settings.store == "text":
            return document.faults[0] if document.faults else None
        try:
            self._engine.restored([document.row])
        except (IndexFormatError, TypeError, ValueError, OverflowError):
            return Message("its 'sketch' is not one of the recipe")
        return None

    def _decide(self, row: dict[str, Any]) -> None:
        """Set the state of a document by its decision; it is freed if that is lost."""
        number, was = row["number"], row["state"]
        if all(row[name] is None for name in ("kept_number", "similarity", "reason")):
            row.update(state=KEPT, distance=None)
            self._kept.add(number)
        else:
            row["state"] = DROPPED
            if document_fault(row) is not None or row["kept_number"] >= number:
                # No document has the number 0.
                row.update(kept_number=0, similarity=0.0, distance=None, reason=SIMILAR)
            if row["kept_number"] not in self._kept:
                row["state"] = FREED
                if was != FREED:
                    what = Message(
                        "what it repeated is lost; decide it again with neardup index reconsider"
                    )
                    self._lose(N_("document {number}: {what}"), number=number, what=what)
        self._states[row["state"]] += 1
        self._last = number

    def _keys(self, rows: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
        numbers = [row["number"] for row in rows]
        return self._decider.postings_of(self._engine.restored(rows), numbers)

    def _counters(self) -> dict[str, int]:
        values = {**dict.fromkeys(COUNTERS, 0), **self._counted}
        values |= {name: self._states[state] for state, name in enumerate(STATES)}
        values["next"] = max(values["next"], self._last + 1)
        values["arrived"] = max(self._counted.get("arrived", self._last), self._states.total())
        if self._background is not None:
            values["background"] = self._background["version"]
            return values
        source = self._engine.settings.background
        if source == "given":
            self._lose(
                N_(
                    "background: is lost, since it was given. Restore a backup, or export "
                    "the kept documents and add them to a new index"
                )
            )
        elif source == "own" and self._last and (values["background"] or values["counted_at"]):
            self._lose(N_("background: is lost; the next addition counts it again"))
        values["background"] = values["counted_at"] = 0
        return values
