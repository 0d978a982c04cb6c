"""Removing, expiring, keeping and reconsidering documents of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa
from sqlalchemy import RowMapping

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.index.engine import Engine
from neardup.index.ingest.incoming import Incoming
from neardup.index.ingest.transaction import log_decisions, write
from neardup.index.results import Match, Removed
from neardup.index.store.rows import unknown_document
from neardup.index.store.session import Session
from neardup.index.values import FREED, KEPT, STATES
from neardup.readers.batch import show

#: Documents per transaction: of a removal, and of a new decision, which needs their texts.
_TOGETHER, _WITH_TEXTS = 500, 100

#: The most ids that a result lists.
_LISTED = 10_000


def remove(engine: Engine, id: str) -> Removed:
    """Remove a document."""
    with engine.writing() as session:
        row = session.by_ids([id]).get(id)
        if row is None:
            raise unknown_document(engine.location, id)
        freed = _take_out(engine, session, [row], "removed")
    return _removed(1, freed)


def keep(engine: Engine, id: str, by: str | None = None) -> None:
    """Keep a dropped document, whatever it repeats."""
    with engine.writing() as session:
        keep_in(engine, session, id, {} if by is None else {"by": by})


def keep_in(engine: Engine, session: Session, id: str, details: dict[str, str]) -> None:
    """Keep a document that is not kept, in an open transaction."""
    row = session.by_ids([id]).get(id)
    if row is None:
        raise unknown_document(engine.location, id)
    if row["state"] == KEPT:
        raise InputError(
            Message(
                "{location}: the document '{id}' is kept already.",
                location=engine.location,
                id=show(id),
            )
        )
    repeats = session.matches([row], engine.rule.measure)[row["number"]]
    batch = _stored_batch(engine, session, session.not_kept([row["number"]]))
    counters = session.counters()
    verdicts = engine.decider(session, counters["background"]).keep(batch.corpus, counters["next"])
    session.delete([row["number"]])
    write(session, batch, [0], counters["next"], verdicts)
    was_freed = row["state"] == FREED
    session.add_to_counters({"freed": -was_freed, "dropped": was_freed - 1})
    about = {} if repeats is None else {"repeats": repeats.id}
    session.log("kept", [(None, id, {**about, **details})])


def decide_again(engine: Engine, session: Session, id: str, details: dict[str, str]) -> list[str]:
    """Decide a document that a person kept as if it were added now; return what this frees."""
    row = session.by_ids([id]).get(id)
    if row is None:
        raise unknown_document(engine.location, id)
    freed = _unfile(engine, session, [row])
    session.set_freed(row["number"])
    session.add_to_counters({"kept": -1, "freed": 1 + len(freed), "dropped": -len(freed)})
    _decide(engine, session, session.not_kept([row["number"]]))
    session.log("undone", [(None, id, details)])
    session.log("freed", [(number, freed_id, {"repeated": id}) for number, freed_id, _ in freed])
    return [freed_id for _, freed_id, _ in freed]


def reconsider(
    engine: Engine, ids: Sequence[str] | None, *, dropped: bool
) -> list[tuple[str, Match | None]]:
    """Decide documents again; without `ids` all freed ones, and on request all dropped ones."""
    decided: list[tuple[str, Match | None]] = []
    with engine.reading() as session:
        numbers = session.numbers_not_kept(ids, dropped=dropped)
    for begin in range(0, len(numbers), _WITH_TEXTS):
        with engine.writing() as session:
            # Leaves out documents that another process has decided or removed meanwhile.
            rows = session.not_kept(numbers[begin : begin + _WITH_TEXTS])
            pairs = _decide(engine, session, rows)
            happened: list[tuple[None, str, dict[str, Any]]] = [
                (None, id, {} if match is None else {"repeats": match.id}) for id, match in pairs
            ]
            session.log("reconsidered", happened)
        if pairs:
            log_decisions(engine.location, *zip(*pairs, strict=True))
        decided += pairs
    return decided


def _decide(
    engine: Engine, session: Session, rows: Sequence[RowMapping]
) -> list[tuple[str, Match | None]]:
    """Decide documents that are not kept, with texts, as if they were added now."""
    batch = _stored_batch(engine, session, rows)
    session.delete([row["number"] for row in rows])
    counters = session.counters()
    decider, first = engine.decider(session, counters["background"]), counters["next"]
    verdicts = decider.decide(session, batch.corpus, batch.ids, range(len(rows)), first)
    write(session, batch, range(len(rows)), first, verdicts)
    freed = sum(row["state"] == FREED for row in rows)
    session.add_to_counters({"freed": -freed, "dropped": freed - len(rows)})
    return list(zip(batch.ids, verdicts.matches, strict=True))


def expire(engine: Engine, until: int) -> Removed:
    """Remove all documents that arrived before a stamp."""
    removed = 0
    freed: list[str] = []
    while True:
        with engine.writing() as session:
            rows = session.arrived_before(until, _TOGETHER)
            if not rows:
                break
            freed += _take_out(engine, session, rows, "expired")
            removed += len(rows)
    if freed:
        # A document freed by an earlier transaction may have expired in a later one.
        with engine.reading() as session:
            present = {id for id, row in session.by_ids(freed).items() if row["state"] == FREED}
        freed = [id for id in freed if id in present]
    return _removed(removed, freed)


def _removed(count: int, freed: Sequence[str]) -> Removed:
    return Removed(count, tuple(freed[:_LISTED]), len(freed))


def _take_out(
    engine: Engine,
    session: Session,
    rows: Sequence[RowMapping],
    action: Literal["removed", "expired"],
) -> list[str]:
    """Remove documents, and return the ids of the documents that this frees."""
    kept = [row for row in rows if row["state"] == KEPT]
    ids = {row["number"]: row["id"] for row in rows}
    freed = [row for row in _unfile(engine, session, kept) if row[0] not in ids]
    session.delete(list(ids))
    if action == "removed":
        session.log(action, [(number, id, {}) for number, id in ids.items()])
    else:
        session.log(action, [(None, None, {"documents": len(rows)})])
        # What was decided about an id is not about a later document with this id.
        session.log(action, [(None, id, {}) for id in session.with_events(list(ids.values()))])
    because = [(number, id, {"repeated": ids[of], "which": action}) for number, id, of in freed]
    session.log("freed", because)
    changes = {
        name: -sum(row["state"] == state for row in rows) for state, name in enumerate(STATES)
    }
    # Documents that were freed and then removed here had been counted as dropped.
    changes["dropped"] -= len(freed)
    changes["freed"] += len(freed)
    session.add_to_counters(changes)
    return [id for _, id, _ in freed]


def _unfile(
    engine: Engine, session: Session, kept: Sequence[RowMapping]
) -> list[tuple[int, str, int]]:
    """Delete the keys of kept documents and free those dropped for them: see `Session.free`."""
    decider = engine.decider(session)
    # All keys that they may be indexed by: which keys were too frequent is not recorded.
    postings: dict[str, list[int]] = {"key": [], "number": []}
    if kept and decider.key_scheme.has_keys():
        for row, keys in zip(kept, decider.keys_of(engine.restored(kept)), strict=True):
            postings["key"] += keys
            postings["number"] += [row["number"]] * len(keys)
    session.delete_postings(postings)
    return session.free([row["number"] for row in kept])


def _stored_batch(engine: Engine, session: Session, rows: Sequence[RowMapping]) -> Incoming:
    """Return stored documents as a batch to add, with their stored sketches."""
    batch = Incoming(
        engine,
        ids=[row["id"] for row in rows],
        texts=pa.array([session.text(row) for row in rows], pa.large_string()),
        units=None,
        titles=pa.array([row["title"] for row in rows], pa.large_string()),
        times=[row["at"] for row in rows],
        sources=[row["source"] for row in rows],
        extras=[row["extra"] for row in rows],
    )
    batch.corpus = engine.restored(rows, batch.texts)
    batch.packed = [row["text"] for row in rows]
    return batch
