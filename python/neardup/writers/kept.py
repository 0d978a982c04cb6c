"""Writing of the kept records, unchanged and in input order.

If a source has the output's format, its raw records are copied: JSON lines and CSV
rows byte for byte, Parquet rows with their schema. Other records are converted to one
schema for all sources; inferring it takes one more pass over the sources without a
schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.base.messages import Message
from neardup.base.progress import check_progress
from neardup.exceptions import InputError, ParameterError
from neardup.readers.batch import Problem, refusal, show
from neardup.readers.delimited import Delimited
from neardup.readers.fields import listing
from neardup.readers.jsonl import JsonLines
from neardup.readers.parquet import Parquet
from neardup.readers.source import Keep, Source
from neardup.readers.sources import Sources
from neardup.writers.cells import jsonl_bytes, plain_text
from neardup.writers.output import Output
from neardup.writers.schema_inference import InferredType

if TYPE_CHECKING:
    from neardup.base.progress import Progress
    from neardup.readers.source import Row

__all__ = ["Edits", "KeptReport", "fixed_names", "write_kept"]

_SHOWN = 10_000


@dataclass(slots=True)
class KeptReport:
    """The result of `write_kept`.

    Attributes
    ----------
    written : int
        Records written.
    unwritable : int
        Kept records that are left out of the output, since they cannot be
        converted to its format. An output in their own format would have them.
    problems : list of Problem
        The first 10,000 of these records, each with the reason.
    notes : list of Message
        Columns that are converted to text.
    """

    written: int = 0
    unwritable: int = 0
    problems: list[Problem] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)

    def miss(self, problem: Problem, output: str) -> None:
        """Count a record that cannot be written."""
        self.unwritable += 1
        if len(self.problems) < _SHOWN:
            output = Message("writers.standard_output") if output == "-" else output
            reason = Message("writers.left_out", output=output, reason=problem.reason)
            self.problems.append(replace(problem, reason=reason))


def write_kept(
    sources: Sources,
    keep: npt.ArrayLike,
    output: Output,
    edits: Edits | None = None,
    progress: Progress | None = None,
) -> KeptReport:
    """Write the kept records of all sources.

    Parameters
    ----------
    sources : Sources
        Sources whose batches were read to the end.
    keep : array-like of bool, shape (n_records,)
        True for the records to keep, in input order.
    output : Output
        An open output, which the caller commits.
    edits : Edits, optional
        What is added to the records, or replaced in them.
    progress : Progress or None, default=None
        Gets the stage ``write``, and the kept records as they are written.

    Returns
    -------
    KeptReport

    Raises
    ------
    ParameterError
        If the number of flags is not that of the records.
    InputError
        If a source changed since its records were read.
    OutputError
        If the output cannot be written.

    Notes
    -----
    The bytes depend only on the records. Memory is a few blocks of 4 MiB, for
    Parquet one row group of the output.
    """
    mask = np.asarray(keep, dtype=bool)
    counts = sources.counts
    if counts is None:
        raise ParameterError(Message("writers.sources_unread", parameter="sources"))
    if mask.shape != (sum(counts),):
        raise ParameterError(
            Message(
                "writers.flags_per_record",
                parameter="keep",
                count=sum(counts),
                value=str(mask.shape),
            )
        )
    for source in sources.sources:
        source.check_unchanged()
    report = KeptReport()
    progress = check_progress(progress)
    progress.stage("write", int(np.count_nonzero(mask)))
    write: _Lines | _Cells | _Tables
    if output.format == "jsonl":
        write = _Lines(output, report, edits)
    elif output.format == "parquet":
        write = _Tables(sources.sources, output, report, edits)
    else:
        write = _Cells(sources.sources, output, report, edits)
    begin = 0
    for source, count in zip(sources.sources, counts, strict=True):
        flags = mask[begin : begin + count]
        begin += count
        part = Keep(flags, source.name, progress.advance)
        write.source(source, part)
        part.close()
        source.check_unchanged()
        report.written += int(flags.sum())
    report.written -= report.unwritable
    return report


class Edits(Protocol):
    """Changes of the records that are written, each made in their order."""

    @property
    def schema(self) -> pa.Schema:
        """The fields that are added to each record."""
        ...

    def lines(self, data: bytes) -> bytes:
        """Return the next JSON lines as they are written."""
        ...

    def rows(self, rows: list[Row]) -> list[Row]:
        """Return the next records as they are written."""
        ...

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array[Any]]:
        """Return the columns of the next rows as they are written."""
        ...


class _Lines:
    """Writes JSON Lines, without a schema."""

    def __init__(self, output: Output, report: KeptReport, edits: Edits | None) -> None:
        self._output = output
        self._report = report
        self._edits = edits

    def source(self, source: Source, keep: Keep) -> None:
        if isinstance(source, JsonLines):
            for data in source.kept_bytes(keep):
                if isinstance(data, bytes):
                    self._output.write(data if self._edits is None else self._edits.lines(data))
                    continue
                if self._edits is not None:
                    # A line too long to be read is written as it is.
                    self._edits.rows([{}])
                for part in data:
                    self._output.write(part)
            return
        _check_names(source)
        for rows in _kept_rows(source, keep, self._report, self._output.name, self._edits):
            self._output.write(jsonl_bytes(rows))


class _Cells:
    """Writes CSV or TSV with the columns of all sources, in the order of appearance."""

    def __init__(
        self,
        sources: list[Source],
        output: Output,
        report: KeptReport,
        edits: Edits | None,
    ) -> None:
        self._output = output
        self._report = report
        self._edits = edits
        names: dict[str, None] = {}
        for source in sources:
            names.update(dict.fromkeys(_names(source)))
        if edits is not None:
            names.update(dict.fromkeys(edits.schema.names))
        self._names = list(names)
        first = next((s for s in sources if self._same(s)), None)
        if isinstance(first, Delimited):
            output.write(first.header_bytes)
        elif names:
            output.begin(pa.schema([(name, pa.string()) for name in names]))

    def _same(self, source: Source) -> bool:
        return (
            isinstance(source, Delimited)
            and source.format == self._output.format
            and source.header == self._names
        )

    def source(self, source: Source, keep: Keep) -> None:
        is_same = self._same(source) if self._edits is None else False
        if isinstance(source, Delimited) and (is_same or not source.header):
            for data in source.kept_bytes(keep):
                self._output.write(data)
            return
        _check_names(source)
        for rows in _kept_rows(source, keep, self._report, self._output.name, self._edits):
            values = ([row.get(name) for name in self._names] for row in rows)
            self._output.write_rows(self._names, values)


class _Tables:
    """Writes Parquet with the schema that the sources share, or else an inferred one."""

    def __init__(
        self,
        sources: list[Source],
        output: Output,
        report: KeptReport,
        edits: Edits | None,
    ) -> None:
        self._output = output
        self._report = report
        self._edits = edits
        self._inferred: dict[str, InferredType] | None = None
        tables = [s for s in sources if isinstance(s, Parquet)]
        if len(tables) == len(sources) and all(t.schema.equals(tables[0].schema) for t in tables):
            self._schema = tables[0].schema
        else:
            self._inferred = _inferred(sources)
            self._schema = pa.schema([(name, s.arrow()) for name, s in self._inferred.items()])
            report.notes += [
                Message("writers.written_as_text", column=show(name), holds=shape.reason())
                for name, shape in self._inferred.items()
                if shape.mixed()
            ]
        added = [] if edits is None else list(edits.schema)
        self._written = pa.schema([*self._schema, *added]).with_metadata(self._schema.metadata)
        output.begin(self._written)

    def source(self, source: Source, keep: Keep) -> None:
        if isinstance(source, Parquet):
            for batch in source.batches():
                if isinstance(batch, Problem):
                    return
                flags = keep.take(batch.num_rows)
                if flags.any():
                    self._write(self._cast(batch.filter(pa.array(flags))))
            return
        assert self._inferred is not None
        for rows in _kept_rows(source, keep, self._report, self._output.name, self._edits):
            columns = [
                shape.column([row.get(name) for row in rows], self._schema.field(name).type)
                for name, shape in self._inferred.items()
            ]
            if self._edits is not None:
                columns += [
                    pa.array([row[field.name] for row in rows], field.type)
                    for field in self._edits.schema
                ]
            self._output.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._written))

    def _write(self, batch: pa.RecordBatch) -> None:
        columns = batch.columns if self._edits is None else self._edits.columns(batch)
        self._output.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._written))

    def _cast(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._inferred is None:
            return batch
        columns = []
        for wanted in self._schema:
            if wanted.name not in batch.schema.names:
                column = pa.nulls(batch.num_rows, wanted.type)
            else:
                column = batch.column(wanted.name)
                if column.type != wanted.type:
                    column = _recast(column, wanted.type)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _recast(column: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    if not pa.types.is_string(kind):
        return column.cast(kind)
    return pa.array([None if v is None else plain_text(v) for v in column.to_pylist()], kind)


def _kept_rows(
    source: Source,
    keep: Keep,
    report: KeptReport,
    output: str,
    edits: Edits | None,
) -> Iterator[list[dict[str, object]]]:
    for rows in source.rows():
        flags = keep.take(len(rows)).tolist()
        wanted = [row for row, is_wanted in zip(rows, flags, strict=True) if is_wanted]
        if edits is not None:
            wanted = edits.rows(wanted)
        kept = []
        for row in wanted:
            if isinstance(row, Problem):
                report.miss(row, output)
            else:
                kept.append(row)
        if kept:
            yield kept


def fixed_names(source: Source) -> list[str] | None:
    """Return the columns of a source whose records all have the same ones, or None."""
    if isinstance(source, Delimited):
        return source.header
    if isinstance(source, Parquet):
        names: list[str] = source.schema.names
        return names
    return None if isinstance(source, JsonLines) else ["id", "text"]


def _names(source: Source) -> Iterator[str]:
    fixed = fixed_names(source)
    if fixed is not None:
        yield from fixed
        return
    for rows in source.rows():
        for row in rows:
            if not isinstance(row, Problem):
                yield from row


def _inferred(sources: list[Source]) -> dict[str, InferredType]:
    inferred: dict[str, InferredType] = {}
    for source in sources:
        _check_names(source)
        if isinstance(source, Parquet):
            for column in source.schema:
                inferred.setdefault(column.name, InferredType()).observe_type(column.type)
            continue
        fixed = fixed_names(source)
        if fixed is not None:
            for name in fixed:
                inferred.setdefault(name, InferredType()).observe("")
            continue
        for rows in source.rows():
            for row in rows:
                if not isinstance(row, Problem):
                    for name, value in row.items():
                        shape = inferred.get(name)
                        if shape is None:
                            shape = inferred[name] = InferredType()
                        shape.observe(value)
    return inferred


def _check_names(source: Source) -> None:
    names = fixed_names(source) or []
    if len(set(names)) < len(names):
        reason = Message("writers.must_have_distinct_names")
        raise InputError(refusal(source.name, reason, listing(names)))
