"""Reading of tables and files for an index: batches are read, checked and sketched in advance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.base.messages import Message
from neardup.base.prefetch import prefetch
from neardup.base.progress import Progress, share_of
from neardup.exceptions import InputError
from neardup.index.background import FIRST
from neardup.index.engine import Engine
from neardup.index.ingest.first_import import Stored, first_import
from neardup.index.ingest.incoming import Incoming
from neardup.index.ingest.transaction import add_batch, batch_size, has_documents
from neardup.index.results import Added, Match
from neardup.index.values import (
    NUL,
    check_time,
    id_fault,
    json_of,
    lacks_zone,
    plain_text,
    stamp,
    time_fault,
)
from neardup.options.reader_parameters import reader_parameters
from neardup.readers import Batch, Problem, Sources, open_sources, open_table
from neardup.readers.batch import REMEMBERED, place_of, show, strings
from neardup.readers.fields import DEFAULT_ID, as_id
from neardup.readers.tables import TableSource
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.recipe.fit import fit_notes
from neardup.writers.rows import removed_table


def _extra_fields(options: Mapping[str, Any]) -> list[str]:
    """Return the fields to read beside text, title and id."""
    named = [options[name] for name in ("at_field", "source_field") if options[name] is not None]
    return [*named, *options["extra_fields"]]


def open_inputs(inputs: Sequence[str | Path], options: Mapping[str, Any]) -> Sources:
    """Open the files of an addition, with its checked options."""
    return open_sources(inputs, **reader_parameters(options, _extra_fields(options)))


def add_files(engine: Engine, sources: Sources, options: Mapping[str, Any]) -> Added:
    """Add the documents of opened files; see `Index.add_files`."""
    added = _add_source(engine, sources, options, needs_ids=False)
    of_sources = sources.report_to(options["progress"])
    return replace(added, problem_count=added.problem_count + of_sources)


def add_table(engine: Engine, data: Any, options: Mapping[str, Any]) -> Added:
    """Add the documents of a table; see `Index.add_many`."""
    # The column of ids is read as it is, so that one that is missing is noticed.
    fields = [options["id_field"] or DEFAULT_ID, *_extra_fields(options)]
    table = open_table(data, **reader_parameters(options, fields))
    return _add_source(engine, table, options, needs_ids=True)


def _add_source(
    engine: Engine, source: Sources | TableSource, options: Mapping[str, Any], *, needs_ids: bool
) -> Added:
    """Add all documents of a source; reading runs ahead of the store."""
    within: timedelta | None = options["within"]
    progress: Progress = options["progress"]
    at_field, id_field = options["at_field"], options["id_field"] or DEFAULT_ID
    #: Fields without a value in any record so far.
    empty = dict.fromkeys((at_field, options["source_field"], *options["extra_fields"]))
    empty.pop(None, None)
    keep: list[bool] = []
    dropped: list[tuple[str, Match]] = []
    new = already = replaced = problem_count = bytes_read = 0
    has_naive_times = False
    problems: list[Problem] = []
    with engine.reading() as session:
        counters = session.counters()
    is_first = not has_documents(counters)

    def report(new_problems: Sequence[Problem]) -> None:
        nonlocal problem_count
        for problem in new_problems:
            progress.problem(problem)
        problem_count += sum(problem.count for problem in new_problems)
        problems.extend(new_problems[: REMEMBERED - len(problems)])

    def prepared() -> Iterator[Incoming]:
        nonlocal has_naive_times, bytes_read
        size = batch_size(within)
        for batch in source.batches(titles=True):
            bytes_read += batch.bytes_read
            # A list of texts has no fields, and is refused below.
            given = {name: batch.extra.get(name, ()) for name in empty}
            for name in [n for n, values in given.items() if any(v is not None for v in values)]:
                del empty[name]
            if at_field is not None and options["at_zone"] is UTC and not has_naive_times:
                has_naive_times = any(map(lacks_zone, batch.extra.get(at_field, ())))
            incoming = _incoming(engine, batch, options, needs_ids)
            for begin in range(0, max(len(incoming), 1), size):
                part = incoming.part(begin, begin + size)
                _ = part.packed if is_first else part.prepare()
                yield part

    # Closing also ends the reading thread if an error leaves the loop.
    with closing(prefetch(prepared())) as batches:
        progress.stage("read and sketch" if is_first else "add", None, share_of(source))
        if is_first:
            added = first_import(engine, batches, within, report, progress)
        else:
            added = _batch_by_batch(engine, batches, within, report, progress)
        for runs, begin, decisions in added:
            refused = []
            for row, decision in enumerate(decisions):
                if decision is None or decision.problem is not None:
                    keep.append(False)
                    if decision is not None and decision.problem is not None:
                        place = place_of(runs, begin + row)
                        remedy = Message("Replace it with {given[replace=True]}.")
                        refused.append(Problem(*place, id_field, decision.problem, None, remedy))
                    continue
                keep.append(decision.repeats is None)
                new, already = new + decision.new, already + (not decision.new)
                replaced += decision.replaced
                if decision.repeats is not None:
                    dropped.append((decision.id, decision.repeats))
            report(refused)
    if keep:
        for name in empty:
            progress.note(
                Message("No record has a value in the field '{field}'. Check its name.", field=name)
            )
    if has_naive_times:
        progress.note(
            Message(
                "Times without a zone in the field '{field}' are read as UTC. To set "
                "their zone, for example: {given[at_zone='Asia/Shanghai']}",
                field=at_field,
            )
        )
    uncounted = new - (counters["counted_at"] - counters["arrived"])
    if new and dropped and uncounted >= FIRST and engine.settings.counts and not is_first:
        progress.note(
            Message(
                "{new:,} documents were decided with statistics of earlier documents: text that "
                "only the new ones share counted as content, and some may have been dropped "
                "wrongly. To decide all dropped ones again, run: neardup index recount {index}, "
                "and then: neardup index reconsider {index}",
                index=engine.location,
                new=new,
            )
        )
    near = sum(not match.identical for _, match in dropped)
    for note in fit_notes(near, len(keep), bytes_read, engine.rule):
        progress.note(note)
    removed = removed_table(
        [id for id, _ in dropped],
        [match.id for _, match in dropped],
        [match.similarity for _, match in dropped],
        [match.distance for _, match in dropped],
        engine.rule.measure,
    )
    kept = np.array(keep, np.bool_)
    return Added(kept, removed, new, already, problem_count, problems, replaced)


def _batch_by_batch(
    engine: Engine,
    batches: Iterator[Incoming],
    within: timedelta | None,
    report: Callable[[Sequence[Problem]], None],
    progress: Progress,
) -> Iterator[Stored]:
    """Add batches, each in a transaction, to an index that has documents."""
    for batch in batches:
        report(batch.problems)
        yield batch.runs, batch.begin, add_batch(engine, batch, within, progress.advance)
        progress.advance(0, batch.bytes_read)


def _incoming(
    engine: Engine, batch: Batch, options: Mapping[str, Any], needs_ids: bool
) -> Incoming:
    """Return a reader's batch; a row that cannot be stored has a null text and a problem."""
    recipe = engine.settings.recipe
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    titles = batch.titles
    if options["title_from_first_line"]:
        titles = with_first_lines(titles, texts)
    if titles is not None:
        titles = pc.replace_substring(titles, pattern=NUL, replacement=plain_text(NUL))
    #: For each refused row: the field, the first reason, and the value.
    faults: dict[int, tuple[str, Message, Any]] = {}
    ids, id_field = strings(batch.ids), options["id_field"] or DEFAULT_ID
    given = batch.extra.get(id_field) if needs_ids else None
    if needs_ids and given is None:
        raise InputError(
            Message(
                "A list of texts has no ids, and an index needs them. Give dicts with "
                "the fields '{field}' and 'text', or a table.",
                field=id_field,
            )
        )
    for row, id in enumerate(ids):
        if given is not None and as_id(given[row]) != id:
            # The reader found no usable id and used the position instead.
            faults[row] = id_field, Message("must be an id: text or a whole number"), given[row]
        elif (fault := id_fault(id)) is not None:
            faults[row] = id_field, fault, id

    def column(field: str | None, stored: Callable[[Any], Any]) -> list[Any]:
        """Return a field's values in stored form; None for a missing or faulty value."""
        values: list[Any] = [None] * len(batch)
        for row, value in enumerate([] if field is None else batch.extra[field]):
            form = None if value is None else stored(value)
            if field is not None and isinstance(form, Message):
                faults.setdefault(row, (field, form, value))
            else:
                values[row] = form
        return values

    zone, more = options["at_zone"], options["extra_fields"]
    stamps = column(
        options["at_field"],
        lambda value: time_fault(value, zone) or stamp(check_time(value, "at", zone)),
    )
    sources = column(options["source_field"], _stored_text)
    extras: list[str | None] = [None] * len(batch)
    for row in range(len(batch) if more else 0):
        values = {name: batch.extra[name][row] for name in more}
        try:
            extras[row] = json_of({n: value for n, value in values.items() if value is not None})
        except (TypeError, RecursionError) as error:
            reason = Message(
                "must be a value that JSON can represent ({reason})", reason=str(error)
            )
            faults.setdefault(row, (more[0], reason, None))
    if faults:
        refused = pa.array([row in faults for row in range(len(batch))])
        texts = pc.if_else(refused, pa.scalar(None, pa.large_string()), texts)
    refusals = [
        Problem(*place_of(batch.runs, row), field, reason, None if value is None else show(value))
        for row, (field, reason, value) in sorted(faults.items())
    ]
    now = stamp(datetime.now(UTC))
    return Incoming(
        engine,
        ids=["" if row in faults else id for row, id in enumerate(ids)],
        texts=texts,
        units=units,
        titles=titles,
        times=[now if moment is None else moment for moment in stamps],
        sources=sources,
        extras=extras,
        replaces=[options["replace"]] * len(batch),
        problems=problems + refusals,
        runs=batch.runs,
        bytes_read=batch.bytes_read,
    )


def _stored_text(value: Any) -> str | Message:
    """Return a text in stored form, or why it cannot be stored."""
    try:
        return plain_text(value)
    except UnicodeEncodeError:
        return Message("must be Unicode text, without lone surrogates")
