"""Documents into the index: one, or many a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import _core
from neardup._engine.messages import Message
from neardup.index.background import burst_end, next_count, recount
from neardup.index.decide import Decided, NewEntries
from neardup.index.results import Match
from neardup.index.schema import DROPPED, FREED, IDENTICAL, KEPT, SIMILAR
from neardup.index.store import NewDocuments, Session, packer, stamp
from neardup.index.values import earlier
from neardup.readers.batch import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine

__all__ = [
    "BATCH",
    "Adding",
    "Incoming",
    "Outcome",
    "Prepared",
    "prepared",
    "sketched",
]

#: Documents that one transaction adds, at most.
BATCH = _core.MAX_BATCH


@dataclass
class Incoming:
    """Documents on their way in; all columns have one length.

    `texts` holds nulls for what cannot be read, `units` those of a callable segmenter.
    """

    ids: Sequence[str]
    texts: pa.LargeStringArray
    units: pa.LargeStringArray | None
    titles: pa.LargeStringArray | None
    at: Sequence[datetime]
    sources: Sequence[str | None]
    extras: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, begin: int, end: int | None = None) -> Incoming:
        """Return some of the rows."""
        rows = slice(begin, end)
        return Incoming(
            self.ids[rows],
            self.texts[rows],
            None if self.units is None else self.units[rows],
            None if self.titles is None else self.titles[rows],
            self.at[rows],
            self.sources[rows],
            self.extras[rows],
        )


@dataclass
class Outcome:
    """What became of documents; all lists have one length.

    `matches` says for each what it repeats, `is_there` whether it is in the index now,
    `is_new` whether it was not before, and `refused` why it is not.
    """

    matches: list[Match | None] = field(default_factory=list)
    is_there: list[bool] = field(default_factory=list)
    is_new: list[bool] = field(default_factory=list)
    refused: list[Message | None] = field(default_factory=list)
    already: int = 0


@dataclass(frozen=True)
class Prepared:
    """What needs no look at the store: a corpus of the batch, and columns to be stored."""

    corpus: _core.Corpus
    packed: list[bytes | None]
    identities: list[bytes]
    sketches: list[bytes]
    #: -1 for what cannot be read.
    features: list[int]

    @classmethod
    def of(cls, corpus: _core.Corpus, packed: list[bytes | None]) -> Prepared:
        """Return a batch with what its corpus says of the documents."""
        return cls(
            corpus, packed, corpus.identities(), corpus.sketches(), corpus.features().tolist()
        )


def prepared(engine: Engine, coming: Incoming) -> Prepared:
    """Sketch and pack a batch."""
    packed: list[bytes | None] = [None] * len(coming)
    if engine.settings.store == "text":
        pack = packer()
        texts: list[Any] = coming.texts.cast(pa.large_binary()).to_pylist()
        packed = [None if text is None else pack(text) for text in texts]
    return Prepared.of(sketched(engine, coming), packed)


def sketched(engine: Engine, coming: Incoming) -> _core.Corpus:
    """Return the sketches and normalized texts of a batch."""
    corpus = engine.origin.emptied(keeps_texts=engine.rule.keeps_texts)
    uses_titles = engine.settings.recipe.weigh.scheme == "improved"
    corpus.push(coming.texts, titles=coming.titles if uses_titles else None, units=coming.units)
    return corpus


class Adding:
    """Adds batches to an open index."""

    def __init__(self, engine: Engine, *, within: timedelta | None = None) -> None:
        self._engine = engine
        self._within = within
        #: Rows of a batch that is handed to :meth:`add` at once.
        self.together = BATCH if within is None else 1

    def add(self, coming: Incoming, ready: Prepared | None, outcome: Outcome) -> None:
        """Decide and store a batch of at most :attr:`together` rows, in order.

        `ready` is what :func:`prepared` made of it, if it was made ahead. One
        transaction, or two where what is common is counted again in between.
        """
        while len(coming):
            ready = prepared(self._engine, coming) if ready is None else ready
            done = self._transaction(coming, ready, outcome)
            coming, ready = coming.part(done), None

    def _transaction(self, coming: Incoming, ready: Prepared, outcome: Outcome) -> int:
        """Store the first rows of a batch, and return how many."""
        engine = self._engine
        # Nothing that was said of rows of a transaction that fails is to stay.
        part = Outcome()
        with engine.writing() as session:
            counters = session.counters()
            sorted_out = _SortedOut.of(session, coming, ready)
            todo, end, is_due = self._until_count(sorted_out.new, counters, len(coming))
            not_before = None
            if self._within is not None:
                not_before = earlier(stamp(coming.at[0]), self._within)
            decider = engine.decider(session, counters["background"])
            found, entries = decider.decide(session, ready.corpus, todo, not_before=not_before)
            until = self._until_burst(counters, found)
            if until is not None:
                todo, found = todo[:until], found[:until]
                end, entries = todo[-1] + 1, entries.of_rows(set(todo))
            freed = {row: sorted_out.freed[row] for row in todo if row in sorted_out.freed}
            session.delete([there["number"] for there in freed.values()])
            matches = self._write(session, counters, coming, ready, todo, found, entries)
            alike = sum(match is not None and not match.identical for match in matches)
            session.add_to_counters(
                {"arrived": len(todo) - len(freed), "freed": -len(freed), "similar": alike}
            )
            happened: list[tuple[int | None, str | None, dict[str, Any]]] = [
                (None, coming.ids[row], {}) for row in freed
            ]
            session.log("reconsidered", datetime.now(UTC), happened)
            if is_due or until is not None:
                recount(session, engine.settings, workers=engine.workers)
                bursts = -counters["bursts"] if until is None else 1
                session.add_to_counters({"similar": -counters["similar"] - alike, "bursts": bursts})
            decided = dict(zip(todo, matches, strict=True))
            sorted_out.tell(session, engine.rule.measure, end, decided, part)
        outcome.matches += part.matches
        outcome.is_there += part.is_there
        outcome.is_new += part.is_new
        outcome.refused += part.refused
        outcome.already += part.already
        return end

    def store(
        self,
        session: Session,
        counters: dict[str, int],
        coming: Incoming,
        ready: Prepared,
        todo: list[int],
    ) -> list[Match | None]:
        """Decide some rows and store them, with new numbers."""
        decider = self._engine.decider(session, counters["background"])
        found, entries = decider.decide(session, ready.corpus, todo)
        return self._write(session, counters, coming, ready, todo, found, entries)

    def keep(self, session: Session, coming: Incoming, ready: Prepared) -> None:
        """Store documents as kept, with new numbers, whatever they repeat."""
        counters = session.counters()
        entries = self._engine.decider(session, counters["background"]).entries(ready.corpus)
        todo = list(range(len(coming)))
        self._write(session, counters, coming, ready, todo, [None] * len(todo), entries)

    def _write(
        self,
        session: Session,
        counters: dict[str, int],
        coming: Incoming,
        ready: Prepared,
        todo: list[int],
        decided: list[Decided | None],
        entries: NewEntries,
    ) -> list[Match | None]:
        matches = self._matches(coming, decided)
        numbers = {row: counters["next"] + at for at, row in enumerate(todo)}
        rows = NewDocuments(
            number=list(numbers.values()),
            id=[coming.ids[row] for row in todo],
            state=[KEPT if match is None else DROPPED for match in matches],
            at=[stamp(coming.at[row]) for row in todo],
            source=[coming.sources[row] for row in todo],
            title=[_cell(coming.titles, row) for row in todo],
            extra=[coming.extras[row] for row in todo],
            identity=[ready.identities[row] for row in todo],
            features=[ready.features[row] for row in todo],
            sketch=[ready.sketches[row] for row in todo],
            kept_number=[_kept_number(one, numbers) for one in decided],
            similarity=[None if match is None else match.similarity for match in matches],
            distance=[None if match is None else match.distance for match in matches],
            reason=[_reason(match) for match in matches],
        )
        packed = [ready.packed[row] for row in todo]
        session.delete_entries(entries.replaced)
        session.insert(rows, packed, _columns(entries, numbers))
        kept = sum(match is None for match in matches)
        session.add_to_counters({"next": len(todo), "kept": kept, "dropped": len(todo) - kept})
        return matches

    def _until_count(
        self, new: list[int], counters: dict[str, int], count: int
    ) -> tuple[list[int], int, bool]:
        """Return the new rows before the next count, where they end, and if it is due."""
        if self._engine.settings.background != "own" or not new:
            return new, count, False
        # An export that was edited may be past the moment: then it is due with the next document.
        left = max(1, next_count(counters["counted_at"]) - counters["arrived"])
        if len(new) < left:
            return new, count, False
        todo = new[:left]
        return todo, todo[-1] + 1, True

    def _until_burst(self, counters: dict[str, int], found: Sequence[Decided | None]) -> int | None:
        """Return after how many new documents it is counted because of a burst of drops."""
        if self._engine.settings.background != "own" or not self._engine.rule.common:
            return None
        return burst_end(counters, [one is not None and not one.identical for one in found])

    def _matches(self, coming: Incoming, decided: list[Decided | None]) -> list[Match | None]:
        measure = self._engine.rule.measure
        matches: list[Match | None] = []
        for one in decided:
            if one is None:
                matches.append(None)
                continue
            kept = one.kept[1] if one.kept is not None else coming.ids[one.kept_row or 0]
            matches.append(Match(kept, one.similarity, measure, one.distance, one.identical))
        return matches


@dataclass
class _SortedOut:
    """The rows of a batch: new ones, those that are there already, those that cannot be."""

    new: list[int]
    #: Rows that are there with the same text, by the row or stored document they repeat.
    again: dict[int, int | RowMapping]
    #: Stored documents that are to be decided again, by row.
    freed: dict[int, RowMapping]
    refused: dict[int, Message | None]

    @classmethod
    def of(cls, session: Session, coming: Incoming, ready: Prepared) -> _SortedOut:
        stored = session.by_ids(coming.ids)
        identities = ready.identities
        sorted_out = cls([], {}, {}, {})
        rows: dict[str, int] = {}
        for row, id in enumerate(coming.ids):
            if ready.features[row] < 0:
                # The reader has said why.
                sorted_out.refused[row] = None
                continue
            there = stored.get(id)
            earlier = rows.get(id)
            if earlier is not None:
                if identities[earlier] == identities[row]:
                    sorted_out.again[row] = earlier
                else:
                    sorted_out.refused[row] = _other_text(id)
            elif there is None:
                rows[id] = row
                sorted_out.new.append(row)
            elif there["identity"] != identities[row]:
                sorted_out.refused[row] = _other_text(id)
            elif there["state"] == FREED:
                rows[id] = row
                sorted_out.new.append(row)
                sorted_out.freed[row] = there
            else:
                sorted_out.again[row] = there
        return sorted_out

    def tell(
        self,
        session: Session,
        measure: str,
        end: int,
        decided: dict[int, Match | None],
        outcome: Outcome,
    ) -> None:
        """Write down what became of the rows before `end`."""
        stored = [there for there in self.again.values() if not isinstance(there, int)]
        known = session.matches(stored, measure)
        for row in range(end):
            match = None
            there = self.again.get(row)
            if isinstance(there, int):
                match = decided[there]
            elif there is not None:
                match = known[there["number"]]
            else:
                match = decided.get(row)
            outcome.already += there is not None
            outcome.matches.append(match)
            outcome.is_there.append(row not in self.refused)
            outcome.is_new.append(row in decided)
            outcome.refused.append(self.refused.get(row))


def _other_text(id: str) -> Message:
    return Message("index.id_is_taken", id=show(id))


def _cell(column: pa.LargeStringArray | None, row: int) -> str | None:
    return None if column is None else column[row].as_py()


def _reason(match: Match | None) -> int | None:
    if match is None:
        return None
    return IDENTICAL if match.identical else SIMILAR


def _kept_number(one: Decided | None, numbers_of: dict[int, int]) -> int | None:
    if one is None:
        return None
    return one.kept[0] if one.kept is not None else numbers_of[one.kept_row or 0]


def _columns(entries: NewEntries, numbers_of: dict[int, int]) -> dict[str, list[int]]:
    return {
        "key": entries.keys,
        "number": [numbers_of[row] for row in entries.rows],
        "share": entries.shares,
    }
