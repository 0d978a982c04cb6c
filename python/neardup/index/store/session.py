"""One transaction with all statements of an index.

A `Session` knows the tables but not how decisions are made. Numbers of documents ascend in the
order of their decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from neardup.base.messages import N_
from neardup.index.schema import documents, passages, texts
from neardup.index.store.bulk import insert_rows
from neardup.index.store.documents import DocumentStatements
from neardup.index.store.postings import PostingStatements
from neardup.index.store.rows import damage

__all__ = ["Session"]


class Session(DocumentStatements, PostingStatements):
    """The statements of one transaction."""

    def insert(
        self,
        columns: Mapping[str, Sequence[Any]],
        packed: Sequence[bytes | None],
        postings: Mapping[str, Sequence[int]],
    ) -> None:
        """Store documents, given as columns, with their compressed texts and postings."""
        there = [
            (number, text)
            for number, text in zip(columns["number"], packed, strict=True)
            if text is not None
        ]
        stored_texts: dict[str, Sequence[Any]] = {
            "number": [number for number, _ in there],
            "text": [text for _, text in there],
        }
        try:
            insert_rows(self.connection, documents, columns)
            insert_rows(self.connection, texts, stored_texts)
            self.add_postings(postings)
        except IntegrityError as error:
            words = str(error.orig).partition("\n")[0]
            raise damage(
                N_(
                    "{location}: rows to be added exist already ({reason}): counters, "
                    "texts or keys are damaged. Nothing of this change was stored. "
                    "{remedy}"
                ),
                self.location,
                reason=words,
            ) from error

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete documents with everything except their postings."""
        if numbers:
            for table in (documents, texts, passages):
                self.run(delete(table).where(self.is_one_of(table.c.number)), numbers)
