"""Writing of the kept records, unchanged and in input order.

Records of the output's format are copied byte for byte, rows of Parquet and Arrow with their
schema, JSON lines in UTF-8. Others are converted to one schema; inferring it takes one more pass
over sources without one. CSV keeps its dialect if all sources have the same; an output begins with
the mark of the first source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.base.arrays import rows_where
from neardup.base.messages import Message
from neardup.base.progress import check_progress
from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.readers.batch import REMEMBERED, Problem, refusal, show
from neardup.readers.columnar import ColumnarFile, first_line
from neardup.readers.delimited import Delimited
from neardup.readers.fields import listing
from neardup.readers.source import Keep, Source
from neardup.readers.sources import Sources
from neardup.writers.cells import jsonl_bytes, plain_text
from neardup.writers.edits import Cuts, Edits
from neardup.writers.output import Output
from neardup.writers.schema_inference import PART, InferredType

if TYPE_CHECKING:
    from neardup.base.progress import Progress


@dataclass(slots=True)
class KeptReport:
    """How many records were written, and how many cannot be converted to the output's format.

    `problems` has the first 10,000 of the latter; `notes`, the columns that became text.
    """

    written: int = 0
    unwritable: int = 0
    problems: list[Problem] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


def write_kept(
    sources: Sources,
    keep: npt.ArrayLike,
    output: Output,
    edits: Edits | None = None,
    progress: Progress | None = None,
) -> KeptReport:
    """Write the kept records of all sources to an open output, which the caller commits.

    `keep` has a flag for each record, in input order. Records get `edits`; `progress` the stage
    ``write``. InputError if a source changed since its records were read.
    """
    mask = np.asarray(keep, dtype=bool)
    counts = sources.counts
    if counts is None:
        raise ParameterError(
            Message(
                "{parameter:named} must be read to its end first. Got sources with an "
                "unknown number of records instead.",
                parameter="sources",
            )
        )
    if mask.shape != (sum(counts),):
        raise ParameterError(
            Message.counted(
                "{parameter:named} must hold {count} flag, one per record. Got shape "
                "{value} instead.",
                "{parameter:named} must hold {count} flags, one per record. Got shape "
                "{value} instead.",
                parameter="keep",
                count=sum(counts),
                value=str(mask.shape),
            )
        )
    for source in sources.sources:
        source.check_unchanged()
    progress = check_progress(progress)
    progress.stage("write", int(np.count_nonzero(mask)))
    writers: dict[str, type[_Writer]] = {
        "jsonl": _Lines,
        "parquet": _Tables,
        "arrow": _Tables,
    }
    writer = writers.get(output.format, _Cells)(sources.sources, output, edits)
    begin = 0
    for source, count in zip(sources.sources, counts, strict=True):
        part = Keep(mask[begin : begin + count], source.name, progress.advance)
        begin += count
        writer.write(source, part)
        part.close()
        source.check_unchanged()
    writer.report.written = int(np.count_nonzero(mask)) - writer.report.unwritable
    return writer.report


class _Writer(ABC):
    """Writes the kept records of one source after the other in one format."""

    def __init__(self, sources: list[Source], output: Output, edits: Edits | None) -> None:
        self.report = KeptReport()
        self._output = output
        self._edits = edits
        self._added = [] if edits is None else list(edits.schema)
        if sources and sources[0].format == output.format and sources[0].mark:
            output.write(sources[0].mark)
        self._begin(sources)

    @abstractmethod
    def _begin(self, sources: list[Source]) -> None:
        """Write what comes before all records."""

    @abstractmethod
    def write(self, source: Source, keep: Keep) -> None:
        """Write the kept records of a source."""

    def _kept_rows(self, source: Source, keep: Keep) -> Iterator[list[dict[str, Any]]]:
        """Yield kept records to convert; count and report those that cannot be converted."""
        _check_names(source)
        for rows in source.rows():
            flags = keep.take(len(rows)).tolist()
            wanted = [row for row, is_kept in zip(rows, flags, strict=True) if is_kept]
            if self._edits is not None:
                wanted = self._edits.rows(wanted)
            kept: list[dict[str, Any]] = []
            for row in wanted:
                if isinstance(row, Problem):
                    self._leave_out(row)
                else:
                    kept.append(row)
            if kept:
                yield kept

    def _leave_out(self, problem: Problem) -> None:
        self.report.unwritable += 1
        if len(self.report.problems) < REMEMBERED:
            name = self._output.name
            output = Message("standard output") if name == "-" else name
            reason = Message(
                "left out of {output}: {reason}",
                code="left_out",
                output=output,
                reason=problem.reason,
            )
            self.report.problems.append(replace(problem, reason=reason))

    def _copy(self, source: Source, keep: Keep) -> None:
        """Write raw records."""
        for data in source.kept_bytes(keep):
            if isinstance(data, bytes):
                self._output.write(data if self._edits is None else self._edits.lines(data))
                continue
            if self._edits is not None:
                # A line too long to be read is written as it is.
                self._edits.rows([{}])
            for part in data:
                self._output.write(part)


class _Lines(_Writer):
    """Writes JSON Lines, without a schema."""

    def _begin(self, sources: list[Source]) -> None:
        pass

    def write(self, source: Source, keep: Keep) -> None:
        if source.format == "jsonl":
            self._copy(source, keep)
            return
        for rows in self._kept_rows(source, keep):
            self._output.write(jsonl_bytes(rows))


class _Cells(_Writer):
    """Writes CSV or TSV with the columns of all sources, in the order of appearance."""

    def _begin(self, sources: list[Source]) -> None:
        names = dict.fromkeys(name for source in sources for name in _names(source))
        names.update(dict.fromkeys(field.name for field in self._added))
        self._names = list(names)
        default = self._output.dialect
        dialects = {
            s.dialect if isinstance(s, Delimited) and s.format == self._output.format else default
            for s in sources
            if s.names() != []
        }
        self._output.dialect = dialects.pop() if len(dialects) == 1 else default
        first = next((s for s in sources if self._has_format(s)), None)
        if isinstance(first, Delimited):
            self._output.write(first.header_bytes)
        elif names:
            self._output.begin(pa.schema([(name, pa.string()) for name in names]))

    def _has_format(self, source: Source) -> bool:
        return (
            isinstance(source, Delimited)
            and source.format == self._output.format
            and source.dialect == self._output.dialect
            and source.names() == self._names
        )

    def write(self, source: Source, keep: Keep) -> None:
        is_same = self._edits is None and self._has_format(source)
        if is_same or (isinstance(source, Delimited) and not source.header):
            self._copy(source, keep)
            return
        for rows in self._kept_rows(source, keep):
            values = ([row.get(name) for name in self._names] for row in rows)
            self._output.write_rows(self._names, values)


class _Tables(_Writer):
    """Writes Parquet or Arrow with the schema that the sources share, or else an inferred one."""

    def _begin(self, sources: list[Source]) -> None:
        self._inferred: dict[str, InferredType] | None = None
        tables = [s for s in sources if isinstance(s, ColumnarFile)]
        if len(tables) == len(sources) and all(t.schema.equals(tables[0].schema) for t in tables):
            self._schema = tables[0].schema
        else:
            self._inferred = _inferred(sources)
            self._schema = pa.schema([(name, s.arrow()) for name, s in self._inferred.items()])
            self.report.notes += [
                Message(
                    "column '{column}' has values of several types and is written as text.",
                    column=show(name),
                )
                for name, shape in self._inferred.items()
                if shape.is_mixed
            ]
        written = pa.schema([*self._schema, *self._added])
        self._written = written.with_metadata(self._schema.metadata)
        try:
            self._output.begin(self._written, sources, is_cut=isinstance(self._edits, Cuts))
        except pa.ArrowNotImplementedError as error:
            raise OutputError(
                Message(
                    "{file}: cannot store the columns of the input: {said}. Name an output that "
                    "ends in .arrow or .jsonl.",
                    code="cannot_be_written",
                    file=self._output.name,
                    said=first_line(error),
                )
            ) from error

    def write(self, source: Source, keep: Keep) -> None:
        if isinstance(source, ColumnarFile):
            for batch in source.batches():
                if isinstance(batch, Problem):
                    return
                flags = keep.take(batch.num_rows)
                if flags.any():
                    batch = self._cast(rows_where(batch, flags))
                    edits = self._edits
                    self._write(batch.columns if edits is None else edits.columns(batch))
            return
        assert self._inferred is not None
        for rows in self._kept_rows(source, keep):
            columns = [
                shape.column([row.get(name) for row in rows])
                for name, shape in self._inferred.items()
            ]
            added = [pa.array([row[f.name] for row in rows], f.type) for f in self._added]
            self._write([*columns, *added])

    def _write(self, columns: list[pa.Array[Any]]) -> None:
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


def _names(source: Source) -> Iterator[str]:
    names = source.names()
    if names is not None:
        yield from names
        return
    for rows in source.rows():
        for row in rows:
            if not isinstance(row, Problem):
                yield from row


def _inferred(sources: list[Source]) -> dict[str, InferredType]:
    inferred: dict[str, InferredType] = {}

    def of(name: str) -> InferredType:
        return inferred.setdefault(name, InferredType())

    for source in sources:
        _check_names(source)
        names = source.names()
        if isinstance(source, ColumnarFile):
            for column in source.schema:
                of(column.name).observe_type(column.type)
        elif names is not None:
            for name in names:
                of(name).observe_type(pa.string())
        else:
            for rows in source.rows():
                records = [row for row in rows if not isinstance(row, Problem)]
                for begin in range(0, len(records), PART):
                    part = records[begin : begin + PART]
                    for name in dict.fromkeys(name for record in part for name in record):
                        of(name).observe([record.get(name) for record in part])
    return inferred


def _check_names(source: Source) -> None:
    names = source.names() or []
    if len(set(names)) < len(names):
        reason = Message("must have distinct column names to be converted")
        raise InputError(refusal(source.name, reason, listing(names)))
