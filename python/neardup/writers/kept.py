"""Writing of the kept records, unchanged and in input order.

Records of the output's format are copied byte for byte, rows of Parquet and Arrow with their
schema, JSON lines in UTF-8. Others are converted to one schema; inferring it takes one more pass
over sources without one. CSV keeps its dialect if all sources have the same; an output begins with
the mark of the first source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
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
from neardup.readers.streams import ReopenableFile
from neardup.readers.text_files import TextFiles
from neardup.writers.cells import jsonl_bytes, plain_text
from neardup.writers.edits import Cuts, Edits
from neardup.writers.folder import OutputFolder
from neardup.writers.output import Output
from neardup.writers.schema_inference import PART, InferredType

if TYPE_CHECKING:
    from neardup.base.progress import Progress


#: Bytes of a text file that are copied together.
_COPIED = 1 << 20


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
    output: Output | OutputFolder,
    edits: Edits | None = None,
    progress: Progress | None = None,
) -> KeptReport:
    """Write the kept records of all sources to an open output, which the caller commits.

    A folder gets a file for each source, or parts.

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
    report = KeptReport()
    writer = None
    if isinstance(output, Output):
        writer = _writer(sources.sources, lambda: output, edits, report)
    elif output.part_size is not None:
        writer = _writer(sources.sources, partial(output.at, 0), edits, report)
    begin = 0
    for number, (source, count) in enumerate(zip(sources.sources, counts, strict=True)):
        part = Keep(mask[begin : begin + count], source.name, progress.advance)
        begin += count
        if writer is not None:
            writer.write(source, part)
        elif isinstance(source, TextFiles):
            assert isinstance(output, OutputFolder)
            _copy_texts(source, part, output)
        else:
            assert isinstance(output, OutputFolder)
            _writer([source], partial(output.at, number), edits, report).write(source, part)
        part.close()
        source.check_unchanged()
    if isinstance(output, OutputFolder):
        output.close_file()
    report.written = int(np.count_nonzero(mask)) - report.unwritable
    return report


def _writer(
    sources: list[Source], at: Callable[[], Output], edits: Edits | None, report: KeptReport
) -> _Writer:
    writers: dict[str, type[_Writer]] = {
        "jsonl": _Lines,
        "parquet": _Tables,
        "arrow": _Tables,
    }
    return writers.get(at().format, _Cells)(sources, at, edits, report)


def _copy_texts(source: TextFiles, keep: Keep, folder: OutputFolder) -> None:
    """Copy the kept files as they are stored, compressed or not."""
    for text in source.kept_files(keep):
        assert isinstance(text.file, ReopenableFile)
        assert text.inside is not None
        copy = folder.open(text.inside, "text", None)
        with text.file.open() as file:
            while data := file.read(_COPIED):
                copy.write(data)


class _Writer(ABC):
    """Writes the kept records of one source after the other in one format.

    `at` returns the file for the next records; a new one begins with a head.
    """

    def __init__(
        self,
        sources: list[Source],
        at: Callable[[], Output],
        edits: Edits | None,
        report: KeptReport,
    ) -> None:
        self.report = report
        self._at = at
        self._output = at()
        self._sources, self._edits = sources, edits
        self._added = [] if edits is None else list(edits.schema)
        self._mark = b""
        if sources and sources[0].format == self._output.format:
            self._mark = sources[0].mark
        self._begin(sources)
        self._write_head()

    def _write_head(self) -> None:
        self._output.write(self._mark)
        self._head()

    def _turn(self) -> None:
        """Begin a new file if the last one is full; called between records."""
        output = self._at()
        if output is not self._output:
            self._output = output
            self._write_head()

    @abstractmethod
    def _begin(self, sources: list[Source]) -> None:
        """Find out what comes before the records of a file."""

    @abstractmethod
    def _head(self) -> None:
        """Write what comes before the records of a file."""

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
                self._turn()
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
            self._turn()
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

    def _head(self) -> None:
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
        self._dialect = dialects.pop() if len(dialects) == 1 else default
        first = next((s for s in sources if self._has_format(s)), None)
        self._header = first.header_bytes if isinstance(first, Delimited) else None

    def _head(self) -> None:
        self._output.dialect = self._dialect
        if self._header is not None:
            self._output.write(self._header)
        elif self._names:
            self._output.begin(pa.schema([(name, pa.string()) for name in self._names]))

    def _has_format(self, source: Source) -> bool:
        return (
            isinstance(source, Delimited)
            and source.format == self._output.format
            and source.dialect == self._dialect
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

    def _head(self) -> None:
        try:
            self._output.begin(self._written, self._sources, is_cut=isinstance(self._edits, Cuts))
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
        self._turn()
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
