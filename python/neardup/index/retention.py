"""Removing, renaming, expiring and reconsidering documents of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from neardup.base.messages import Message
from neardup.base.validation import bad, check_span, check_string
from neardup.exceptions import InputError
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.ingest.write import log_decisions, write
from neardup.index.results import Match, RemoveResult
from neardup.index.values import DROPPED, KEPT, STATES, check_id, check_time, stamp, subtract_span
from neardup.readers.batch import show

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: Documents that are removed in one transaction, and decided together, which needs their texts.
_TOGETHER, _WITH_TEXTS = 500, 100

#: The most documents that a result lists.
_LISTED = 10_000

#: Documents, in order, each with the document that it repeats; None if it is kept.
NewDecisions = list[tuple[str, Match | None]]


class Retention:
    """The methods of `Index` by which documents leave it, or are decided again."""

    _engine: Engine

    def remove(self, id: str) -> RemoveResult:
        """Remove a document, and decide those that were dropped for it as if they were added now.

        Parameters
        ----------
        id : str

        Returns
        -------
        RemoveResult

        Raises
        ------
        InputError
            If there is no such document.
        """
        id = check_string(id, "id")
        with self._engine.writing() as session:
            row = session.documents.get(id)
            decided = take_out(self._engine, session, [row], "removed")
        return self._finish_removal(1, decided)

    def rename(self, old: str, new: str) -> None:
        """Change the id of a document.

        Its events and the documents that were dropped for it follow. :meth:`explain` of the old id
        shows the new one.

        Parameters
        ----------
        old : str
        new : str
            An id that no document has.

        Raises
        ------
        InputError
            If there is no document with the old id, or one with the new id.
        """
        old, new = check_string(old, "old"), check_id(new, "new")
        with self._engine.writing() as session:
            row = session.documents.get(old)
            if session.documents.find_by_ids([new]):
                raise InputError(
                    Message(
                        "{location}: '{id}' already belongs to a document. Choose another id, or "
                        "remove that document first.",
                        code="id_taken",
                        location=self._engine.location,
                        id=show(new),
                    )
                )
            session.documents.rename(row["number"], old, new)
            # Under the old id, so that the last decision stays the last event of the document.
            session.events.log("renamed", [(row["number"], old, {"to": new})])

    def expire(
        self, *, before: datetime | str | None = None, older_than: timedelta | str | None = None
    ) -> RemoveResult:
        """Remove all documents that arrived before a moment.

        Later ones that were dropped for them are decided as if they were added now.

        Parameters
        ----------
        before : datetime, str or None, default=None
            The moment, exclusive.
        older_than : timedelta, str or None, default=None
            A time span before now, such as ``90d``. Give exactly one of the two.

        Returns
        -------
        RemoveResult
        """
        if before is None and older_than is None:
            raise bad("before", "given, unless 'older_than' is", before)
        if before is not None and older_than is not None:
            raise bad("before", "left out if 'older_than' is given", before)
        if before is not None:
            until = stamp(check_time(before, "before"))
        else:
            until = subtract_span(stamp(datetime.now(UTC)), check_span(older_than, "older_than"))
        removed = 0
        decided: NewDecisions = []
        while True:
            with self._engine.writing() as session:
                first = session.documents.find_expired(until, _TOGETHER)
                if not first:
                    break
                # Those that were dropped for one of them, and expire too, go in one transaction.
                numbers = [row["number"] for row in first]
                repeated = session.documents.find_dropped(numbers, before=until)
                rows = {row["number"]: row for row in [*first, *repeated]}
                decided += take_out(self._engine, session, list(rows.values()), "expired")
                removed += len(rows)
        # What one transaction decided, a later one may have decided again.
        return self._finish_removal(removed, list(dict(decided).items()))

    def _finish_removal(self, count: int, decided: NewDecisions) -> RemoveResult:
        log_decisions(self._engine.location, decided)
        return RemoveResult(count, tuple(decided[:_LISTED]), len(decided))

    def reconsider(self, ids: Sequence[str] | None = None) -> list[tuple[str, Match | None]]:
        """Decide dropped documents again, with the current background statistics.

        Parameters
        ----------
        ids : sequence of str or None, default=None
            Ids of kept or unknown documents are ignored. None means all dropped documents.

        Returns
        -------
        list of (str, Match or None)
            In the order of arrival. Each is decided as if it were added now; None means that
            it is kept.
        """
        if ids is not None:
            if isinstance(ids, str) or not isinstance(ids, Sequence):
                raise bad("ids", "a list of ids or None", ids)
            ids = [check_string(id, "ids") for id in ids]
        decided: NewDecisions = []
        with self._engine.reading() as session:
            numbers = session.documents.list_dropped(ids)
        for begin in range(0, len(numbers), _WITH_TEXTS):
            with self._engine.writing() as session:
                pairs = _decide(self._engine, session, numbers[begin : begin + _WITH_TEXTS])
                _log(session, pairs, [{}] * len(pairs))
            log_decisions(self._engine.location, pairs)
            decided += pairs
        return decided


def decide_again(engine: Engine, session: Session, id: str, details: dict[str, str]) -> None:
    """Decide a document that a person kept as if it were added now, and those dropped for it."""
    row = session.documents.get(id)
    _unfile(engine, session, [row])
    others = [dropped["number"] for dropped in session.documents.find_dropped([row["number"]])]
    session.documents.set_dropped(row["number"])
    session.statistics.count({"kept": -1, "dropped": 1})
    _decide(engine, session, [row["number"]])
    session.events.log("undone", [(None, id, details)])
    reason = {"repeated": id, "which": "undone"}
    _log(session, _decide(engine, session, others), [reason] * len(others))


def take_out(
    engine: Engine,
    session: Session,
    rows: Sequence[RowMapping],
    action: Literal["removed", "replaced", "expired"],
) -> NewDecisions:
    """Remove documents, and decide those dropped for them again, in an open transaction."""
    kept = [row for row in rows if row["state"] == KEPT]
    ids = {row["number"]: row["id"] for row in rows}
    _unfile(engine, session, kept)
    others = {
        row["number"]: row["kept_number"]
        for row in session.documents.find_dropped([row["number"] for row in kept])
    }
    session.documents.delete(list(ids))
    if action != "expired":
        session.events.log(action, [(number, id, {}) for number, id in ids.items()])
    else:
        session.events.log(action, [(None, None, {"documents": len(rows)})])
        # What was decided about an id is not about a later document with this id.
        known = session.events.find_ids(list(ids.values()))
        session.events.log(action, [(None, id, {}) for id in known])
    states = [row["state"] for row in rows]
    session.statistics.count({name: -states.count(state) for state, name in enumerate(STATES)})
    again = [number for number in others if number not in ids]
    decided = _decide(engine, session, again)
    reasons = [{"repeated": ids[others[number]], "which": action} for number in again]
    _log(session, decided, reasons)
    return decided


def _decide(engine: Engine, session: Session, numbers: Sequence[int]) -> NewDecisions:
    """Decide the dropped ones of some documents as if they were added now, in order."""
    decided: NewDecisions = []
    for begin in range(0, len(numbers), _WITH_TEXTS):
        rows = session.documents.read_with_texts(numbers[begin : begin + _WITH_TEXTS], DROPPED)
        batch = restore_batch(engine, session, rows)
        session.documents.delete([row["number"] for row in rows])
        counters = session.statistics.read_counters()
        decider, first = engine.get_decider(session, counters["background"]), counters["next"]
        verdicts = decider.decide(session, batch.corpus, batch.ids, range(len(rows)), first)
        write(session, batch, range(len(rows)), counters, verdicts)
        session.statistics.count({"dropped": -len(rows)})
        decided += zip(batch.ids, verdicts.matches, strict=True)
    return decided


def _log(session: Session, decided: NewDecisions, reasons: Sequence[Mapping[str, str]]) -> None:
    """Log that documents were decided again, each with the reason."""
    happened: list[tuple[None, str, dict[str, Any]]] = [
        (None, id, dict(reason) if match is None else {**reason, "repeats": match.id})
        for (id, match), reason in zip(decided, reasons, strict=True)
    ]
    session.events.log("reconsidered", happened)


def _unfile(engine: Engine, session: Session, kept: Sequence[RowMapping]) -> None:
    """Delete the keys of kept documents."""
    decider = engine.get_decider(session)
    if kept and decider.key_scheme.has_keys():
        # All keys that they may be indexed by: which keys were too frequent is not recorded.
        pairs = zip(kept, decider.list_keys(engine.restore(kept)), strict=True)
        session.postings.delete([(key, row["number"]) for row, keys in pairs for key in keys])


def restore_batch(engine: Engine, session: Session, rows: Sequence[RowMapping]) -> IncomingBatch:
    """Return stored documents as a batch to add, with their stored sketches."""
    batch = IncomingBatch(
        engine,
        ids=[row["id"] for row in rows],
        texts=pa.array([session.texts.read(row) for row in rows], pa.large_string()),
        units=None,
        titles=pa.array([row["title"] for row in rows], pa.large_string()),
        times=[row["at"] for row in rows],
        sources=[row["source"] for row in rows],
        extras=[row["extra"] for row in rows],
    )
    batch.corpus = engine.restore(rows, batch.texts)
    batch.packed = [row["text"] for row in rows]
    return batch
