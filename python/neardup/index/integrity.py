"""Whether an index is sound: its database, its counters, and a sample of its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.results import NewDocument
from neardup.index.store.rows import make_damage_error
from neardup.index.values import STATES

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

#: Size of the sample, spread evenly over all documents, and documents read at once.
_SAMPLE, _TOGETHER = 1000, 200

_SKETCHED = ("identity", "features", "sketch")


def check(engine: Engine, progress: Progress) -> None:
    """Raise if the index is damaged."""
    fault = engine.database.check()
    if fault is not None:
        raise _make_damage_error(engine, fault)
    with engine.reading() as session:
        numbers = session.documents.list_numbers().tolist()
        _check_counters(engine, session, max(numbers, default=0))
        # Raises if the background statistics are damaged.
        engine.get_decider(session)
        sample = numbers[:: max(1, len(numbers) // _SAMPLE)]
        progress.stage("check", len(sample))
        for begin in range(0, len(sample), _TOGETHER):
            _check_sketches(engine, session, sample[begin : begin + _TOGETHER])
            progress.advance(len(sample[begin : begin + _TOGETHER]))


def _make_damage_error(engine: Engine, fault: Message) -> IndexFormatError:
    return make_damage_error(
        N_("{location}: is damaged: {fault}. {remedy}"), engine.location, fault=fault
    )


def _check_counters(engine: Engine, session: Session, last: int) -> None:
    counters = session.statistics.read_counters()
    rows = session.documents.count_states()
    expected = {name: rows.get(state, 0) for state, name in enumerate(STATES)}
    for name, count in expected.items():
        if counters[name] != count:
            raise _make_damage_error(
                engine,
                Message(
                    "counter '{name}' must be {expected:,}, and is {value:,}",
                    name=name,
                    expected=count,
                    value=counters[name],
                ),
            )
    if counters["next"] <= last:
        raise _make_damage_error(
            engine,
            Message(
                "counter '{name}' must be more than {least:,}, and is {value:,}",
                name="next",
                least=last,
                value=counters["next"],
            ),
        )


def _check_sketches(engine: Engine, session: Session, numbers: list[int]) -> None:
    """Sketch the texts of some documents again, and compare."""
    rows = session.documents.read_with_texts(numbers)
    documents = [NewDocument("-", session.texts.read(row), row["title"]) for row in rows]
    again = IncomingBatch.from_documents(engine, documents)
    again.check()
    columns = zip(*again.sketches, strict=True)
    for row, made in zip(rows, columns, strict=True):
        for name, value in zip(_SKETCHED, made, strict=True):
            if row[name] != value:
                raise _make_damage_error(
                    engine,
                    Message(
                        "'{field}' of document {number} does not match its text",
                        field=name,
                        number=row["number"],
                    ),
                )
