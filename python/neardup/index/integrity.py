"""Whether an index is sound: its database, its counters, and a sample of its documents."""

from __future__ import annotations

from sqlalchemy import func, select

from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError
from neardup.index.engine import Engine
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.results import NewDocument
from neardup.index.schema import documents, documents_with_texts
from neardup.index.store.rows import damage
from neardup.index.store.session import Session
from neardup.index.values import STATES

#: Size of the sample, spread evenly over all documents, and documents read at once.
_SAMPLE, _TOGETHER = 1000, 200

_SKETCHED = ("identity", "features", "sketch")


def check(engine: Engine, progress: Progress) -> None:
    """Raise if the index is damaged."""
    fault = engine.database.check()
    if fault is not None:
        raise _damaged(engine, fault)
    with engine.reading() as session:
        _check_counters(engine, session)
        # Raises if the background statistics are damaged.
        engine.decider(session)
        query = select(documents.c.number).order_by(documents.c.number)
        numbers = list(session.connection.scalars(query))
        sample = numbers[:: max(1, len(numbers) // _SAMPLE)]
        progress.stage("check", len(sample))
        for begin in range(0, len(sample), _TOGETHER):
            _check_sketches(engine, session, sample[begin : begin + _TOGETHER])
            progress.advance(len(sample[begin : begin + _TOGETHER]))


def _damaged(engine: Engine, fault: Message) -> IndexFormatError:
    return damage(N_("{location}: is damaged: {fault}. {remedy}"), engine.location, fault=fault)


def _check_counters(engine: Engine, session: Session) -> None:
    counters = session.counters()
    query = select(documents.c.state, func.count()).group_by(documents.c.state)
    rows = {row[0]: row[1] for row in session.connection.execute(query)}
    expected = {name: rows.get(state, 0) for state, name in enumerate(STATES)}
    for name, count in expected.items():
        if counters[name] != count:
            raise _damaged(
                engine,
                Message(
                    "counter '{name}' must be {expected:,}, and is {value:,}",
                    name=name,
                    expected=count,
                    value=counters[name],
                ),
            )
    last = session.connection.scalar(select(func.max(documents.c.number))) or 0
    if counters["next"] <= last:
        raise _damaged(
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
    query = documents_with_texts.where(session.is_one_of(documents.c.number))
    rows = session.run(query.order_by(documents.c.number), numbers).mappings().all()
    given = [NewDocument("-", session.text(row), row["title"]) for row in rows]
    again = IncomingBatch.of(engine, given)
    again.check()
    columns = zip(*again.sketches, strict=True)
    for row, made in zip(rows, columns, strict=True):
        for name, value in zip(_SKETCHED, made, strict=True):
            if row[name] != value:
                raise _damaged(
                    engine,
                    Message(
                        "'{field}' of document {number} does not match its text",
                        field=name,
                        number=row["number"],
                    ),
                )
