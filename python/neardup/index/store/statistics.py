"""Statements on what is known of an index as a whole: settings, counters, background."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
import zstandard

from neardup.base.messages import N_
from neardup.index.schema import background, counters, meta
from neardup.index.store.rows import COUNTERS, make_damage_error, make_packer
from neardup.index.store.statements import Statements
from neardup.index.values import stamp

# Built once, as the statements on documents.
_COUNTERS = sa.select(counters)
_CHANGE = (
    sa.update(counters)
    .where(counters.c.name == sa.bindparam("of"))
    .values(value=counters.c.value + sa.bindparam("change"))
)


class Statistics(Statements):
    """Statements on settings, counters and background statistics."""

    def read_meta(self) -> dict[str, str]:
        """Return recipe and other settings, by name."""
        return {row.name: row.value for row in self.connection.execute(sa.select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store recipe and other settings, by name; replace those that are there."""
        self.connection.execute(meta.delete().where(meta.c.name.in_(rows)))
        self.insert(meta, {"name": list(rows), "value": list(rows.values())})

    def read_counters(self) -> dict[str, int]:
        """Return the counters, by name."""
        values: dict[str, int] = {row[0]: row[1] for row in self.connection.execute(_COUNTERS)}
        for name in COUNTERS:
            if not isinstance(values.get(name), int):
                template = N_("{location}: counter '{name}' is damaged. {remedy}")
                raise make_damage_error(template, self.location, name=name)
        return values

    def make_counters(self) -> None:
        """Create the counters of an empty index."""
        values = {**dict.fromkeys(COUNTERS, 0), "next": 1}
        self.insert(counters, {"name": list(values), "value": list(values.values())})

    def count(self, changes: dict[str, int]) -> None:
        """Add changes to the counters."""
        for name, change in changes.items():
            if change:
                self.connection.execute(_CHANGE, {"change": change, "of": name})

    def read_background(self, version: int) -> bytes:
        """Return stored background statistics, decompressed."""
        query = sa.select(background.c.data).where(background.c.version == version)
        packed = self.connection.execute(query).scalar_one_or_none()
        try:
            return zstandard.decompress(packed or b"")
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            template = N_("{location}: background {number} is damaged: {reason}. {remedy}")
            reason = str(error)
            raise make_damage_error(
                template, self.location, number=version, reason=reason
            ) from error

    def set_background(self, version: int, data: bytes) -> None:
        """Store background statistics of now, replacing all earlier versions."""
        self.connection.execute(sa.delete(background))
        row = {
            "version": version,
            "at": stamp(datetime.now(UTC)),
            "data": make_packer().compress(data),
        }
        self.connection.execute(background.insert(), row)
