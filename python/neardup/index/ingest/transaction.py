"""Deciding and storing documents, a batch at a time: all of it or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import Any

from sqlalchemy import RowMapping

from neardup import _core
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.index.background import next_count, recount
from neardup.index.decide import Verdicts
from neardup.index.engine import Engine
from neardup.index.ingest.incoming import Incoming
from neardup.index.results import Decision, Match, NewDocument
from neardup.index.store.rows import UNLISTED
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, EVER, IDENTICAL, KEPT, SIMILAR, STATES, earlier
from neardup.readers.batch import show

_LOG = logging.getLogger("neardup.index")

#: The most documents that one transaction adds.
BATCH = _core.MAX_BATCH


def batch_size(within: timedelta | None) -> int:
    """Return the most documents that one transaction may add."""
    # Each document has its own `within` window, which ends at its arrival.
    return BATCH if within is None else 1


def has_documents(counters: Mapping[str, int]) -> bool:
    """Return whether an index with these counters has documents."""
    return any(counters[state] for state in STATES)


def add(
    engine: Engine, document: NewDocument, zone: tzinfo, within: timedelta | None
) -> Match | None:
    """Add one document of a caller; see `Index.add`."""
    batch = Incoming.of(engine, [document], zone)
    batch.check()
    decision = add_batch(engine, batch, within)[0]
    assert decision is not None
    if decision.problem is not None:
        values = {"location": engine.location, "reason": decision.problem}
        raise InputError(
            Message(
                "{location}: a document {reason}. Remove that one first, or choose another id.",
                **values,
            )
        )
    return decision.repeats


def add_together(engine: Engine, documents: Sequence[NewDocument]) -> list[Decision]:
    """Add documents of several callers; see `Index.add_together`."""
    answers: list[Decision] = []
    for begin in range(0, len(documents), BATCH):
        part = documents[begin : begin + BATCH]
        batch = Incoming.of(engine, part)
        problems = {row: error.args[0] for row, error in batch.errors.items()}
        for unread in batch.problems:
            row = (unread.record or 1) - 1
            named = Message("document '{id}'", id=show(part[row].id))
            problems[row] = replace(unread, source=named, record=None).message
        can_add = len(problems) < len(part)
        decisions = add_batch(engine, batch) if can_add else [None] * len(part)
        for row, decision in enumerate(decisions):
            if decision is None:
                decision = Decision(part[row].id, False, None, problems[row])
            elif decision.problem is not None:
                reason = Message("A document {reason}.", reason=decision.problem)
                decision = replace(decision, problem=reason)
            answers.append(decision)
    return answers


def add_batch(
    engine: Engine,
    batch: Incoming,
    within: timedelta | None = None,
    stored: Callable[[int], None] = lambda _: None,
) -> list[Decision | None]:
    """Decide and store at most `batch_size` documents, in order; None for one without a text.

    Uses one transaction, or several if background statistics are recomputed in between. `stored`
    gets the number of documents of each when it is on disk.
    """
    decisions: list[Decision | None] = []
    until_next: int | None = None
    while (begin := len(decisions)) < len(batch):
        # Documents beyond the next count would be sketched now and again after it.
        end = None if until_next is None else begin + until_next
        part = batch.part(begin, end) if begin else batch
        decided, until_next = _add_first(engine, part, within)
        decisions += decided
        stored(len(decided))
    return decisions


def _add_first(
    engine: Engine, batch: Incoming, within: timedelta | None
) -> tuple[list[Decision | None], int | None]:
    """Decide and store documents up to a count; return decisions, and arrivals until the next."""
    batch.prepare()
    not_before = EVER if within is None else earlier(batch.times[0], within)
    with engine.writing() as session:
        counters = session.counters()
        new, present, refused = _sort(batch, session.by_ids(batch.ids))
        end = _end_at_count(engine, counters, new)
        rows = [row for row in new if end is None or row < end]
        decider = engine.decider(session, counters["background"])
        verdicts = decider.decide(
            session, batch.corpus, batch.ids, rows, counters["next"], not_before=not_before
        )
        write(session, batch, rows, counters["next"], verdicts)
        session.add_to_counters({"arrived": len(rows)})
        until_next: int | None = None
        if end is not None:
            recount(session, engine.settings, workers=engine.workers)
            arrived = counters["arrived"] + len(rows)
            until_next = next_count(arrived) - arrived
        matches = dict(zip(rows, verdicts.matches, strict=True))
        known = session.matches(list(present.values()), engine.rule.measure)
    log_decisions(engine.location, [batch.ids[row] for row in rows], verdicts.matches)
    decided_row = {batch.ids[row]: row for row in rows}
    decisions: list[Decision | None] = []
    for row, id in enumerate(batch.ids[:end]):
        if row in refused:
            reason = refused[row]
            decisions.append(None if reason is None else Decision(id, False, None, reason))
            continue
        match = known[present[row]["number"]] if row in present else matches[decided_row[id]]
        decisions.append(Decision(id, row in matches, match, None))
    return decisions, until_next


def _sort(
    batch: Incoming, stored: Mapping[str, RowMapping]
) -> tuple[list[int], dict[int, RowMapping], dict[int, Message | None]]:
    """Return the rows to decide, the stored documents of known rows, and reasons for refusals.

    A row that repeats id and text of an earlier row of the batch is in none of the three. The
    reason for an unreadable row is None.
    """
    identities, features, _ = batch.sketches
    new: list[int] = []
    present: dict[int, RowMapping] = {}
    refused: dict[int, Message | None] = {}
    new_row: dict[str, int] = {}
    for row, id in enumerate(batch.ids):
        if features[row] < 0:
            refused[row] = None
            continue
        existing = stored.get(id)
        earlier_row = new_row.get(id)
        known = None if existing is None else existing["identity"]
        if earlier_row is not None:
            known = identities[earlier_row]
        if known is not None and known != identities[row]:
            refused[row] = taken(id)
        elif existing is not None:
            present[row] = existing
        elif earlier_row is None:
            new_row[id] = row
            new.append(row)
    return new, present, refused


def taken(id: str) -> Message:
    """Return the reason to refuse another text with the id of an earlier one."""
    return Message(
        "must have another id: '{id}' already belongs to another text",
        code="id_taken",
        id=show(id),
    )


def _end_at_count(engine: Engine, counters: Mapping[str, int], new: Sequence[int]) -> int | None:
    """Return the end of the rows before the next count; None if the batch does not reach it."""
    if not engine.settings.counts:
        return None
    left = next_count(counters["counted_at"]) - counters["arrived"]
    return None if len(new) < left else new[left - 1] + 1


def write(
    session: Session, batch: Incoming, rows: Sequence[int], first: int, verdicts: Verdicts
) -> None:
    """Store some rows of a batch, numbered from `first` on."""
    identities, features, sketches = batch.sketches
    matches = verdicts.matches
    titles: list[Any] = [None] * len(batch) if batch.titles is None else batch.titles.to_pylist()
    columns: dict[str, Sequence[Any]] = {
        "number": range(first, first + len(rows)),
        "id": [batch.ids[row] for row in rows],
        "state": [KEPT if match is None else DROPPED for match in matches],
        "at": [batch.times[row] for row in rows],
        "source": [batch.sources[row] for row in rows],
        "title": [titles[row] for row in rows],
        "extra": [batch.extras[row] for row in rows],
        "identity": [identities[row] for row in rows],
        "features": [features[row] for row in rows],
        "sketch": [sketches[row] for row in rows],
        "kept_number": verdicts.kept_numbers,
        "similarity": [None if match is None else match.similarity for match in matches],
        "distance": [None if match is None else match.distance for match in matches],
        "reason": [_reason(match) for match in matches],
    }
    session.insert(columns, [batch.packed[row] for row in rows], verdicts.postings)
    kept = matches.count(None)
    changes = {"next": len(rows), "kept": kept, "dropped": len(rows) - kept}
    session.add_to_counters({**changes, UNLISTED: verdicts.unlisted})


def log_decisions(location: str, ids: Sequence[str], matches: Sequence[Match | None]) -> None:
    """Log decisions after their commit."""
    if not ids or not _LOG.isEnabledFor(logging.INFO):
        return
    for id, match in zip(ids, matches, strict=True):
        if match is None:
            _LOG.info("%s: kept %r", location, id)
        else:
            similarity = match.similarity
            _LOG.info("%s: dropped %r, repeats %r, %.4f", location, id, match.id, similarity)
    kept = matches.count(None)
    _LOG.info("%s: decided %d, kept %d, dropped %d", location, len(ids), kept, len(ids) - kept)


def _reason(match: Match | None) -> int | None:
    if match is None:
        return None
    return IDENTICAL if match.identical else SIMILAR
