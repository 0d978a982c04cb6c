"""Decisions of people about documents: kept whatever they repeat, confirmed, undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.base.validation import check_string, check_whole
from neardup.exceptions import InputError
from neardup.index.ingest.write import write
from neardup.index.results import Event
from neardup.index.retention import decide_again, restore_batch
from neardup.index.values import DROPPED, KEPT, MAX_NUMBER
from neardup.readers.batch import show
from neardup.recipe.text_inputs import checked_text

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: Actions of a person, each of which can be undone.
BY_HAND = ("kept", "confirmed", "undone")


class Decisions:
    """The methods of `Index` by which people decide, and what they decided."""

    _engine: Engine

    def decisions(self, *, before: int | None = None) -> Iterator[Event]:
        """Yield what :meth:`keep`, :meth:`confirm` and :meth:`undo` did, the latest first.

        Parameters
        ----------
        before : int or None, default=None
            Only events before the one with this `number`.

        Yields
        ------
        Event
        """
        if before is not None:
            before = check_whole(before, "before", 1, MAX_NUMBER)
        return self._iterate_decisions(before)

    def _iterate_decisions(self, before: int | None) -> Iterator[Event]:
        while True:
            with self._engine.reading() as session:
                events = session.events.read_latest(BY_HAND, before)
            if not events:
                return
            before = events[-1].number
            yield from events

    def keep(self, id: str, *, by: str | None = None) -> None:
        """Keep a dropped document, whatever it repeats.

        This reverses the decision: from now on others may be dropped for this document.
        :meth:`explain` shows the event, and :meth:`undo` undoes it.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.

        Raises
        ------
        InputError
            If there is no such document, or it is kept already.
        """
        id, details = check_string(id, "id"), _make_details(by)
        with self._engine.writing() as session:
            _keep(self._engine, session, id, details)

    def confirm(self, id: str, *, by: str | None = None) -> None:
        """Log that a removal is right; see :meth:`removals`.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.

        Raises
        ------
        InputError
            If there is no such document, or it is not dropped.
        """
        id, details = check_string(id, "id"), _make_details(by)
        with self._engine.writing() as session:
            _confirm(session, id, details)

    def undo(self, id: str, *, by: str | None = None, event: int | None = None) -> None:
        """Undo the last :meth:`keep`, :meth:`confirm` or :meth:`undo` of a document.

        A document that was kept is decided as if it were added now. Then the documents that were
        dropped for it are decided, in the same transaction.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.
        event : int or None, default=None
            The `number` of the decision, such as one of :meth:`decisions`; None means the last
            one.

        Raises
        ------
        InputError
            If there is no such decision, or something else has happened to the document since.
        """
        if event is not None:
            event = check_whole(event, "event", 1, MAX_NUMBER)
        id, details = check_string(id, "id"), _make_details(by)
        # One transaction: between two, another editor may decide.
        with self._engine.writing() as session:
            events = session.events.read_events(id)
            last = events[-1] if events else None
            if last is None or last.action not in BY_HAND or event not in (None, last.number):
                raise InputError(
                    Message(
                        "{location}: there is no decision about the document '{id}' that can be "
                        "undone.",
                        location=self._engine.location,
                        id=show(id),
                    )
                )
            again = last.details.get("what") if last.action == "undone" else None
            undone = {"what": last.action, **details}
            if again == "kept":
                _keep(self._engine, session, id, details)
            elif again == "confirmed":
                _confirm(session, id, details)
            elif last.action == "kept":
                decide_again(self._engine, session, id, undone)
            else:
                session.events.log("undone", [(None, id, undone)])


def _keep(engine: Engine, session: Session, id: str, details: dict[str, str]) -> None:
    """Keep a dropped document, in an open transaction."""
    row = session.documents.get(id)
    if row["state"] == KEPT:
        raise InputError(
            Message(
                "{location}: the document '{id}' is kept already.",
                location=engine.location,
                id=show(id),
            )
        )
    repeats = session.documents.read_matches([row], engine.rule.measure)[row["number"]]
    assert repeats is not None, "a dropped document repeats another"
    batch = restore_batch(
        engine, session, session.documents.read_with_texts([row["number"]], DROPPED)
    )
    counters = session.statistics.read_counters()
    verdicts = engine.get_decider(session, counters["background"]).keep(
        batch.corpus, counters["next"]
    )
    session.documents.delete([row["number"]])
    write(session, batch, [0], counters, verdicts)
    session.statistics.count({"dropped": -1})
    session.events.log("kept", [(None, id, {"repeats": repeats.id, **details})])


def _confirm(session: Session, id: str, details: dict[str, str]) -> None:
    if session.documents.get(id)["state"] != DROPPED:
        raise InputError(
            Message(
                "{location}: the document '{id}' is not dropped, so there is nothing to confirm.",
                location=session.location,
                id=show(id),
            )
        )
    session.events.log("confirmed", [(None, id, details)])


def _make_details(by: str | None) -> dict[str, str]:
    """Return the entry of the log for a person's decision."""
    return {} if by is None else {"by": checked_text(check_string(by, "by"), "by")}
