"""The documents of an index, and its decisions, as records for people and programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.base.progress import Progress
from neardup.index.store.rows import parse_extra
from neardup.index.values import IDENTICAL, KEPT, convert_stamp
from neardup.writers.cells import format_plain, write_jsonl
from neardup.writers.output import Output
from neardup.writers.rows import removed_schema, write_rows

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: Rows fetched at once. Few, because texts may be long.
_TOGETHER = 200


_TIME = pa.timestamp("us", tz="UTC")

#: Columns of the file of decisions.
_DECISIONS = removed_schema(("reason", "at"))

#: The first columns of the records; further fields follow.
_FIRST: dict[str, pa.DataType] = {
    **dict.fromkeys(("id", "text", "title", "source"), pa.large_string()),
    "at": _TIME,
}
_TAKEN = re.compile(f"(extra_)*({'|'.join(_FIRST)})")

#: Column types by the set of Python types that occur; any other set is written as text.
_TYPES: dict[frozenset[type], pa.DataType] = {
    frozenset({bool}): pa.bool_(),
    frozenset({int}): pa.int64(),
    frozenset({float}): pa.float64(),
    frozenset({int, float}): pa.float64(),
}


def write_records(
    engine: Engine, outputs: Mapping[str, Output], progress: Progress, *, include_removed: bool
) -> int:
    """Write documents and `decisions` from one snapshot; return the number of documents.

    The documents are the kept ones, or all if `include_removed`, in the order of their decisions.
    """
    state = None if include_removed else KEPT
    with engine.reading() as session:
        progress.stage("export", None)
        count = _write_documents(session, outputs["output"], state, progress)
        if "decisions" in outputs:
            write_rows(
                outputs["decisions"], _read_decisions(session, engine.rule.measure), _DECISIONS
            )
    return count


def _write_documents(
    session: Session, output: Output, state: int | None, progress: Progress
) -> int:
    if output.format == "jsonl":
        count = 0
        for records in _read_records(session, state):
            output.write(write_jsonl(records))
            count += len(records)
            progress.advance(len(records))
        return count
    # A table needs its columns before the first row is written.
    more = _find_columns(session, state)
    schema = pa.schema(_FIRST | more)

    def rows() -> Iterator[dict[str, Any]]:
        for records in _read_records(session, state):
            progress.advance(len(records))
            for record in records:
                for name, kind in more.items():
                    value = record.get(name)
                    if value is not None and kind == pa.large_string():
                        record[name] = format_plain(value)
                    elif value is not None and kind == pa.float64():
                        record[name] = float(value)
                yield record

    return write_rows(output, rows(), schema)


def _read_records(session: Session, state: int | None) -> Iterator[list[dict[str, Any]]]:
    for rows in session.documents.stream_with_texts(state, _TOGETHER):
        records = []
        for row in rows:
            record: dict[str, Any] = {
                "id": row["id"],
                "text": session.texts.read(row),
                "title": row["title"],
                "source": row["source"],
                "at": convert_stamp(row["at"]),
            }
            record.update((_rename_field(name), value) for name, value in parse_extra(row).items())
            records.append(record)
        yield records


def _rename_field(name: str) -> str:
    """Return the column name of a further field, changed if it equals one of the first columns."""
    return f"extra_{name}" if _TAKEN.fullmatch(name) else name


def _find_columns(session: Session, state: int | None) -> dict[str, pa.DataType]:
    """Return the columns of further fields, in the order in which they first occur."""
    kinds: dict[str, set[type]] = {}
    for rows in session.documents.stream_extras(state, _TOGETHER):
        for row in rows:
            for name, value in parse_extra(row).items():
                types = kinds.setdefault(_rename_field(name), set())
                if value is not None:
                    is_large = type(value) is int and not -(1 << 63) <= value < 1 << 63
                    types.add(str if is_large else type(value))
    return {name: _TYPES.get(frozenset(types), pa.large_string()) for name, types in kinds.items()}


def _read_decisions(session: Session, measure: str) -> Iterator[dict[str, Any]]:
    for rows in session.documents.stream_dropped(_TOGETHER):
        for row in rows:
            yield {
                "id": row["id"],
                "kept_id": row["kept_id"],
                "similarity": row["similarity"],
                "measure": measure,
                "distance": row["distance"],
                "reason": "identical" if row["reason"] == IDENTICAL else "similar",
                "at": convert_stamp(row["at"]),
            }
