"""Whether an index agrees with itself: rows, texts, sketches, keys, counters.

A check of pages finds what a disk did to the file's own structure. This one finds values that
are well stored and wrong. Documents are read in the order of their numbers; of each, or of a
sample, the text is sketched again and its keys are looked up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import zstandard
from sqlalchemy import func, inspect, select

from neardup import _core
from neardup._engine.ingest import Progress, readable
from neardup._engine.messages import Message
from neardup._engine.recipe_assets import compiled
from neardup.exceptions import IndexFormatError, InputError, NeardupError
from neardup.index.adding import Incoming, sketched
from neardup.index.bulk import values_of, values_table
from neardup.index.decide import Decider
from neardup.index.rows import COUNTERS, counter_fault, document_fault, moment, sound_event
from neardup.index.schema import (
    DROPPED,
    FREED,
    KEPT,
    METADATA,
    STATES,
    all_keys,
    background,
    counters,
    documents,
    events,
    meta,
    passages,
    recent_keys,
    texts,
)
from neardup.index.store import FILED, IDENTITY, RECENT, Session, restore, signed
from neardup.readers import Batch

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from neardup.index.handle import Handle

__all__ = ["Document", "Examination", "check", "stored_background"]

#: Documents read at once, texts among them.
_TOGETHER = 200

#: Documents of a sample, spread evenly.
_SAMPLE = 1000

#: Lines of a report.
_LISTED = 1000


@dataclass
class Document:
    """A stored document, what is wrong with it, and what its text says that it should be."""

    row: dict[str, Any]
    text: str | None = None
    faults: list[Message] = field(default_factory=list)
    #: Of the text, if it can be read: identity, number of features and sketch.
    made: tuple[bytes, int, bytes] | None = None
    #: Whether its keys are to be written again.
    has_wrong_keys: bool = False

    @property
    def number(self) -> int:
        """Its number, which is the key of its row."""
        return int(self.row["number"])

    @property
    def text_is_other(self) -> bool:
        """Whether neither identity nor sketch is that of the text."""
        row, made = self.row, self.made
        return made is not None and row["identity"] != made[0] and row["sketch"] != made[2]


def check(handle: Handle, *, full: bool, progress: Progress) -> list[str]:
    """Return what is damaged, a line each."""
    found = list(handle.database.check())
    more = 0
    try:
        with handle.database.reading() as connection:
            for line in Examination(handle, connection, full=full, progress=progress).lines():
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
    handle: Handle, connection: Connection
) -> tuple[int, _core.Background | None, Message | None]:
    """Return the version of the latest background, what it says, and what is wrong with it."""
    version = connection.execute(select(func.max(background.c.version))).scalar_one_or_none()
    if not version:
        return 0, None, None
    try:
        data = Session(connection, handle.location).background(version)
        return version, _core.Background.from_bytes(data), None
    except (IndexFormatError, InputError):
        return version, None, Message("index.background_cannot_be_read", number=version)


class Examination:
    """One pass through an index, inside a transaction."""

    def __init__(
        self, handle: Handle, connection: Connection, *, full: bool, progress: Progress
    ) -> None:
        self._handle = handle
        self._connection = connection
        self._session = Session(connection, handle.location)
        self._full = full
        self._progress = progress
        version, known, self._background_fault = stored_background(handle, connection)
        self._version = version
        self.decider = Decider(handle.settings, background=known, like=None)
        self._has_texts = handle.settings.store == "text"
        # Which keys a document gets depends on what is common at that moment. Where that
        # changes, or lists are closed, a key may be missing for a good reason.
        self.is_exact = (
            handle.settings.background != "own" and self.decider.filing.max_list_len() is None
        )

    def lines(self) -> Iterator[Message]:
        """Give all that is wrong, as lines."""
        missing = self.missing_tables()
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

    # Tables

    def missing_tables(self) -> list[Message]:
        """Return tables, columns and indexes that are missing."""
        there = inspect(self._connection)
        names = set(there.get_table_names())
        schema = self._schema()
        if schema is not None:
            names = set(there.get_table_names(schema=schema))
        found = []
        for table in METADATA.sorted_tables:
            if table.name not in names:
                found.append(Message("index.table_is_missing", table=table.name))
                continue
            columns = {column["name"] for column in there.get_columns(table.name, schema=schema)}
            found += [
                Message("index.column_is_missing", table=table.name, column=column.name)
                for column in table.c
                if column.name not in columns
            ]
            indexes = {index["name"] for index in there.get_indexes(table.name, schema=schema)}
            found += [
                Message("index.index_is_missing", index=index.name)
                for index in sorted(table.indexes, key=lambda index: str(index.name))
                if index.name not in indexes
            ]
        return found

    def _schema(self) -> str | None:
        if self._connection.dialect.name == "sqlite":
            return None
        found = self._connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        return None if found is None else str(found)

    # Documents

    def documents(self) -> Iterator[list[Document]]:
        """Give all documents with what is wrong with them, some at a time."""
        count = self._connection.execute(select(func.count()).select_from(documents)).scalar_one()
        step = 1 if self._full else max(1, count // _SAMPLE)
        totals = self._key_counts() if self._full and self.decider.filing.has_keys() else None
        after, at = 0, 0
        self._progress.stage("check", count)
        while some := self.page(after, at=at, step=step):
            if totals is not None:
                self._compare_counts(some, totals)
            at += len(some)
            after = some[-1].number
            self._progress.advance(len(some))
            yield some

    def page(self, after: int, *, at: int = 0, step: int = 1) -> list[Document]:
        """Return the next documents, every `step`-th with text, sketch and keys compared."""
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
                document.faults.append(Message("index.field_must_be", field=column, expected=must))
                continue
            reasons = [row[name] for name in ("kept_number", "similarity", "reason")]
            keeper = keepers.get(row["kept_number"])
            if row["state"] == KEPT and reasons != [None, None, None]:
                document.faults.append(Message("index.kept_like_dropped"))
            elif row["state"] == DROPPED and (
                keeper != KEPT or row["kept_number"] >= document.number
            ):
                kept = row["kept_number"]
                document.faults.append(Message("index.dropped_for_not_kept", kept=kept))
            elif row["state"] == FREED and (
                None in reasons or keeper is not None or row["kept_number"] >= document.number
            ):
                document.faults.append(Message("index.freed_for_there"))
            if not _is_object(row["extra"]):
                must = Message("index.json_object")
                document.faults.append(Message("index.field_must_be", field="extra", expected=must))

    def _states(self, numbers: Sequence[int]) -> dict[int, int]:
        if not numbers:
            return {}
        dialect = self._connection.dialect.name
        chosen = select(values_table(dialect).c.value)
        query = select(documents.c.number, documents.c.state).where(documents.c.number.in_(chosen))
        rows = self._connection.execute(query, values_of(dialect, sorted(numbers)))
        return {row[0]: row[1] for row in rows}

    def _read_texts(self, some: Sequence[Document]) -> None:
        dialect = self._connection.dialect.name
        chosen = select(values_table(dialect).c.value)
        query = select(texts).where(texts.c.number.in_(chosen))
        numbers = [document.number for document in some]
        rows = self._connection.execute(query, values_of(dialect, numbers))
        packed = {row[0]: row[1] for row in rows}
        unpacker = zstandard.ZstdDecompressor()
        for document in some:
            # Documents without entries are counted, all of them: see `strays`.
            if document.number not in packed:
                continue
            try:
                document.text = unpacker.decompress(packed[document.number]).decode()
            except (zstandard.ZstdError, UnicodeDecodeError, TypeError, MemoryError):
                document.faults.append(Message("index.text_cannot_be_read"))

    def _sketch_again(self, some: Sequence[Document]) -> None:
        if not some:
            return
        recipe = self._handle.settings.recipe
        given = pa.array([document.text for document in some], pa.large_string())
        batch = Batch(0, given, [""] * len(some))
        sketchable, units, _ = readable(batch, recipe, compiled(recipe))
        titles = [document.row["title"] for document in some]
        titles = [title if isinstance(title, str) else None for title in titles]
        none: list[None] = [None] * len(some)
        coming = Incoming(
            [""] * len(some),
            sketchable,
            units,
            pa.array(titles, pa.large_string()),
            [moment(0)] * len(some),
            none,
            none,
        )
        corpus = sketched(self._handle, coming)
        made = zip(corpus.identities(), corpus.features().tolist(), corpus.sketches(), strict=True)
        for document, (identity, features, sketch) in zip(some, made, strict=True):
            document.made = (identity, features, sketch)
            row = document.row
            if document.text_is_other:
                document.faults.append(Message("index.text_is_another"))
                continue
            for name, value in zip(("identity", "features", "sketch"), document.made, strict=True):
                if row[name] != value:
                    document.faults.append(Message("index.field_is_not_of_text", field=name))

    # Keys

    def _check_keys(self, some: Sequence[Document]) -> None:
        filing = self.decider.filing
        kept = [one for one in some if one.row["state"] == KEPT and self._has_sketch(one)]
        if not kept or not filing.has_keys():
            return
        corpus = self._handle.origin.emptied(keeps_texts=False)
        # Keys do not depend on the identity, which may be damaged.
        rows: Any = [{**document.row, "identity": bytes(16)} for document in kept]
        restore(corpus, rows, self._handle.location)
        may_have = [set(map(signed, filing.keys_of(corpus, at))) for at in range(len(kept))]
        looked_up = np.array(sorted(set().union(*may_have)), np.int64).view(np.uint64)
        try:
            found = self._session.entries(looked_up)
        except IndexFormatError as error:
            # Which of them it is does not matter: the keys of all are made again.
            following, reason = len(kept) - 1, error.args[0]
            kept[0].faults.append(
                Message("index.or_one_of_next", following=following, reason=reason)
            )
            for document in kept:
                document.has_wrong_keys = True
            return
        there: dict[int, dict[int, int]] = {document.number: {} for document in kept}
        columns = (found.keys.tolist(), found.numbers.tolist(), found.shares.tolist())
        for key, number, share in zip(*columns, strict=True):
            if number in there:
                there[number][key] = share
        expected: list[dict[int, int]] = [{} for _ in kept]
        entries = self.decider.entries(corpus)
        for key, at, share in zip(entries.keys, entries.rows, entries.shares, strict=True):
            expected[at][key] = share
        for at, document in enumerate(kept):
            own = {
                key: share for key, share in there[document.number].items() if key in may_have[at]
            }
            document.row["keys"] = len(own)
            if own != expected[at] if self.is_exact else bool(expected[at]) and not own:
                document.faults.append(Message("index.keys_missing_or_wrong"))
                document.has_wrong_keys = True

    def _has_sketch(self, document: Document) -> bool:
        """Return whether the stored sketch is of the form that the recipe makes."""
        row = document.row
        if document.made is not None:
            return bool(row["sketch"] == document.made[2] and row["features"] == document.made[1])
        corpus = self._handle.origin.emptied(keeps_texts=False)
        try:
            rows: Any = [{**row, "identity": bytes(16)}]
            restore(corpus, rows, self._handle.location)
        except (NeardupError, TypeError, ValueError, OverflowError):
            if not document.faults:
                document.faults.append(Message("index.sketch_is_not_of_recipe"))
            return False
        return True

    def _key_counts(self) -> Iterator[tuple[Any, int]]:
        number = all_keys.c.number
        query = select(number, func.count()).group_by(number).order_by(number)
        rows = self._connection.execute(query, execution_options={"yield_per": 10_000})
        return ((row[0], row[1]) for row in rows)

    def _compare_counts(self, some: Sequence[Document], totals: Iterator[tuple[Any, int]]) -> None:
        """Find keys that are not of the sketch; both come in the order of numbers."""
        counts = self.__dict__.setdefault("_counts", {})
        last = some[-1].number
        while not counts or max(counts) < last:
            following = next(totals, None)
            if following is None:
                break
            if isinstance(following[0], int):
                counts[following[0]] = following[1]
        for document in some:
            total = counts.pop(document.number, 0)
            if "keys" in document.row and total != document.row["keys"]:
                document.faults.append(Message("index.keys_not_of_sketch"))
                document.has_wrong_keys = True
        for number in [number for number in counts if number <= last]:
            # Of no document: see `strays`.
            del counts[number]

    def key_count(self) -> tuple[Any, int]:
        """Return how many keys were stored, None if that was not counted, and how many are there.

        This finds a key that may be missing for a good reason, and for none is.
        """
        query = select(counters.c.value).where(counters.c.name == FILED)
        filed = self._connection.execute(query).scalar_one_or_none()
        count = select(func.count()).select_from(all_keys)
        return filed, self._connection.execute(count).scalar_one()

    # Counters and what belongs to no document

    def wrong_counters(self, states: Counter[int], last: int) -> Iterator[Message]:
        """Give counters that do not agree with the rows."""
        found = {row.name: row.value for row in self._connection.execute(select(counters))}
        about = {row.name: row.value for row in self._connection.execute(select(meta))}
        for name in COUNTERS:
            fault = counter_fault(name, found.get(name))
            if fault is not None:
                yield Message("index.counter_must_be", name=name, expected=fault)
                found[name] = None
        for state, name in enumerate(STATES):
            if found[name] is not None and found[name] != states[state]:
                values = {"expected": states[state], "value": found[name]}
                yield Message("index.counter_is_other", name=name, **values)
        if found["next"] is not None and found["next"] <= last:
            yield Message("index.counter_above", name="next", least=last, value=found["next"])
        arrived, counted_at = found["arrived"], found["counted_at"]
        if arrived is not None and counted_at is not None and counted_at > arrived:
            values = {"most": arrived, "value": counted_at}
            yield Message("index.counter_at_most", name="counted_at", **values)
        if arrived is not None and arrived < sum(states.values()):
            least = sum(states.values())
            yield Message("index.counter_at_least", name="arrived", least=least, value=arrived)
        recent = self._connection.execute(
            select(func.count()).select_from(recent_keys)
        ).scalar_one()
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
        """Give rows that belong to no document, and documents without their text."""
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
        """Give events that cannot be read."""
        for row in self._connection.execute(select(events).order_by(events.c.event)).mappings():
            try:
                sound_event(row, self._handle.location)
            except IndexFormatError:
                yield Message("index.event_cannot_be_read", number=row["event"])


def _is_object(stored: str | None) -> bool:
    if stored is None:
        return True
    try:
        return isinstance(json.loads(stored), dict)
    except (ValueError, RecursionError):
        return False
