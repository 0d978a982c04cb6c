"""What is damaged in an index, made again from the texts.

Texts, ids and times cannot be made again. Sketches, keys and counters can; so can states, from
what a document repeats. It is done some documents a transaction: a repair that is killed is
begun again, and finds the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from neardup.collect import Progress
from neardup.exceptions import IndexFormatError
from neardup.index.background import recount
from neardup.index.bulk import values_of, values_table
from neardup.index.decide import Decider
from neardup.index.integrity import Document, Examination, stored_background
from neardup.index.rows import COUNTERS, counter_fault, extra_of, is_stamp, sound_event
from neardup.index.schema import (
    DROPPED,
    FREED,
    KEPT,
    METADATA,
    STATES,
    background,
    counters,
    documents,
    events,
    keys,
    meta,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store import IDENTITY, RECENT, Session, restore

if TYPE_CHECKING:
    from neardup.index.handle import Handle

__all__ = ["repair"]

#: Documents whose keys are written again in one transaction.
_TOGETHER = 1000


def repair(handle: Handle, *, progress: Progress) -> list[str]:
    """Repair what can be repaired; return what was done and what is lost, a line each.

    Raises
    ------
    IndexFormatError
        If pages or tables are damaged: then no statement can be relied on.
    """
    wrong = handle.database.check()
    if wrong:
        raise IndexFormatError(
            f"{handle.location}: its pages are damaged ({wrong[0]}), which cannot be repaired here."
            " Restore a backup or, with SQLite's own program, rescue what can be read: sqlite3 OLD"
            " .recover | sqlite3 NEW"
        )
    done = _restore_indexes(handle, progress)
    refiled: list[int] = []
    after = 0
    progress.stage("repair", None)
    while True:
        # Without a look at the counters: they may be what is damaged.
        with handle.database.writing() as connection:
            examined = Examination(handle, connection, full=True, progress=progress)
            some = examined.page(after)
            if not some:
                break
            one_by_one = _Repair(handle, Session(connection, handle.location))
            for document in some:
                done += one_by_one.mend(document)
            refiled += one_by_one.refiled
        progress.advance(len(some))
        after = some[-1].number
    refiled += _with_other_keys(handle, progress)
    done += _tidy(handle, progress)
    done += _file_again(handle, sorted(set(refiled)))
    return done + _mend_background(handle)


def _restore_indexes(handle: Handle, progress: Progress) -> list[str]:
    done = []
    with handle.database.writing() as connection:
        examined = Examination(handle, connection, full=True, progress=progress)
        missing = examined.missing_tables()
        for line in missing:
            if not line.startswith("index"):
                raise IndexFormatError(
                    f"{handle.location}: {line}, which cannot be repaired. Restore a backup."
                )
        for table in METADATA.sorted_tables:
            for index in table.indexes:
                if f"index {index.name}: is missing" in missing:
                    index.create(connection)
                    done.append(f"index {index.name}: made again")
    return done


class _Repair:
    """The documents of one transaction."""

    def __init__(self, handle: Handle, session: Session) -> None:
        self._handle = handle
        self._session = session
        #: Kept documents whose keys are to be written again.
        self.refiled: list[int] = []

    def mend(self, document: Document) -> list[str]:
        """Repair a document, and return what was done, as lines."""
        has_text = self._handle.settings.store == "text"
        row, number = document.row, document.number
        if has_text and (document.text is None or document.text_is_other):
            return [self._remove(document, "its text is lost")]
        changes = self._made_again(document)
        if changes is None:
            return [self._remove(document, "its sketch is lost")]
        lines = [f"its '{name}' is made again" for name in changes]
        for name, value, what in self._replaced(row):
            changes[name] = value
            lines.append(what)
        state = self._state({**row, **changes})
        for name, value in state.items():
            if row[name] != value or type(row[name]) is not type(value):
                changes[name] = value
        if "state" in changes:
            lines.append(f"is {STATES[changes['state']]} now")
        elif set(changes) & set(state):
            lines.append("what it repeated is corrected")
        if changes:
            statement = update(documents).where(documents.c.number == number)
            self._session.connection.execute(statement.values(**changes))
        rewritten = {"sketch", "features", "state"} & set(changes)
        if state["state"] == KEPT and (document.has_wrong_keys or rewritten):
            self.refiled.append(number)
            if not rewritten:
                lines.append("its keys are made again")
        return [f"document {number}: {line}" for line in lines]

    def _made_again(self, document: Document) -> dict[str, Any] | None:
        """Return what the text says otherwise than the row; None if there is nothing to go by."""
        row = document.row
        if document.made is not None:
            made = zip(("identity", "features", "sketch"), document.made, strict=True)
            return {name: value for name, value in made if row[name] != value}
        corpus = self._handle.origin.emptied(keeps_texts=False)
        try:
            restore(corpus, [row], self._handle.location)  # type: ignore[list-item]
        except (IndexFormatError, TypeError, ValueError, OverflowError):
            return None
        return {}

    def _replaced(self, row: dict[str, Any]) -> list[tuple[str, Any, str]]:
        """Return columns that cannot be made again, with what takes their place."""
        found: list[tuple[str, Any, str]] = []
        if not isinstance(row["id"], str) or not row["id"]:
            found.append(("id", f"recovered-{row['number']}", "its id is lost, and another given"))
        if not is_stamp(row["at"]):
            before = select(documents.c.at).where(documents.c.number < row["number"])
            query = before.order_by(documents.c.number.desc()).limit(1)
            at = self._session.connection.execute(query).scalar_one_or_none()
            at = at if is_stamp(at) else 0
            found.append(("at", at, "its time is lost; that of the document before is taken"))
        for name in ("source", "title"):
            if row[name] is not None and not isinstance(row[name], str):
                found.append((name, None, f"its '{name}' is lost"))
        try:
            extra_of(row, self._handle.location)
        except IndexFormatError:
            found.append(("extra", None, "its 'extra' is lost"))
        return found

    def _state(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return state and decision as they must be, by what the document repeats."""
        kept, similarity, reason = row["kept_number"], row["similarity"], row["reason"]
        if kept is None and (row["state"] == KEPT or (similarity is None and reason is None)):
            nothing = dict.fromkeys(("kept_number", "similarity", "distance", "reason"))
            return {"state": KEPT, **nothing}
        keeper = None
        if isinstance(kept, int):
            query = select(documents.c.state).where(documents.c.number == kept)
            keeper = self._session.connection.execute(query).scalar_one_or_none()
        is_decided = isinstance(similarity, float | int) and 0 <= similarity <= 1
        is_decided = is_decided and reason in (0, 1)
        distance = row["distance"]
        is_decided = is_decided and (distance is None or isinstance(distance, int))
        if is_decided and keeper == KEPT and kept < row["number"]:
            return {"state": DROPPED}
        # Nothing has the number 0.
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

    def _remove(self, document: Document, why: str) -> str:
        number, id = document.number, document.row["id"]
        self._session.delete([number])
        known = id if isinstance(id, str) else None
        happened = [(number, known, {"which": "damaged"})]
        self._session.log("removed", datetime.now(UTC), happened)
        return f"document {number} ({id!r:.60}): is removed, since {why}. Add it again"


def _with_other_keys(handle: Handle, progress: Progress) -> list[int]:
    """Return the numbers of documents that have keys which are not of their sketches."""
    with handle.database.reading() as connection:
        examined = Examination(handle, connection, full=True, progress=progress)
        return [
            document.number
            for some in examined.documents()
            for document in some
            if document.has_wrong_keys and document.row["state"] == KEPT
        ]


def _tidy(handle: Handle, progress: Progress) -> list[str]:
    """Remove what belongs to no document, and count again."""
    done = []
    with handle.database.writing() as connection:
        examined = Examination(handle, connection, full=True, progress=progress)
        strays = list(examined.strays())
        every = select(documents.c.number)
        for table in (texts, passages):
            connection.execute(delete(table).where(table.c.number.not_in(every)))
        kept = every.where(documents.c.state == KEPT)
        for table in (keys, recent_keys):
            connection.execute(delete(table).where(table.c.number.not_in(kept)))
        done += [f"{line}: removed" for line in strays]
        for row in connection.execute(select(events)).mappings().all():
            try:
                sound_event(row, handle.location)
            except IndexFormatError:
                connection.execute(delete(events).where(events.c.event == row["event"]))
                done.append(f"event {row['event']}: removed")
        query = select(documents.c.state, func.count()).group_by(documents.c.state)
        states = Counter({row[0]: row[1] for row in connection.execute(query)})
        last = connection.execute(select(func.max(documents.c.number))).scalar_one() or 0
        wrong = list(examined.wrong_counters(states, last))
        if wrong:
            _count_again(connection, states, last)
            done += [f"{line}: corrected" for line in wrong if not line.startswith("background")]
    return done


def _count_again(connection: Any, states: Counter[int], last: int) -> None:
    found = {row.name: row.value for row in connection.execute(select(counters))}
    known = {
        name: found[name]
        for name in COUNTERS
        if name in found and counter_fault(name, found[name]) is None
    }
    version = connection.execute(select(func.max(background.c.version))).scalar_one() or 0
    values: dict[str, int] = {name: states[at] for at, name in enumerate(STATES)}
    values["next"] = max(known.get("next", 1), last + 1)
    values["arrived"] = max(known.get("arrived", last), states.total())
    values["counted_at"] = min(known.get("counted_at", 0), values["arrived"])
    values["background"] = version
    values["similar"], values["bursts"] = known.get("similar", 0), known.get("bursts", 0)
    recent = connection.execute(select(func.count()).select_from(recent_keys)).scalar_one()
    values[RECENT] = recent
    identity = found.get(IDENTITY)
    about = {row.name: row.value for row in connection.execute(select(meta))}
    if str(about.get(IDENTITY, "")).isdecimal():
        identity = int(about[IDENTITY])
    if isinstance(identity, int):
        values[IDENTITY] = identity
    for name, value in values.items():
        connection.execute(delete(counters).where(counters.c.name == name))
        connection.execute(counters.insert().values(name=name, value=value))


def _file_again(handle: Handle, numbers: Sequence[int]) -> list[str]:
    """Write the keys of kept documents again."""
    for begin in range(0, len(numbers), _TOGETHER):
        with handle.database.writing() as connection:
            session = Session(connection, handle.location)
            session.counters()
            dialect = connection.dialect.name
            some = numbers[begin : begin + _TOGETHER]
            chosen = select(values_table(dialect).c.value)
            for table in (keys, recent_keys):
                statement = delete(table).where(table.c.number.in_(chosen))
                connection.execute(statement, values_of(dialect, some))
            rows = session.kept(some, with_texts=False)
            corpus = handle.origin.emptied(keeps_texts=False)
            restore(corpus, rows, handle.location)
            _, known, _ = stored_background(handle, connection)
            decider = Decider(handle.settings, background=known, like=None)
            if decider.filing.has_keys():
                entries = decider.entries(corpus)
                session.insert_entries(
                    {
                        "key": entries.keys,
                        "number": [rows[at]["number"] for at in entries.rows],
                        "share": entries.shares,
                    }
                )
    return [f"keys of {len(numbers):,} documents: made again"] if numbers else []


def _mend_background(handle: Handle) -> list[str]:
    with handle.database.writing() as connection:
        session = Session(connection, handle.location)
        version, known, fault = stored_background(handle, connection)
        counted_at = session.counters()["counted_at"]
        is_lost = fault is not None or (version == 0 and counted_at > 0)
        if handle.settings.background == "given":
            is_lost = known is None
        if not is_lost:
            return []
        if handle.settings.background == "given":
            return [
                "background: is lost, since it was given. Restore a backup, or export the kept"
                " documents and add them to a new index"
            ]
        recount(session, handle.settings, workers=handle.workers)
        return ["background: counted again"]
