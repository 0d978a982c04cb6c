"""Statements on the table of texts, which are compressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
import zstandard

from neardup.base.messages import N_
from neardup.index.schema import documents, texts
from neardup.index.store.rows import make_damage_error
from neardup.index.store.statements import Statements


class Texts(Statements):
    """Statements on texts, and their stored form."""

    @cached_property
    def _unpacker(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()

    def read(self, row: sa.RowMapping) -> str:
        """Return the text of a document, decompressed, and fetched if the row lacks it."""
        number = row["number"]
        if "text" in row:
            packed = row["text"]
        else:
            query = sa.select(texts.c.text).where(texts.c.number == number)
            packed = self.connection.execute(query).scalar_one_or_none()
        if packed is None:
            raise make_damage_error(
                N_(
                    "{location}: must have the text of each document, and has none of document "
                    "{number}. {remedy}"
                ),
                self.location,
                number=number,
            )
        try:
            return self._unpacker.decompress(packed).decode()
        except (zstandard.ZstdError, UnicodeDecodeError, TypeError, MemoryError) as error:
            template = N_(
                "{location}: the text of document {number} is damaged: {reason}. {remedy}"
            )
            reason = str(error)
            raise make_damage_error(
                template, self.location, number=number, reason=reason
            ) from error

    def stream_newest(self, limit: int, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the texts of the newest documents that have features."""
        query = (
            sa.select(texts)
            .select_from(documents.join(texts, texts.c.number == documents.c.number))
            .where(documents.c.features > 0)
            .order_by(documents.c.number.desc())
            .limit(limit)
        )
        return self.stream(query, rows)

    def read_all(self, rows: Sequence[Any]) -> pa.LargeStringArray:
        """Return the texts of rows that have number and compressed text."""
        unpack: Any = self._unpacker.decompress
        try:
            # Strings of Python would be decoded here, only to be encoded again.
            packed = [row["text"] for row in rows]
            column: Any = pa.array(map(unpack, packed), pa.large_binary()).cast(pa.large_string())
            return column  # type: ignore[no-any-return]
        except (zstandard.ZstdError, pa.ArrowInvalid, TypeError, MemoryError):
            # Again one by one: the error names the document.
            return pa.array(map(self.read, rows), pa.large_string())
