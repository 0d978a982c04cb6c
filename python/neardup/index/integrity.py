"""Checks whether an index is consistent: its pages, its counters, and a sample of its documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import func, select

from neardup import _core
from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError, InputError, NeardupError
from neardup.index.backends.acknowledged import NEEDS_LOG
from neardup.index.decide import Decider
from neardup.index.engine import Engine
from neardup.index.ingest.incoming import Incoming
from neardup.index.results import NewDocument
from neardup.index.schema import (
    all_keys,
    background,
    counters,
    documents,
    documents_with_texts,
    events,
    missing_parts,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, document_fault, sound_event
from neardup.index.store.session import FILED, IDENTITY, RECENT, Session
from neardup.index.values import DROPPED, FREED, KEPT, STATES

#: Documents read at once, with their texts.
_TOGETHER = 200

#: Size of the sample, spread evenly over all documents.
_SAMPLE = 1000

#: Greater than any document's number.
_AFTER_ALL = 1 << 63

#: The most lines in a report.
_LISTED = 1000


@dataclass
class Examined:
    """The row of a document, its faults, and what its text yields."""

    row: dict[str, Any]
    text: str | None = None
    faults: list[Message] = field(default_factory=list)
    #: Recomputed from the text if it can be read: identity, number of features and sketch.
    made: dict[str, Any] = field(default_factory=dict)

    def fault(self, template: str, **values: Any) -> None:
        """Add a message about a fault."""
        self.faults.append(Message(template, **values))

    @property
    def changed(self) -> list[str]:
        """The columns whose stored values are not those of the text."""
        return [name for name, value in self.made.items() if self.row[name] != value]

    @property
    def has_other_text(self) -> bool:
        """Whether identity and sketch are both those of another text."""
        return {"identity", "sketch"} <= set(self.changed)


def check(engine: Engine, *, full: bool, progress: Progress) -> list[str]:
    """Return one line for each fault."""
    lines = list(engine.database.check())
    more = 0
    try:
        with engine.reading(check_identity=False) as session:
            for line in _faults(engine, session, full, progress):
                if len(lines) < _LISTED:
                    lines.append(line)
                else:
                    more += 1
    except IndexFormatError as error:
        lines.append(error.args[0])
    if more:
        lines.append(
            Message.counted(
                "{count:,} more line like these", "{count:,} more lines like these", count=more
            )
        )
    return lines


def stored_background(session: Session) -> tuple[int, _core.Background | None, Message | None]:
    """Return version and content of the latest background statistics, and their fault."""
    version = session.connection.scalar(select(func.max(background.c.version)))
    if not version:
        return 0, None, None
    try:
        return version, _core.Background.from_bytes(session.background(version)), None
    except (IndexFormatError, InputError):
        return version, None, Message("background {number}: cannot be read", number=version)


def _faults(engine: Engine, session: Session, full: bool, progress: Progress) -> Iterator[Message]:
    missing = missing_parts(session.connection)
    yield from missing
    if any(line.template != "index {index}: is missing" for line in missing):
        return
    version, known, fault = stored_background(session)
    decider = Decider(engine.settings, known)
    query = select(documents.c.number).order_by(documents.c.number)
    count = session.connection.scalar(select(func.count()).select_from(documents)) or 0
    rows = session.connection.execute(query, execution_options={"yield_per": 10_000})
    sample = list(islice(rows.scalars(), 0, None, 1 if full else max(1, count // _SAMPLE)))
    has_keys = decider.key_scheme.has_keys()
    totals = _key_counts(session) if full and has_keys else None
    progress.stage("check", len(sample))
    for begin in range(0, len(sample), _TOGETHER):
        batch = _examined(engine, session, sample[begin : begin + _TOGETHER])
        _check_states(session, batch)
        if has_keys:
            _check_keys(engine, session, decider, batch, totals)
        for document in batch:
            for what in document.faults:
                yield Message("document {number}: {what}", number=document.row["number"], what=what)
        progress.advance(len(batch))
    yield from _wrong_counters(engine, session, version)
    if fault is not None:
        yield fault
    if full:
        yield from _strays(session)
        yield from _wrong_events(session)


# Documents


def _examined(engine: Engine, session: Session, numbers: Sequence[int]) -> list[Examined]:
    query = documents_with_texts.where(session.is_one_of(documents.c.number))
    rows = session.run(query.order_by(documents.c.number), numbers).mappings()
    batch = [Examined(dict(row)) for row in rows]
    for document in batch:
        fault = document_fault(document.row)
        if fault is not None:
            document.fault(
                N_("its '{field}' must be {expected}"), field=fault[0], expected=fault[1]
            )
        if not is_object(document.row["extra"]):
            must = Message("a JSON object")
            document.fault(N_("its '{field}' must be {expected}"), field="extra", expected=must)
    examine_texts(engine, session, batch)
    for document in batch:
        if document.has_other_text:
            document.fault(N_("its text differs from the one that was added"))
            continue
        for name in document.changed:
            document.fault(N_("its '{field}' does not match its text"), field=name)
    return batch


def examine_texts(engine: Engine, session: Session, batch: Sequence[Examined]) -> None:
    """Read the texts of documents, and sketch them again."""
    if engine.settings.store != "text":
        return
    for document in batch:
        packed = document.row.pop("text")
        if packed is None:
            document.fault(N_("its text is missing"))
            continue
        try:
            document.text = session.unpacked(packed, document.row["number"])
        except IndexFormatError:
            document.fault(N_("its text cannot be read"))
    readable = [document for document in batch if document.text is not None]
    given = [
        NewDocument("-", document.text or "", title if isinstance(title, str) else None)
        for document in readable
        for title in [document.row["title"]]
    ]
    if given:
        columns = zip(*Incoming.of(engine, given).sketches, strict=True)
        for document, values in zip(readable, columns, strict=True):
            document.made = dict(zip(("identity", "features", "sketch"), values, strict=True))


def _check_states(session: Session, batch: Sequence[Examined]) -> None:
    wanted = {document.row["kept_number"] for document in batch}
    number = documents.c.number
    query = select(number, documents.c.state).where(session.is_one_of(number))
    numbers = sorted(number for number in wanted if isinstance(number, int))
    states = {row[0]: row[1] for row in session.run(query, numbers)}
    for document in batch:
        row = document.row
        if document_fault(row) is not None:
            continue
        kept = row["kept_number"]
        reasons = [kept, row["similarity"], row["reason"]]
        keeper = states.get(kept)
        if row["state"] == KEPT and reasons != [None, None, None]:
            document.fault(N_("is kept, but has values that only a dropped document has"))
        elif row["state"] == DROPPED and (keeper != KEPT or kept >= row["number"]):
            document.fault(N_("is dropped for document {kept}, which is not kept"), kept=kept)
        elif row["state"] == FREED and (
            None in reasons or keeper is not None or kept >= row["number"]
        ):
            document.fault(N_("is freed, but the document that it repeated is still there"))


# Keys


def _check_keys(
    engine: Engine,
    session: Session,
    decider: Decider,
    batch: Sequence[Examined],
    totals: Iterator[tuple[int, int]] | None,
) -> None:
    kept = [
        document
        for document in batch
        if document.row["state"] == KEPT and _has_sketch(engine, document)
    ]
    if not kept:
        return
    corpus = engine.restored([_without_identity(document.row) for document in kept])
    may_have = [set(keys) for keys in decider.keys_of(corpus)]
    looked_up = np.array(sorted(set().union(*may_have)), np.int64).view(np.uint64)
    try:
        postings, _ = session.postings(looked_up)
    except IndexFormatError as error:
        kept[0].fault(
            N_("or one of the next {following}: {reason}"),
            following=len(kept) - 1,
            reason=error.args[0],
        )
        return
    stored: dict[int, dict[int, int]] = {document.row["number"]: {} for document in kept}
    columns = (postings.keys.tolist(), postings.numbers.tolist(), postings.shares.tolist())
    for key, number, share in zip(*columns, strict=True):
        if number in stored:
            stored[number][key] = share
    expected: dict[int, dict[int, int]] = {number: {} for number in stored}
    made = decider.postings_of(corpus, list(expected))
    for key, number, share in zip(*made.values(), strict=True):
        expected[number][key] = share
    # A document's keys depend on the background statistics of the moment it was added. If those
    # change, or lists are capped, a key may be missing without a fault.
    is_exact = engine.settings.background != "own" and decider.key_scheme.max_list_len() is None
    number = total = 0
    for document, keys in zip(kept, may_have, strict=True):
        current = document.row["number"]
        filed = {key: share for key, share in stored[current].items() if key in keys}
        wanted = expected[current]
        if filed != wanted if is_exact else bool(wanted) and not filed:
            document.fault(N_("keys of its sketch are missing or wrong"))
        if totals is None:
            continue
        # Both are ordered by number. Keys without a document are reported as strays.
        while number < current:
            number, total = next(totals, (_AFTER_ALL, 0))
        if len(filed) != (total if number == current else 0):
            document.fault(N_("has keys that are not in its sketch"))


def _has_sketch(engine: Engine, document: Examined) -> bool:
    """Return whether the stored sketch has the format that the recipe makes."""
    if document.made:
        return not {"sketch", "features"} & set(document.changed)
    try:
        engine.restored([_without_identity(document.row)])
    except (NeardupError, TypeError, ValueError, OverflowError):
        if not document.faults:
            document.fault(N_("its 'sketch' is not one of the recipe"))
        return False
    return True


def _without_identity(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for making keys. They do not use the identity, which may be damaged."""
    return {**row, "identity": bytes(16)}


def _key_counts(session: Session) -> Iterator[tuple[int, int]]:
    """Yield each number that has stored keys, and how many."""
    number = all_keys.c.number
    query = select(number, func.count()).group_by(number).order_by(number)
    rows = session.connection.execute(query, execution_options={"yield_per": 10_000})
    return ((row[0], row[1]) for row in rows if isinstance(row[0], int))


# Counters and what belongs to no document


def _wrong_counters(engine: Engine, session: Session, version: int) -> Iterator[Message]:
    """Yield counters that do not agree with the rows."""
    scalar = session.connection.scalar
    stored = {row.name: row.value for row in session.connection.execute(select(counters))}
    for name in (*COUNTERS, UNLISTED):
        fault = counter_fault(name, stored.get(name, 0 if name == UNLISTED else None))
        if fault is not None:
            yield Message("counter '{name}': must be {expected}", name=name, expected=fault)
            stored[name] = None
    query = select(documents.c.state, func.count()).group_by(documents.c.state)
    states = {row[0]: row[1] for row in session.connection.execute(query)}
    for state, name in enumerate(STATES):
        if stored[name] is not None and stored[name] != states.get(state, 0):
            values = {"expected": states.get(state, 0), "value": stored[name]}
            yield Message(
                "counter '{name}': must be {expected:,}. Got {value:,} instead", name=name, **values
            )
    last, total = scalar(select(func.max(documents.c.number))) or 0, sum(states.values())
    if stored["next"] is not None and stored["next"] <= last:
        yield Message(
            "counter '{name}': must be more than {least:,}. Got {value:,} instead",
            name="next",
            least=last,
            value=stored["next"],
        )
    if stored["arrived"] is not None and stored["arrived"] < total:
        yield Message(
            "counter '{name}': must be at least {least:,}. Got {value:,} instead",
            name="arrived",
            least=total,
            value=stored["arrived"],
        )
    if stored.get(NEEDS_LOG):
        log = engine.database.files[1]
        if not log.exists() or not log.stat().st_size:
            yield Message(
                "the file was copied while the index was in use, without its log "
                "{log}: later changes may be missing. Copy it again with neardup "
                "index backup",
                code="log_missing",
                log=log.name,
            )
    recent = scalar(select(func.count()).select_from(recent_keys))
    if not isinstance(stored.get(RECENT), int) or stored[RECENT] < recent:
        yield Message("counter '{name}': must be at least {least:,}", name=RECENT, least=recent)
    identity = stored.get(IDENTITY)
    if not isinstance(identity, int):
        yield Message(
            "counter '{name}': must be {expected}",
            name=IDENTITY,
            expected=Message("a whole number"),
        )
    elif session.meta().get(IDENTITY, str(identity)) != str(identity):
        yield Message("'{name}' in 'meta': must be that of the counters", name=IDENTITY)
    if stored["background"] is not None and stored["background"] != version:
        yield Message("background {number}: is missing", number=stored["background"])


def _strays(session: Session) -> Iterator[Message]:
    """Yield rows that belong to no document, and missing keys."""
    number = documents.c.number
    for table in (texts, passages):
        query = select(table.c.number).outerjoin(documents, table.c.number == number)
        for stray in session.connection.scalars(query.where(number.is_(None))):
            yield Message(
                "{table} {number}: belongs to no document", table=table.name, number=stray
            )
    query = select(all_keys.c.number, func.count()).outerjoin(
        documents, all_keys.c.number == number
    )
    query = query.where(number.is_(None) | (documents.c.state != KEPT))
    for stray, count in session.connection.execute(query.group_by(all_keys.c.number)):
        yield Message(
            "keys of document {number}: {count:,} belong to no kept document",
            number=f"{stray!r:.40}",
            count=count,
        )
    # This finds a missing key also where lists are capped.
    filed = session.connection.scalar(select(counters.c.value).where(counters.c.name == FILED))
    stored = session.connection.scalar(select(func.count()).select_from(all_keys))
    if filed is not None and not isinstance(filed, int):
        yield Message(
            "keys: {stored} were stored. Got {found:,} instead",
            stored=f"{filed!r:.40}",
            found=stored,
        )
    elif filed not in (None, stored):
        yield Message(
            "keys: {stored:,} were stored. Got {found:,} instead", stored=filed, found=stored
        )


def _wrong_events(session: Session) -> Iterator[Message]:
    """Yield events that cannot be read."""
    for row in session.connection.execute(select(events).order_by(events.c.event)).mappings():
        try:
            sound_event(row, session.location)
        except IndexFormatError:
            yield Message("event {number}: cannot be read", number=row["event"])


def is_object(stored: Any) -> bool:
    """Return whether further fields are an object of JSON, or none."""
    try:
        return stored is None or isinstance(json.loads(stored), dict)
    except (ValueError, TypeError, RecursionError):
        return False
