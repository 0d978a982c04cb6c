"""Repair of a damaged index from its texts.

Texts, ids and times cannot be rebuilt. Sketches, keys and counters can, and so can states, from
the stored decisions. The repair runs in many small transactions: if it is killed, the next call
starts again and repairs what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError
from neardup.index.backends.acknowledged import NEEDS_LOG
from neardup.index.background import recount
from neardup.index.integrity import Document, Examination, stored_background
from neardup.index.schema import (
    METADATA,
    background,
    counters,
    documents,
    events,
    keys,
    missing_parts,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store.counters import FILED, IDENTITY, RECENT
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, extra_of, is_stamp
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, FREED, KEPT, STATES

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = ["repair"]

#: Documents whose keys are written again in one transaction.
_TOGETHER = 1000

#: Message for a document whose state was corrected, by the new state.
_STATE_NOW = {
    KEPT: "index.is_kept_now",
    DROPPED: "index.is_dropped_now",
    FREED: "index.is_freed_now",
}

#: Faults of the background statistics, which have a repair step of their own.
_OF_BACKGROUND = ("index.background_cannot_be_read", "index.background_is_missing")


def repair(engine: Engine, *, progress: Progress) -> list[str]:
    """Repair what can be repaired; return one line for each repair and each loss.

    Raises
    ------
    IndexFormatError
        If pages or tables are damaged: then no statement is reliable.
    """
    wrong = engine.database.check()
    if wrong:
        raise IndexFormatError(
            Message("index.pages_are_damaged", location=engine.location, reason=wrong[0])
        )
    one = _Repair(engine, progress)
    one.restore_indexes()
    one.mend_documents()
    one.find_wrong_keys()
    one.tidy()
    one.file_again()
    one.mend_background()
    return list(one.done)


class _Repair:
    """The steps of a repair; each uses one or more transactions."""

    def __init__(self, engine: Engine, progress: Progress) -> None:
        self._engine = engine
        self._progress = progress
        #: One message for each repair and each loss.
        self.done: list[Message] = []
        #: Kept documents whose keys must be written again.
        self._refiled: set[int] = set()

    @contextmanager
    def _examining(self, *, write: bool = True) -> Iterator[tuple[Session, Examination]]:
        # Without the check of the identity, which may itself be damaged.
        begin = self._engine.writing if write else self._engine.reading
        with begin(check_identity=False) as session:
            yield session, Examination(self._engine, session, full=True, progress=self._progress)

    def restore_indexes(self) -> None:
        """Create missing indexes of tables; raise if a table or column is missing."""
        with self._engine.writing(check_identity=False) as session:
            names = set()
            for line in missing_parts(session.connection):
                if line.code != "index.index_is_missing":
                    location = self._engine.location
                    raise IndexFormatError(
                        Message("index.cannot_be_repaired", location=location, damage=line)
                    )
                names.add(line.values["index"])
            for index in (index for table in METADATA.sorted_tables for index in table.indexes):
                if index.name in names:
                    index.create(session.connection)
                    self.done.append(Message("index.index_made_again", index=index.name))

    def mend_documents(self) -> None:
        """Repair documents one by one, several per transaction."""
        after = 0
        self._progress.stage("repair", None)
        while True:
            with self._examining() as (session, examined):
                some = examined.page(after)
                lines = [line for document in some for line in self._mend(session, document)]
            if not some:
                return
            self.done += lines
            self._progress.advance(len(some))
            after = some[-1].number

    def _mend(self, session: Session, document: Document) -> list[Message]:
        """Repair a document, and return a message for each change."""
        has_text = self._engine.settings.store == "text"
        row, number = document.row, document.number
        if has_text and (document.text is None or document.text_is_other):
            return [self._remove(session, document, "index.removed_text_is_lost")]
        changes = self._made_again(document)
        if changes is None:
            return [self._remove(session, document, "index.removed_sketch_is_lost")]
        lines = [Message("index.field_made_again", field=name) for name in changes]
        for name, value, what in self._replaced(session, row):
            changes[name] = value
            lines.append(what)
        state = _state_of(session, {**row, **changes})
        for name, value in state.items():
            if row[name] != value or type(row[name]) is not type(value):
                changes[name] = value
        if "state" in changes:
            lines.append(Message(_STATE_NOW[changes["state"]]))
        elif set(changes) & set(state):
            lines.append(Message("index.repeated_corrected"))
        if changes:
            statement = update(documents).where(documents.c.number == number)
            session.connection.execute(statement.values(**changes))
        rewritten = {"sketch", "features", "state"} & set(changes)
        if state["state"] == KEPT and (document.has_wrong_keys or rewritten):
            self._refiled.add(number)
            if not rewritten:
                lines.append(Message("index.keys_made_again"))
        return [Message("index.of_document", number=number, what=line) for line in lines]

    def _made_again(self, document: Document) -> dict[str, Any] | None:
        """Return corrected columns; None if neither text nor sketch can be used."""
        row = document.row
        if document.made is not None:
            return document.other_fields()
        try:
            self._engine.restored([row])
        except (IndexFormatError, TypeError, ValueError, OverflowError):
            return None
        return {}

    def _replaced(self, session: Session, row: dict[str, Any]) -> list[tuple[str, Any, Message]]:
        """Return columns that cannot be rebuilt, each with a replacement and a message."""
        found: list[tuple[str, Any, Message]] = []
        if not isinstance(row["id"], str) or not row["id"]:
            new_id = f"recovered-{row['number']}"
            found.append(("id", new_id, Message("index.id_replaced")))
        if not is_stamp(row["at"]):
            before = select(documents.c.at).where(documents.c.number < row["number"])
            query = before.order_by(documents.c.number.desc()).limit(1)
            at = session.connection.execute(query).scalar_one_or_none()
            at = at if is_stamp(at) else 0
            found.append(("at", at, Message("index.time_replaced")))
        for name in ("source", "title"):
            if row[name] is not None and not isinstance(row[name], str):
                found.append((name, None, Message("index.field_is_lost", field=name)))
        try:
            extra_of(row, self._engine.location)
        except IndexFormatError:
            found.append(("extra", None, Message("index.field_is_lost", field="extra")))
        return found

    def _remove(self, session: Session, document: Document, why: str) -> Message:
        number, id = document.number, document.row["id"]
        session.delete([number])
        known = id if isinstance(id, str) else None
        happened = [(number, known, {"which": "damaged"})]
        session.log("removed", happened)
        return Message(why, number=number, id=f"{id!r:.60}")

    def find_wrong_keys(self) -> None:
        """Find documents whose keys do not match their sketches; all if any key is missing."""
        with self._examining(write=False) as (session, examined):
            self._refiled.update(
                document.number
                for some in examined.documents()
                for document in some
                if document.has_wrong_keys and document.row["state"] == KEPT
            )
            filed, there = examined.key_count()
            if not examined.is_exact and isinstance(filed, int) and filed > there:
                kept = select(documents.c.number).where(documents.c.state == KEPT)
                self._refiled.update(session.connection.scalars(kept))

    def tidy(self) -> None:
        """Remove rows that belong to no document, and recompute the counters."""
        with self._examining() as (session, examined):
            connection = session.connection
            strays = list(examined.strays())
            every = select(documents.c.number)
            for table in (texts, passages):
                connection.execute(delete(table).where(table.c.number.not_in(every)))
            kept = every.where(documents.c.state == KEPT)
            for table in (keys, recent_keys):
                gone = connection.execute(delete(table).where(table.c.number.not_in(kept))).rowcount
                session.add_to_counters({FILED: -gone})
            self.done += [Message("index.damage_removed", damage=line) for line in strays]
            for line in examined.wrong_events():
                number = line.values["number"]
                connection.execute(delete(events).where(events.c.event == number))
                self.done.append(Message("index.event_removed", number=number))
            query = select(documents.c.state, func.count()).group_by(documents.c.state)
            states = Counter({row[0]: row[1] for row in connection.execute(query)})
            last = connection.scalar(select(func.max(documents.c.number))) or 0
            wrong = list(examined.wrong_counters(states, last))
            if wrong:
                _count_again(session, states, last)
            self.done += [
                Message("index.damage_corrected", damage=line)
                for line in wrong
                if line.code not in _OF_BACKGROUND
            ]

    def file_again(self) -> None:
        """Write the keys of kept documents again, and recount all keys."""
        numbers = sorted(self._refiled)
        for begin in range(0, len(numbers), _TOGETHER):
            with self._examining() as (session, examined):
                session.counters()
                some = numbers[begin : begin + _TOGETHER]
                session.delete_postings_of(some)
                rows = session.kept(some, with_texts=False)
                if examined.decider.key_scheme.has_keys():
                    kept = [row["number"] for row in rows]
                    corpus = self._engine.restored(rows)
                    session.add_postings(examined.decider.postings_of(corpus, kept))
        if numbers:
            count = len(numbers)
            self.done.append(Message("index.keys_of_documents_made_again", documents=count))
        with self._examining() as (session, examined):
            filed, there = examined.key_count()
            if filed != there:
                _set_counter(session, FILED, there)
                self.done.append(Message("index.keys_counted_again"))

    def mend_background(self) -> None:
        """Recompute the background statistics if they are lost; given ones cannot be recomputed."""
        settings = self._engine.settings
        with self._engine.writing(check_identity=False) as session:
            version, known, fault = stored_background(session)
            counted_at = session.counters()["counted_at"]
            if settings.background == "given":
                if known is None:
                    self.done.append(Message("index.background_is_lost"))
            elif fault is not None or (version == 0 and counted_at > 0):
                recount(session, settings, workers=self._engine.workers)
                self.done.append(Message("index.background_counted_again"))


def _state_of(session: Session, row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of state and decision, corrected by the document it repeats."""
    kept, similarity, reason = row["kept_number"], row["similarity"], row["reason"]
    if kept is None and (row["state"] == KEPT or (similarity is None and reason is None)):
        nothing = dict.fromkeys(("kept_number", "similarity", "distance", "reason"))
        return {"state": KEPT, **nothing}
    keeper = None
    if isinstance(kept, int):
        query = select(documents.c.state).where(documents.c.number == kept)
        keeper = session.connection.execute(query).scalar_one_or_none()
    is_decided = isinstance(similarity, float | int) and 0 <= similarity <= 1
    is_decided = is_decided and reason in (0, 1)
    distance = row["distance"]
    is_decided = is_decided and (distance is None or isinstance(distance, int))
    if is_decided and keeper == KEPT and kept < row["number"]:
        return {"state": DROPPED}
    # No document has the number 0.
    is_gone = isinstance(kept, int) and keeper is None and 0 <= kept < row["number"]
    gone = kept if is_gone else 0
    if is_decided:
        return {"state": FREED, "kept_number": gone}
    return {
        "state": FREED,
        "kept_number": gone,
        "similarity": 0.0,
        "distance": None,
        "reason": 1,
    }


def _count_again(session: Session, states: Counter[int], last: int) -> None:
    connection = session.connection
    found = {row.name: row.value for row in connection.execute(select(counters))}
    known = {
        name: found[name]
        for name in (*COUNTERS, UNLISTED)
        if name in found and counter_fault(name, found[name]) is None
    }
    version = connection.execute(select(func.max(background.c.version))).scalar_one() or 0
    values: dict[str, int] = {name: states[at] for at, name in enumerate(STATES)}
    values["next"] = max(known.get("next", 1), last + 1)
    values["arrived"] = max(known.get("arrived", last), states.total())
    values["counted_at"] = known.get("counted_at", 0)
    values["background"] = version
    values["similar"], values["bursts"] = known.get("similar", 0), known.get("bursts", 0)
    values[UNLISTED] = known.get(UNLISTED, 0)
    if NEEDS_LOG in found:
        values[NEEDS_LOG] = 0
    recent = connection.execute(select(func.count()).select_from(recent_keys)).scalar_one()
    values[RECENT] = recent
    identity = found.get(IDENTITY)
    about = session.meta()
    if str(about.get(IDENTITY, "")).isdecimal():
        identity = int(about[IDENTITY])
    if isinstance(identity, int):
        values[IDENTITY] = identity
    for name, value in values.items():
        _set_counter(session, name, value)


def _set_counter(session: Session, name: str, value: int) -> None:
    session.connection.execute(delete(counters).where(counters.c.name == name))
    session.connection.execute(counters.insert().values(name=name, value=value))
