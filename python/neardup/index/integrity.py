"""Checks whether an index is consistent: rows, texts, sketches, keys, counters.

The database's own check of its pages finds a damaged file structure. This check finds wrong
values in an intact file. Documents are read in the order of their numbers. The text of each, or
of a sample, is sketched again, and its keys are looked up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import func, select

from neardup import _core
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError, InputError, NeardupError
from neardup.index.backends.acknowledged import NEEDS_LOG
from neardup.index.decide import Decider
from neardup.index.ingest.incoming import make_batch
from neardup.index.schema import (
    all_keys,
    background,
    counters,
    documents,
    events,
    missing_parts,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store.counters import FILED, IDENTITY, RECENT
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, document_fault, sound_event
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, FREED, KEPT, STATES

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = ["Document", "Examination", "check", "stored_background"]

#: Documents read at once, with their texts.
_TOGETHER = 200

#: Size of the sample, spread evenly over all documents.
_SAMPLE = 1000

#: Greater than any document's number.
_AFTER_ALL = 1 << 63

#: The most lines in a report.
_LISTED = 1000


@dataclass
class Document:
    """A stored document, its faults, and the values recomputed from its text."""

    row: dict[str, Any]
    text: str | None = None
    faults: list[Message] = field(default_factory=list)
    #: Recomputed from the text if it can be read: identity, number of features and sketch.
    made: tuple[bytes, int, bytes] | None = None
    #: Whether both identity and sketch differ from those of the text.
    text_is_other: bool = False
    #: Whether its keys must be written again.
    has_wrong_keys: bool = False

    def fault(self, code: str, **values: Any) -> None:
        """Add a message about a fault."""
        self.faults.append(Message(code, **values))

    @property
    def number(self) -> int:
        """The document's number, the key of its row."""
        return int(self.row["number"])

    def other_fields(self) -> dict[str, Any]:
        """Return the recomputed values of the columns whose stored values differ."""
        made = zip(("identity", "features", "sketch"), self.made or (), strict=False)
        return {name: value for name, value in made if self.row[name] != value}


def check(engine: Engine, *, full: bool, progress: Progress) -> list[str]:
    """Return one line for each fault."""
    found = list(engine.database.check())
    more = 0
    try:
        with engine.reading(check_identity=False) as session:
            for line in Examination(engine, session, full=full, progress=progress).lines():
                if len(found) < _LISTED:
                    found.append(line)
                else:
                    more += 1
    except IndexFormatError as error:
        found.append(error.args[0])
    if more:
        found.append(Message("index.more_lines", count=more))
    return found


def stored_background(
    session: Session,
) -> tuple[int, _core.Background | None, Message | None]:
    """Return version and content of the latest background statistics, and their fault."""
    version = session.connection.scalar(select(func.max(background.c.version)))
    if not version:
        return 0, None, None
    try:
        return version, _core.Background.from_bytes(session.background(version)), None
    except (IndexFormatError, InputError):
        return version, None, Message("index.background_cannot_be_read", number=version)


class Examination:
    """One pass through an index, inside a transaction."""

    def __init__(self, engine: Engine, session: Session, *, full: bool, progress: Progress) -> None:
        self._engine = engine
        self._connection = session.connection
        self._session = session
        self._full = full
        self._progress = progress
        self._version, known, self._background_fault = stored_background(session)
        self.decider = Decider(engine.settings, known)
        self._has_texts = engine.settings.store == "text"
        # A document's keys depend on the background statistics of the moment it was added. If those
        # change, or lists are capped, a key may be missing without a fault.
        self.is_exact = (
            engine.settings.background != "own" and self.decider.key_scheme.max_list_len() is None
        )

    def lines(self) -> Iterator[Message]:
        """Yield a message for each fault."""
        missing = missing_parts(self._connection)
        yield from missing
        if any(line.code != "index.index_is_missing" for line in missing):
            return
        states: Counter[int] = Counter()
        last = 0
        for some in self.documents():
            for document in some:
                states[document.row["state"]] += 1
                last = document.number
                for fault in document.faults:
                    yield Message("index.of_document", number=document.number, what=fault)
        yield from self.wrong_counters(states, last)
        yield from self.strays()
        if self._full:
            filed, there = self.key_count()
            if filed not in (None, there):
                if isinstance(filed, int):
                    yield Message("index.keys_are_missing", stored=filed, found=there)
                else:
                    shown = f"{filed!r:.40}"
                    yield Message("index.keys_counted_wrongly", stored=shown, found=there)
            yield from self.wrong_events()

    # Documents

    def documents(self) -> Iterator[list[Document]]:
        """Yield all documents with their faults, page by page."""
        count = self._connection.execute(select(func.count()).select_from(documents)).scalar_one()
        step = 1 if self._full else max(1, count // _SAMPLE)
        totals = (
            self._key_counts() if self._full and self.decider.key_scheme.has_keys() else iter(())
        )
        number = total = after = at = 0
        self._progress.stage("check", count)
        while some := self.page(after, at=at, step=step):
            for document in some:
                # Both are ordered by number. Keys without a document are reported by `strays`.
                while number < document.number:
                    number, total = next(totals, (_AFTER_ALL, 0))
                own = total if number == document.number else 0
                if self._full and document.row.get("keys", own) != own:
                    document.fault("index.keys_not_of_sketch")
                    document.has_wrong_keys = True
            at += len(some)
            after = some[-1].number
            self._progress.advance(len(some))
            yield some

    def page(self, after: int, *, at: int = 0, step: int = 1) -> list[Document]:
        """Return the next documents; every `step`-th has its text, sketch and keys compared."""
        query = select(documents).where(documents.c.number > after)
        query = query.order_by(documents.c.number).limit(_TOGETHER)
        some = [Document(dict(row)) for row in self._connection.execute(query).mappings()]
        self._check_rows(some)
        chosen = [document for position, document in enumerate(some, at) if position % step == 0]
        if self._has_texts:
            self._read_texts(chosen)
            self._sketch_again([document for document in chosen if document.text is not None])
        self._check_keys(chosen)
        return some

    def _check_rows(self, some: Sequence[Document]) -> None:
        wanted = {document.row["kept_number"] for document in some}
        keepers = self._states([number for number in wanted if isinstance(number, int)])
        for document in some:
            row = document.row
            fault = document_fault(row)
            if fault is not None:
                column, must = fault
                document.fault("index.field_must_be", field=column, expected=must)
                continue
            reasons = [row[name] for name in ("kept_number", "similarity", "reason")]
            keeper = keepers.get(row["kept_number"])
            if row["state"] == KEPT and reasons != [None, None, None]:
                document.fault("index.kept_like_dropped")
            elif row["state"] == DROPPED and (
                keeper != KEPT or row["kept_number"] >= document.number
            ):
                kept = row["kept_number"]
                document.fault("index.dropped_for_not_kept", kept=kept)
            elif row["state"] == FREED and (
                None in reasons or keeper is not None or row["kept_number"] >= document.number
            ):
                document.fault("index.freed_for_there")
            if not _is_object(row["extra"]):
                must = Message("index.json_object")
                document.fault("index.field_must_be", field="extra", expected=must)

    def _states(self, numbers: Sequence[int]) -> dict[int, int]:
        if not numbers:
            return {}
        number = documents.c.number
        query = select(number, documents.c.state).where(self._session.is_one_of(number))
        return {row[0]: row[1] for row in self._session.run(query, sorted(numbers))}

    def _read_texts(self, some: Sequence[Document]) -> None:
        query = select(texts).where(self._session.is_one_of(texts.c.number))
        rows = self._session.run(query, [document.number for document in some])
        packed = {row[0]: row[1] for row in rows}
        for document in some:
            # `strays` reports documents without a row in `texts`.
            if document.number not in packed:
                continue
            try:
                document.text = self._session.unpacked(packed[document.number], document.number)
            except IndexFormatError:
                document.fault("index.text_cannot_be_read")

    def _sketch_again(self, some: Sequence[Document]) -> None:
        if not some:
            return
        titles = [one.row["title"] if isinstance(one.row["title"], str) else None for one in some]
        pairs = zip(some, titles, strict=True)
        given = [("", one.text, title, 0, None, None) for one, title in pairs]
        made = zip(*make_batch(self._engine, given).sketches, strict=True)
        for document, sketched in zip(some, made, strict=True):
            document.made = sketched
            other = document.other_fields()
            if {"identity", "sketch"} <= other.keys():
                document.text_is_other = True
                document.fault("index.text_is_another")
                continue
            for name in other:
                document.fault("index.field_is_not_of_text", field=name)

    # Keys

    def _check_keys(self, some: Sequence[Document]) -> None:
        kept = [one for one in some if one.row["state"] == KEPT and self._has_sketch(one)]
        if not kept or not self.decider.key_scheme.has_keys():
            return
        rows = [_without_identity(document.row) for document in kept]
        corpus = self._engine.restored(rows)
        may_have = [set(keys) for keys in self.decider.keys_of(corpus)]
        looked_up = np.array(sorted(set().union(*may_have)), np.int64).view(np.uint64)
        try:
            found = self._session.postings(looked_up)
        except IndexFormatError as error:
            # The unreadable posting need not be located: the keys of all are made again.
            following, reason = len(kept) - 1, error.args[0]
            kept[0].fault("index.or_one_of_next", following=following, reason=reason)
            for document in kept:
                document.has_wrong_keys = True
            return
        there: dict[int, dict[int, int]] = {document.number: {} for document in kept}
        columns = (found.keys.tolist(), found.numbers.tolist(), found.shares.tolist())
        for key, number, share in zip(*columns, strict=True):
            if number in there:
                there[number][key] = share
        expected: dict[int, dict[int, int]] = {document.number: {} for document in kept}
        postings = self.decider.postings_of(corpus, list(expected))
        for key, number, share in zip(*postings.values(), strict=True):
            expected[number][key] = share
        for document, keys in zip(kept, may_have, strict=True):
            filed = there[document.number]
            own = {key: share for key, share in filed.items() if key in keys}
            document.row["keys"] = len(own)
            wanted = expected[document.number]
            if own != wanted if self.is_exact else bool(wanted) and not own:
                document.fault("index.keys_missing_or_wrong")
                document.has_wrong_keys = True

    def _has_sketch(self, document: Document) -> bool:
        """Return whether the stored sketch has the format that the recipe makes."""
        row = document.row
        if document.made is not None:
            return bool(row["sketch"] == document.made[2] and row["features"] == document.made[1])
        try:
            self._engine.restored([_without_identity(row)])
        except (NeardupError, TypeError, ValueError, OverflowError):
            if not document.faults:
                document.fault("index.sketch_is_not_of_recipe")
            return False
        return True

    def _key_counts(self) -> Iterator[tuple[int, int]]:
        """Yield each number that has stored keys, and how many."""
        number = all_keys.c.number
        query = select(number, func.count()).group_by(number).order_by(number)
        rows = self._connection.execute(query, execution_options={"yield_per": 10_000})
        return ((row[0], row[1]) for row in rows if isinstance(row[0], int))

    def key_count(self) -> tuple[Any, int]:
        """Return how many keys should be stored (None if not recorded) and how many are.

        This finds a missing key even where `is_exact` is false.
        """
        query = select(counters.c.value).where(counters.c.name == FILED)
        filed = self._connection.scalar(query)
        return filed, self._connection.scalar(select(func.count()).select_from(all_keys)) or 0

    # Counters and what belongs to no document

    def wrong_counters(self, states: Counter[int], last: int) -> Iterator[Message]:
        """Yield counters that do not agree with the rows."""
        found = {row.name: row.value for row in self._connection.execute(select(counters))}
        about = self._session.meta()
        for name in (*COUNTERS, UNLISTED):
            known = found.get(name, 0 if name == UNLISTED else None)
            fault = counter_fault(name, known)
            if fault is not None:
                yield Message("index.counter_must_be", name=name, expected=fault)
                found[name] = None
        for state, name in enumerate(STATES):
            if found[name] is not None and found[name] != states[state]:
                values = {"expected": states[state], "value": found[name]}
                yield Message("index.counter_is_other", name=name, **values)
        if found["next"] is not None and found["next"] <= last:
            yield Message("index.counter_above", name="next", least=last, value=found["next"])
        if found.get(NEEDS_LOG):
            log = self._engine.database.files()[1]
            if not log.exists() or not log.stat().st_size:
                yield Message("index.copied_without_log", log=log.name)
        arrived = found["arrived"]
        if arrived is not None and arrived < sum(states.values()):
            least = sum(states.values())
            yield Message("index.counter_at_least", name="arrived", least=least, value=arrived)
        recent = self._connection.scalar(select(func.count()).select_from(recent_keys))
        if not isinstance(found.get(RECENT), int) or found[RECENT] < recent:
            yield Message("index.counter_from", name=RECENT, least=recent)
        identity = found.get(IDENTITY)
        if not isinstance(identity, int):
            must = Message("index.whole")
            yield Message("index.counter_must_be", name=IDENTITY, expected=must)
        elif about.get(IDENTITY, str(identity)) != str(identity):
            yield Message("index.identity_in_meta", name=IDENTITY)
        if self._background_fault is not None:
            yield self._background_fault
        if found["background"] is not None and found["background"] != self._version:
            yield Message("index.background_is_missing", number=found["background"])

    def strays(self) -> Iterator[Message]:
        """Yield rows that belong to no document, and documents without their text."""
        other = documents.alias()
        if self._has_texts:
            query = select(other.c.number).select_from(
                other.outerjoin(texts, texts.c.number == other.c.number)
            )
            for number in self._connection.scalars(query.where(texts.c.number.is_(None))):
                what = Message("index.text_is_missing")
                yield Message("index.of_document", number=number, what=what)
        for table in (texts, passages):
            query = select(table.c.number).select_from(
                table.outerjoin(other, table.c.number == other.c.number)
            )
            for number in self._connection.scalars(query.where(other.c.number.is_(None))):
                yield Message("index.belongs_to_no_document", table=table.name, number=number)
        if not self._full:
            return
        query = select(all_keys.c.number, func.count()).select_from(
            all_keys.outerjoin(other, all_keys.c.number == other.c.number)
        )
        query = query.where(other.c.number.is_(None) | (other.c.state != KEPT))
        for number, count in self._connection.execute(query.group_by(all_keys.c.number)):
            shown = f"{number!r:.40}"
            yield Message("index.keys_of_none_kept", number=shown, count=count)

    def wrong_events(self) -> Iterator[Message]:
        """Yield events that cannot be read."""
        for row in self._connection.execute(select(events).order_by(events.c.event)).mappings():
            try:
                sound_event(row, self._engine.location)
            except IndexFormatError:
                yield Message("index.event_cannot_be_read", number=row["event"])


def _without_identity(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for making keys. They do not use the identity, which may be damaged."""
    return {**row, "identity": bytes(16)}


def _is_object(stored: str | None) -> bool:
    if stored is None:
        return True
    try:
        return isinstance(json.loads(stored), dict)
    except (ValueError, RecursionError):
        return False
