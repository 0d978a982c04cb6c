"""An open index: its database, its settings, and its deciders."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection

from neardup.base import __version__
from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.exceptions import (
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    InputError,
    NeardupError,
)
from neardup.index.backends import Database, open_database
from neardup.index.decide import Decider, make_corpus, restore
from neardup.index.settings import Settings, check_same, compare_settings, make_settings
from neardup.index.store.rows import make_damage_error
from neardup.index.store.session import Session
from neardup.index.store.statistics import Statistics


class Engine:
    """The state that all operations on one index share."""

    def __init__(self, database: Database, settings: Settings, created: str, workers: int) -> None:
        self.database = database
        self.settings = settings
        #: When the index was created, which tells it from another one.
        self.created = created
        self.rule = settings.rule
        self.workers = workers
        self.location = database.location
        #: Whether opening the index has created it.
        self.is_new = False
        self._lock = threading.Lock()
        self._origin: _core.Corpus | None = None
        self._deciders: dict[int, Decider] = {}

    @property
    def files(self) -> list[str]:
        """The files that every operation reads: of the database and of the recipe."""
        return [*map(str, self.database.files), *self.settings.recipe.files]

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a read transaction, which sees one snapshot of the index."""
        with self.database.reading() as connection:
            yield Session(connection, self.database)

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a write transaction; only one at a time can be open on an index."""
        with self.database.writing() as connection:
            yield Session(connection, self.database)

    def read_counters(self) -> dict[str, int]:
        """Return the counters of the index."""
        with self.reading() as session:
            return session.statistics.read_counters()

    def _make_corpus(self, *, keeps_texts: bool) -> _core.Corpus:
        """Return an empty corpus; all corpora of this index share their threads."""
        with self._lock:
            if self._origin is None:
                self._origin = make_corpus(self.settings, workers=self.workers)
            origin = self._origin
        return origin.emptied(keeps_texts=keeps_texts)

    def sketch(
        self,
        texts: pa.LargeStringArray,
        titles: pa.LargeStringArray | None,
        units: pa.LargeStringArray | None,
    ) -> _core.Corpus:
        """Return sketches and normalized texts; titles tell blank texts apart, or are weighed."""
        corpus = self._make_corpus(keeps_texts=self.rule.keeps_texts)
        corpus.push(texts, titles=titles, units=units)
        return corpus

    def restore(
        self, rows: Sequence[Any], texts: pa.LargeStringArray | None = None
    ) -> _core.Corpus:
        """Return a corpus of stored documents with their stored sketches, and texts if given."""
        keeps_texts = texts is not None and self.rule.keeps_texts
        corpus = self._make_corpus(keeps_texts=keeps_texts)
        restore(corpus, rows, self.location, texts)
        return corpus

    def get_decider(self, session: Session, version: int | None = None) -> Decider:
        """Return the rule with the current background statistics of the index."""
        if version is None:
            version = session.statistics.read_counters()["background"]
        with self._lock:
            known = self._deciders.get(version)
            if known is not None:
                return known
            background = self._read_background(session, version) if version else None
            like = next(iter(self._deciders.values()), None)
            decider = Decider(self.settings, background, like=like)
            # A reader may still use the version before this one.
            latest = max(self._deciders, default=version)
            self._deciders = {
                number: other for number, other in self._deciders.items() if number == latest
            }
            self._deciders[version] = decider
            return decider

    def _read_background(self, session: Session, version: int) -> _core.Background:
        try:
            return _core.Background.from_bytes(session.statistics.read_background(version))
        except InputError as error:
            template = N_("{location}: background {number} is damaged: {reason} {remedy}")
            reason = error.args[0]
            raise make_damage_error(
                template, self.location, number=version, reason=reason
            ) from error


def open_index(
    location: str | Path,
    wanted: Mapping[str, Any],
    *,
    workers: int,
    make_new: bool | None,
) -> Engine:
    """Open an index or create one; `make_new` demands one of the two, None allows both.

    `wanted` has the parameters of `Index` that `Settings` are made from; None where the caller
    gave nothing.
    """
    database = open_database(location, must_exist=make_new is False)
    try:
        # `_create_tables` returns False if another process has just created the index.
        made = not database.exists() and _create_tables(database, make_settings(wanted))
        database.check_schema()
        with database.reading() as connection:
            rows = Statistics(connection, database).read_meta()
        settings = _read_settings(rows, database.location)
        if not made and make_new:
            listed = compare_settings(settings, wanted)
            same = N_(
                "{location}: there is an index already. Name another place, or open that one."
            )
            other = N_(
                "{location}: there is an index already, with other settings: {differences}. Name "
                "another place, or open that one."
            )
            raise IndexUnavailableError(
                Message(
                    other if listed else same,
                    code="index_exists",
                    location=database.location,
                    differences=listed,
                )
            )
        check_same(settings, database.location, wanted)
        engine = Engine(database, settings, rows.get("created", ""), workers)
        engine.is_new = made
        return engine
    except BaseException:
        database.close()
        raise


def _read_settings(rows: dict[str, str], location: str) -> Settings:
    try:
        settings = Settings.from_rows(rows, location)
        # The rule is computed from the settings, so this is where invalid settings show.
        settings.rule.compiled(settings.expected)
        return settings
    except IndexMismatchError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        # Our own errors keep their message with its code.
        reason = error.message if isinstance(error, NeardupError) else str(error)
        raise IndexFormatError(
            Message(
                "{location}: its recipe or its settings are damaged ({reason}). Restore a backup.",
                code="index_damaged",
                location=location,
                reason=reason,
            )
        ) from error


def _create_tables(database: Database, settings: Settings) -> bool:
    """Create the tables of an index with these settings; False if they already exist."""
    now = datetime.now(UTC)

    def fill(connection: Connection) -> None:
        statistics = Statistics(connection, database)
        made = {"created": now.isoformat(), "neardup": __version__}
        statistics.set_meta(settings.to_rows() | made)
        statistics.make_counters()

    # Checks everything that follows from the settings before anything is created.
    Decider(settings)
    return database.create_tables(fill)
