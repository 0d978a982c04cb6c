"""Documents out of the index, and decisions made again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from neardup._engine.messages import Message
from neardup.exceptions import InputError
from neardup.index.adding import Adding, Incoming, Prepared
from neardup.index.results import Match, Removed
from neardup.index.schema import FREED, KEPT, STATES
from neardup.index.store import Session, moment, restore, signed
from neardup.readers.batch import show

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine

__all__ = ["expire", "keep", "reconsider", "remove"]

#: Documents that one transaction removes, and decides again: those with their texts.
_TOGETHER, _WITH_TEXTS = 500, 100

#: Ids that a result lists.
_LISTED = 10_000


def remove(engine: Engine, id: str) -> Removed | None:
    """Remove a document, None if it is not there."""
    with engine.writing() as session:
        row = session.by_ids([id]).get(id)
        if row is None:
            return None
        freed = _take_out(engine, session, [row], "removed")
    return Removed(1, tuple(freed[:_LISTED]), len(freed))


def expire(engine: Engine, before: int) -> Removed:
    """Remove what arrived before a stamp, some documents a transaction."""
    removed = 0
    freed: list[str] = []
    while True:
        with engine.writing() as session:
            rows = session.arrived_before(before, _TOGETHER)
            if not rows:
                break
            freed += _take_out(engine, session, rows, "expired")
            removed += len(rows)
    # What was freed early on may have expired later.
    left = freed
    if freed:
        with engine.reading() as session:
            there = {id for id, row in session.by_ids(freed).items() if row["state"] == FREED}
        left = [id for id in freed if id in there]
    return Removed(removed, tuple(left[:_LISTED]), len(left))


def _take_out(
    engine: Engine,
    session: Session,
    rows: Sequence[RowMapping],
    action: Literal["removed", "expired"],
) -> list[str]:
    """Remove documents, and return the ids of those freed by it."""
    kept = [row for row in rows if row["state"] == KEPT]
    filing = engine.decider(session).filing
    entries: dict[str, list[int]] = {"key": [], "number": []}
    if kept and filing.has_keys():
        corpus = engine.origin.emptied(keeps_texts=False)
        restore(corpus, kept, session.location)
        for at, row in enumerate(kept):
            # All that it may be filed under, whatever was frequent then.
            found = [signed(key) for key in filing.keys_of(corpus, at)]
            entries["key"] += found
            entries["number"] += [row["number"]] * len(found)
    numbers = [row["number"] for row in rows]
    gone = set(numbers)
    freed = [one for one in session.free([row["number"] for row in kept]) if one[0] not in gone]
    session.delete(numbers)
    session.delete_entries(entries)
    now = datetime.now(UTC)
    ids = {row["number"]: row["id"] for row in rows}
    if action == "removed":
        session.log(action, now, [(number, id, {}) for number, id in ids.items()])
    else:
        session.log(action, now, [(None, None, {"documents": len(rows)})])
    because = [(number, id, {"repeated": ids[of], "which": action}) for number, id, of in freed]
    session.log("freed", now, because)
    counts = [sum(row["state"] == state for row in rows) for state in range(len(STATES))]
    changes = {name: -count for name, count in zip(STATES, counts, strict=True)}
    # Those freed and taken out at once were counted as dropped.
    changes["dropped"] -= len(freed)
    changes["freed"] += len(freed)
    session.add_to_counters(changes)
    return [id for _, id, _ in freed]


def reconsider(engine: Engine, ids: Sequence[str] | None) -> list[tuple[str, Match | None]]:
    """Decide what is not kept again, in the order of arrival, as if it came now."""
    adding = Adding(engine)
    decided: list[tuple[str, Match | None]] = []
    with engine.reading() as session:
        numbers = session.numbers_not_kept(ids)
    for begin in range(0, len(numbers), _WITH_TEXTS):
        with engine.writing() as session:
            # Without those that somebody else has decided or removed meanwhile.
            rows = session.not_kept(numbers[begin : begin + _WITH_TEXTS])
            coming, ready = _again(engine, session, rows)
            session.delete([row["number"] for row in rows])
            todo = list(range(len(rows)))
            matches = adding.store(session, session.counters(), coming, ready, todo)
            freed = sum(row["state"] == FREED for row in rows)
            session.add_to_counters({"freed": -freed, "dropped": freed - len(rows)})
            happened = [
                (None, id, {} if match is None else {"repeats": match.id})
                for id, match in zip(coming.ids, matches, strict=True)
            ]
            session.log("reconsidered", datetime.now(UTC), happened)
        decided += zip(coming.ids, matches, strict=True)
    return decided


def keep(engine: Engine, id: str) -> None:
    """Keep a dropped or freed document from now on, whatever it repeats."""
    with engine.writing() as session:
        there = session.by_ids([id]).get(id)
        if there is None:
            raise InputError(Message("index.no_such_id", location=engine.location, id=show(id)))
        if there["state"] == KEPT:
            raise InputError(
                Message("index.is_kept_already", location=engine.location, id=show(id))
            )
        repeats = session.matches([there], engine.rule.measure)[there["number"]]
        rows = session.not_kept([there["number"]])
        coming, ready = _again(engine, session, rows)
        session.delete([there["number"]])
        Adding(engine).keep(session, coming, ready)
        was_freed = there["state"] == FREED
        session.add_to_counters({"freed": -was_freed, "dropped": was_freed - 1})
        details = {} if repeats is None else {"repeats": repeats.id}
        session.log("kept", datetime.now(UTC), [(None, id, details)])


def _again(
    engine: Engine, session: Session, rows: Sequence[RowMapping]
) -> tuple[Incoming, Prepared]:
    """Return stored documents as if they came in, with the sketches that they have."""
    texts = pa.array(
        [
            None if row["text"] is None else session.unpacked(row["text"], row["number"])
            for row in rows
        ],
        pa.large_string(),
    )
    coming = Incoming(
        ids=[row["id"] for row in rows],
        texts=texts,
        units=None,
        titles=pa.array([row["title"] for row in rows], pa.large_string()),
        at=[moment(row["at"]) for row in rows],
        sources=[row["source"] for row in rows],
        extras=[row["extra"] for row in rows],
    )
    corpus = engine.origin.emptied(keeps_texts=engine.rule.keeps_texts)
    restore(corpus, rows, session.location, texts)
    return coming, Prepared.of(corpus, [row["text"] for row in rows])
