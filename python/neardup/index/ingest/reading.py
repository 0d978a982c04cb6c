"""Reading of tables and files for an index: batches are read, checked and sketched in advance."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.base.messages import Message
from neardup.base.prefetch import prefetch
from neardup.base.progress import Clock, Progress, peak_memory, share_of
from neardup.base.report import report_bytes
from neardup.base.validation import paths_of
from neardup.exceptions import InputError
from neardup.index.background import FIRST
from neardup.index.ingest.first_import import Stored, import_first_documents
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.ingest.transaction import add_batch, choose_batch_size, has_documents
from neardup.index.query import read_stats
from neardup.index.results import AddResult, Decision, Match
from neardup.index.values import (
    NUL,
    dump_json,
    find_id_fault,
    lacks_zone,
    parse_stamp,
    replace_nul,
    stamp,
)
from neardup.options.reader_parameters import reader_parameters
from neardup.options.signatures import complete_options
from neardup.readers import Batch, Problem, Sources, open_sources, open_table
from neardup.readers.batch import REMEMBERED, Run, find_place, list_texts, show
from neardup.readers.fields import DEFAULT_ID, as_id
from neardup.readers.tables import TableSource
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.recipe.fit import fit_notes
from neardup.writers import OutputSet, removed_schema, write_rows
from neardup.writers.rows import make_removed_table

if TYPE_CHECKING:
    from neardup.index.engine import Engine


def add_files(
    files: Iterable[str],
    open_engine: Callable[[], Engine],
    inputs: Sequence[str | Path],
    named: Mapping[str, str | Path | None],
    function: Callable[..., Any],
    given: Mapping[str, Any],
) -> AddResult:
    """Add the documents of files; see `Index.add_files`.

    `open_engine` returns the index, which has these files, once the inputs and the outputs are
    open. `named` has the outputs, and `given` the options of `function`.
    """
    clock, options = Clock(), complete_options(function, given)
    paths = paths_of(inputs, "inputs")
    rows, texts = {"removed": named["removed"]}, {"report": named["report"]}
    with OutputSet([*paths, *files], rows=rows, texts=texts, force=options["force"]) as outputs:
        sources = open_sources(paths, **reader_parameters(options, _list_extra_fields(options)))
        engine = open_engine()
        added = _Addition(engine, sources, options, needs_ids=False).run()
        problem_count = added.problem_count + sources.report_to(options["progress"])
        added = replace(added, problem_count=problem_count)
        if "removed" in outputs.files:
            write_rows(outputs.files["removed"], added.removed, removed_schema())
        if "report" in outputs.files:
            settings = {"inputs": paths, "removed": named["removed"], "workers": engine.workers}
            others = {n: v for n, v in given.items() if n not in ("progress", "force")}
            content = _make_report(engine, added, sources, settings | others)
            content["summary"] |= {"seconds": clock.seconds(), "peak_memory": peak_memory()}
            outputs.files["report"].write(report_bytes(content))
    return added


def count_outcomes(added: AddResult) -> dict[str, int]:
    """Return what became of the records: refused ones, and kept or dropped ones, are all."""
    read = len(added.keep)
    return {
        "read": read,
        "refused": read - added.new - added.already,
        "already": added.already,
        "new": added.new,
        "replaced": added.replaced,
        "kept": int(added.keep.sum()),
        "dropped": added.removed.num_rows,
        "problems": added.problem_count,
    }


def _make_report(
    engine: Engine, added: AddResult, sources: Sources, settings: dict[str, Any]
) -> dict[str, Any]:
    return {
        "summary": {"task": "index add", **count_outcomes(added)},
        "settings": settings,
        "index": dataclasses.asdict(read_stats(engine)),
        "problems": list(map(str, [*added.problems, *sources.problems][:REMEMBERED])),
    }


def _list_extra_fields(options: Mapping[str, Any]) -> list[str]:
    """Return the fields to read in addition to text, title and id."""
    named = [options[name] for name in ("at_field", "source_field") if options[name] is not None]
    return [*named, *options["extra_fields"]]


def add_table(engine: Engine, data: Any, options: Mapping[str, Any]) -> AddResult:
    """Add the documents of a table; see `Index.add_many`."""
    # The column of ids is read as it is, so that one that is missing is noticed.
    fields = [options["id_field"] or DEFAULT_ID, *_list_extra_fields(options)]
    table = open_table(data, **reader_parameters(options, fields))
    return _Addition(engine, table, options, needs_ids=True).run()


class _Addition:
    """One addition of a table or of files, and what became of its records."""

    def __init__(
        self,
        engine: Engine,
        source: Sources | TableSource,
        options: Mapping[str, Any],
        *,
        needs_ids: bool,
    ) -> None:
        self._engine, self._source, self._options = engine, source, options
        self._needs_ids = needs_ids
        self._within: timedelta | None = options["within"]
        self._progress: Progress = options["progress"]
        self._id_field: str = options["id_field"] or DEFAULT_ID
        counters = engine.read_counters()
        self._is_first = not has_documents(counters)
        #: How many documents have arrived since the last count.
        self._uncounted = counters["arrived"] - counters["counted_at"]
        #: Fields without a value in any record so far.
        self._empty = [*dict.fromkeys(_list_extra_fields(options))]
        self._has_naive_times = False
        self._bytes_read = 0
        self._keep: list[bool] = []
        self._dropped: list[tuple[str, Match]] = []
        self._new = self._already = self._replaced = self._problem_count = 0
        self._problems: list[Problem] = []

    def run(self) -> AddResult:
        """Add all documents; reading runs ahead of the store."""
        # Closing also ends the reading thread if an error leaves the loop.
        with closing(prefetch(self._prepare_batches())) as batches:
            stage = "read and sketch" if self._is_first else "add"
            self._progress.stage(stage, None, share_of(self._source))
            if self._is_first:
                added = import_first_documents(
                    self._engine, batches, self._within, self._report, self._progress
                )
            else:
                added = self._add_batches(batches)
            for runs, begin, decisions in added:
                self._collect(runs, begin, decisions)
        self._note()
        removed = make_removed_table(
            [id for id, _ in self._dropped],
            [match.id for _, match in self._dropped],
            [match.similarity for _, match in self._dropped],
            [match.distance for _, match in self._dropped],
            self._engine.rule.measure,
        )
        kept = np.array(self._keep, np.bool_)
        counts = self._new, self._already, self._problem_count
        return AddResult(kept, removed, *counts, self._problems, self._replaced)

    def _prepare_batches(self) -> Iterator[IncomingBatch]:
        size = choose_batch_size(self._within)
        for batch in self._source.batches(titles=True):
            self._bytes_read += batch.bytes_read
            self._notice_fields(batch)
            incoming = _convert_batch(self._engine, batch, self._options, self._needs_ids)
            for begin in range(0, max(len(incoming), 1), size):
                part = incoming.slice(begin, begin + size)
                _ = part.packed if self._is_first else part.prepare()
                yield part

    def _notice_fields(self, batch: Batch) -> None:
        """Look for fields that have no value, and for times that name no zone."""
        # A list of texts has no fields, and is refused later.
        self._empty = [
            name
            for name in self._empty
            if all(value is None for value in batch.extra.get(name, ()))
        ]
        at_field = self._options["at_field"]
        if at_field is not None and self._options["at_zone"] is UTC and not self._has_naive_times:
            self._has_naive_times = any(map(lacks_zone, batch.extra.get(at_field, ())))

    def _add_batches(self, batches: Iterator[IncomingBatch]) -> Iterator[Stored]:
        """Add batches, each in a transaction, to an index that has documents."""
        for batch in batches:
            self._report(batch.problems)
            decisions = add_batch(self._engine, batch, self._within, self._progress.advance)
            yield batch.runs, batch.begin, decisions
            self._progress.advance(0, batch.bytes_read)

    def _report(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            self._progress.problem(problem)
        self._problem_count += sum(problem.count for problem in problems)
        self._problems.extend(problems[: REMEMBERED - len(self._problems)])

    def _collect(self, runs: list[Run], begin: int, decisions: list[Decision | None]) -> None:
        """Count what became of the documents of a batch, whose first row in the runs is `begin`."""
        refused = []
        for row, decision in enumerate(decisions, begin):
            if decision is None or decision.problem is not None:
                self._keep.append(False)
                if decision is not None and decision.problem is not None:
                    remedy = Message("Replace it with {given[replace=True]}.")
                    place = find_place(runs, row)
                    refused.append(Problem(*place, self._id_field, decision.problem, None, remedy))
                continue
            self._keep.append(decision.repeats is None)
            self._new += decision.new
            self._already += not decision.new
            self._replaced += decision.replaced
            if decision.repeats is not None:
                self._dropped.append((decision.id, decision.repeats))
        self._report(refused)

    def _note(self) -> None:
        """Report what a person should know of the whole addition."""
        note, engine = self._progress.note, self._engine
        for name in self._empty if self._keep else ():
            note(
                Message("No record has a value in the field '{field}'. Check its name.", field=name)
            )
        if self._has_naive_times:
            note(
                Message(
                    "Times without a zone in the field '{field}' are read as UTC. To set "
                    "their zone, for example: {given[at_zone='Asia/Shanghai']}",
                    field=self._options["at_field"],
                )
            )
        is_counted = engine.settings.counts and not self._is_first
        if self._new and self._dropped and is_counted and self._uncounted + self._new >= FIRST:
            note(
                Message(
                    "{new:,} documents were decided by earlier statistics, and some may have "
                    "been dropped wrongly. To decide again, run: neardup index recount {index}, "
                    "and then: neardup index reconsider {index}",
                    index=engine.location,
                    new=self._new,
                )
            )
        near = sum(not match.identical for _, match in self._dropped)
        for words in fit_notes(near, len(self._keep), self._bytes_read, engine.rule):
            note(words)


class _Fields:
    """The fields of a batch in stored form, and why rows cannot be stored."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        #: For each refused row: the field, the first reason, and the value.
        self.faults: dict[int, tuple[str, Message, Any]] = {}

    def convert_ids(self, field: str, needs_ids: bool) -> list[str]:
        """Return the ids."""
        ids = list_texts(self._batch.ids)
        column = self._batch.extra.get(field) if needs_ids else None
        if needs_ids and column is None:
            raise InputError(
                Message(
                    "A list of texts has no ids, and an index needs them. Give dicts with "
                    "the fields '{field}' and 'text', or a table.",
                    field=field,
                )
            )
        for row, id in enumerate(ids):
            if column is not None and as_id(column[row]) != id:
                # The reader found no usable id and used the position instead.
                reason = Message("must be an id: text or a whole number")
                self.faults[row] = field, reason, column[row]
            elif (fault := find_id_fault(id)) is not None:
                self.faults[row] = field, fault, id
        return ids

    def convert_column(self, field: str | None, stored: Callable[[Any], Any]) -> list[Any]:
        """Return a field's values in stored form; None for a missing or faulty value."""
        values: list[Any] = [None] * len(self._batch)
        for row, value in enumerate([] if field is None else self._batch.extra[field]):
            form = None if value is None else stored(value)
            if field is not None and isinstance(form, Message):
                self.faults.setdefault(row, (field, form, value))
            else:
                values[row] = form
        return values

    def convert_extras(self, names: Sequence[str]) -> list[str | None]:
        """Return further fields as JSON."""
        extras: list[str | None] = [None] * len(self._batch)
        for row in range(len(self._batch) if names else 0):
            values = {name: self._batch.extra[name][row] for name in names}
            try:
                extras[row] = dump_json({n: v for n, v in values.items() if v is not None})
            except (TypeError, RecursionError) as error:
                reason = Message(
                    "must be a value that JSON can represent ({reason})", reason=str(error)
                )
                self.faults.setdefault(row, (names[0], reason, None))
        return extras

    def list_problems(self) -> list[Problem]:
        """Return the reasons for which rows cannot be stored."""
        return [
            Problem(
                *find_place(self._batch.runs, row),
                field,
                reason,
                None if value is None else show(value),
            )
            for row, (field, reason, value) in sorted(self.faults.items())
        ]


def _convert_batch(
    engine: Engine, batch: Batch, options: Mapping[str, Any], needs_ids: bool
) -> IncomingBatch:
    """Return a reader's batch; a row that cannot be stored has a null text and a problem."""
    recipe = engine.settings.recipe
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    titles = batch.titles
    if options["title_from_first_line"]:
        titles = with_first_lines(titles, texts)
    if titles is not None:
        titles = pc.replace_substring(titles, pattern=NUL, replacement=replace_nul(NUL))
    fields = _Fields(batch)
    ids = fields.convert_ids(options["id_field"] or DEFAULT_ID, needs_ids)
    stamps = fields.convert_column(
        options["at_field"], partial(parse_stamp, zone=options["at_zone"])
    )
    sources = fields.convert_column(options["source_field"], _convert_text)
    extras = fields.convert_extras(options["extra_fields"])
    faults = fields.faults
    if faults:
        refused = pa.array([row in faults for row in range(len(batch))])
        texts = pc.if_else(refused, pa.scalar(None, pa.large_string()), texts)
    now = stamp(datetime.now(UTC))
    return IncomingBatch(
        engine,
        ids=["" if row in faults else id for row, id in enumerate(ids)],
        texts=texts,
        units=units,
        titles=titles,
        times=[now if moment is None else moment for moment in stamps],
        sources=sources,
        extras=extras,
        replaces=[options["replace"]] * len(batch),
        problems=problems + fields.list_problems(),
        runs=batch.runs,
        bytes_read=batch.bytes_read,
    )


def _convert_text(value: Any) -> str | Message:
    """Return a text in stored form, or why it cannot be stored."""
    try:
        return replace_nul(value)
    except UnicodeEncodeError:
        return Message("must be Unicode text, without lone surrogates")
