"""One transaction on an index: the statements on each of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from neardup.base.messages import N_
from neardup.index.backends import Database
from neardup.index.schema import documents, texts
from neardup.index.store.browsing import Pages
from neardup.index.store.documents import Documents
from neardup.index.store.events import Events
from neardup.index.store.postings import PostingLists
from neardup.index.store.rows import RECENT, Postings, make_damage_error
from neardup.index.store.shingles import Shingles
from neardup.index.store.statistics import Statistics
from neardup.index.store.texts import Texts


class Session:
    """One transaction on an index; its parts have the statements."""

    def __init__(self, connection: sa.Connection, database: Database) -> None:
        self.location = database.location
        self.documents = Documents(connection, database)
        self.texts = Texts(connection, database)
        self.postings = PostingLists(connection, database)
        self.events = Events(connection, database)
        self.statistics = Statistics(connection, database)
        self.pages = Pages(connection, database)
        self.shingles = Shingles(connection, database)

    def insert(
        self,
        columns: Mapping[str, Sequence[Any]],
        packed: Sequence[bytes],
        postings: Postings,
        recent: int,
    ) -> None:
        """Store documents, given as columns, with their compressed texts and postings.

        `recent` is the number of postings in the table of recent keys.
        """
        try:
            self.documents.insert(documents, columns)
            self.texts.insert(texts, {"number": columns["number"], "text": packed})
            change = self.postings.add(postings, recent)
        except IntegrityError as error:
            words = str(error.orig).partition("\n")[0]
            raise make_damage_error(
                N_(
                    "{location}: is damaged, and nothing of this change was stored: its rows "
                    "exist already ({reason}). {remedy}"
                ),
                self.location,
                reason=words,
            ) from error
        self.statistics.count({RECENT: change})
