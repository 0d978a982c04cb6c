"""Deciding and storing documents, a batch at a time: all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from neardup.base.lazy import _core
from neardup.base.messages import Message
from neardup.index.background import plan_next_count, recount
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.ingest.write import log_decisions, write
from neardup.index.results import Decision, Match
from neardup.index.retention import take_out
from neardup.index.values import EVER, STATES, subtract_span
from neardup.readers.batch import show

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: The most documents that one transaction adds.
BATCH = _core.MAX_BATCH


def choose_batch_size(within: timedelta | None) -> int:
    """Return the most documents that one transaction may add."""
    # Each document has its own `within` window, which ends at its arrival.
    return BATCH if within is None else 1


def has_documents(counters: Mapping[str, int]) -> bool:
    """Return whether an index with these counters has documents."""
    return any(counters[state] for state in STATES)


def add_batch(
    engine: Engine,
    batch: IncomingBatch,
    within: timedelta | None = None,
    stored: Callable[[int], None] = lambda _: None,
) -> list[Decision | None]:
    """Decide and store documents, at most `choose_batch_size`; None for one without a text.

    Uses one transaction, or several if background statistics are recomputed or stored documents
    replaced in between. `stored` gets the number of documents of each when it is on disk.
    """
    decisions: list[Decision | None] = []
    #: Where the next transactions end: later documents would be sketched now and again after it.
    ends: list[int] = []
    while (begin := len(decisions)) < len(batch):
        end = ends.pop(0) if ends else None
        part = batch if begin == 0 else batch.slice(begin, end)
        decided, later = _add_first(engine, part, within)
        ends = [begin + row for row in later] or ends
        decisions += decided
        stored(len(decided))
    return decisions


def _add_first(
    engine: Engine, batch: IncomingBatch, within: timedelta | None
) -> tuple[list[Decision | None], list[int]]:
    """Decide and store documents up to a count, or up to one that replaces another.

    Returns the decisions, and the ends after that one, as far as they are known.
    """
    batch.prepare()
    not_before = EVER if within is None else subtract_span(batch.times[0], within)
    again: list[tuple[str, Match | None]] = []
    with engine.writing() as session:
        stored = session.documents.find_by_ids(batch.ids)
        # Only the first document replaces another: those before it must be stored by then.
        ends = [*_find_replacements(session, batch, stored), len(batch)]
        replaces = ends[0] == 0 and len(batch) > 0
        if replaces:
            again = take_out(engine, session, [stored[batch.ids[0]]], "replaced")
            stored = session.documents.find_by_ids(batch.ids)
            del ends[0]
        counters = session.statistics.read_counters()
        new, present, refused = _sort(batch, stored, ends[0])
        counted_end = _find_count_end(engine, counters, new)
        end = ends[0] if counted_end is None else counted_end
        rows = [row for row in new if row < end]
        decider = engine.get_decider(session, counters["background"])
        verdicts = decider.decide(
            session, batch.corpus, batch.ids, rows, counters["next"], not_before=not_before
        )
        write(session, batch, rows, counters, verdicts)
        session.statistics.count({"arrived": len(rows)})
        later = ends[1:]
        if counted_end is not None:
            recount(session, engine.settings, workers=engine.workers)
            arrived = counters["arrived"] + len(rows)
            later = [end + plan_next_count(arrived) - arrived]
        matches = dict(zip(rows, verdicts.matches, strict=True))
        known = session.documents.read_matches(list(present.values()), engine.rule.measure)
    ids = [batch.ids[row] for row in rows]
    log_decisions(engine.location, again)
    log_decisions(engine.location, list(zip(ids, verdicts.matches, strict=True)))
    decided_row = {batch.ids[row]: row for row in rows}
    decisions: list[Decision | None] = []
    for row, id in enumerate(batch.ids[:end]):
        if row in refused:
            reason = refused[row]
            decisions.append(None if reason is None else Decision(id, False, None, reason))
            continue
        match = known[present[row]["number"]] if row in present else matches[decided_row[id]]
        is_new = row in matches
        decisions.append(Decision(id, is_new, match, None, replaced=replaces and row == 0))
    return decisions, later


def _find_replacements(
    session: Session, batch: IncomingBatch, stored: Mapping[str, RowMapping]
) -> list[int]:
    """Return the rows that replace another stored document, or an earlier row."""
    if not any(batch.replaces):
        return []
    identities, features, _ = batch.sketches
    rows: list[int] = []
    #: Rows that differ from the stored documents at most in their texts as they were given.
    alike: dict[int, int] = {}
    earlier_ids: set[str] = set()
    for row, id in enumerate(batch.ids):
        if features[row] < 0:
            continue
        existing = stored.get(id)
        if batch.replaces[row] and id in earlier_ids:
            rows.append(row)
        elif batch.replaces[row] and existing is not None:
            title = None if batch.titles is None else batch.titles[row].as_py()
            fields = (identities[row], title, batch.sources[row], batch.extras[row])
            if fields == tuple(existing[name] for name in ("identity", "title", "source", "extra")):
                alike[row] = existing["number"]
            else:
                rows.append(row)
        earlier_ids.add(id)
    stored_texts = session.documents.read_with_texts(list(alike.values())) if alike else []
    texts = {row["number"]: session.texts.read(row) for row in stored_texts}
    rows += [row for row, number in alike.items() if texts[number] != batch.texts[row].as_py()]
    return sorted(rows)


def _sort(
    batch: IncomingBatch, stored: Mapping[str, RowMapping], end: int
) -> tuple[list[int], dict[int, RowMapping], dict[int, Message | None]]:
    """Return rows to decide, the stored documents of known rows, and reasons for refusals.

    Rows from `end` on are left out, as is a row that repeats id and text of an earlier row. The
    reason for an unreadable row is None.
    """
    identities, features, _ = batch.sketches
    new: list[int] = []
    present: dict[int, RowMapping] = {}
    refused: dict[int, Message | None] = {}
    new_row: dict[str, int] = {}
    for row, id in enumerate(batch.ids[:end]):
        if features[row] < 0:
            refused[row] = None
            continue
        existing = stored.get(id)
        earlier_row = new_row.get(id)
        known = None if existing is None else existing["identity"]
        if earlier_row is not None:
            known = identities[earlier_row]
        if known is not None and known != identities[row]:
            refused[row] = explain_taken_id(id)
        elif existing is not None:
            present[row] = existing
        elif earlier_row is None:
            new_row[id] = row
            new.append(row)
    return new, present, refused


def explain_taken_id(id: str) -> Message:
    """Return the reason to refuse another text with the id of an earlier one."""
    return Message(
        "must have another id: '{id}' already belongs to another text",
        code="id_taken",
        id=show(id),
    )


def _find_count_end(engine: Engine, counters: Mapping[str, int], new: Sequence[int]) -> int | None:
    """Return the end of the rows before the next count; None if the batch does not reach it."""
    if not engine.settings.counts:
        return None
    left = plan_next_count(counters["counted_at"]) - counters["arrived"]
    return None if len(new) < left else new[left - 1] + 1
