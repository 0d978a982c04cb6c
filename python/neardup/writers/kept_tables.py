"""Writing of the kept records as tables: CSV, Parquet and Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from neardup.base.arrays import rows_where
from neardup.base.lazy import np
from neardup.base.messages import Message
from neardup.exceptions import OutputError
from neardup.readers.batch import Problem, show
from neardup.readers.columnar import ColumnarFile, cut_first_line
from neardup.readers.delimited import DelimitedSource
from neardup.readers.source import KeepMask, Source
from neardup.writers.cells import format_plain
from neardup.writers.edits import Cuts
from neardup.writers.kept_writer import Writer, check_names
from neardup.writers.schema_inference import PART, InferredType


class Cells(Writer):
    """Writes CSV or TSV with the columns of all sources, in the order of appearance."""

    def _plan_head(self, sources: list[Source]) -> None:
        names = dict.fromkeys(name for source in sources for name in _find_names(source))
        names.update(dict.fromkeys(field.name for field in self._added))
        self._names = list(names)
        default = self._output.dialect
        dialects = {
            s.dialect
            if isinstance(s, DelimitedSource) and s.format == self._output.format
            else default
            for s in sources
            if s.list_fields() != []
        }
        self._dialect = dialects.pop() if len(dialects) == 1 else default
        first = next((s for s in sources if self._has_format(s)), None)
        self._header = first.header_bytes if isinstance(first, DelimitedSource) else None

    def _write_start(self) -> None:
        self._output.dialect = self._dialect
        if self._header is not None:
            self._output.write(self._header)
        elif self._names:
            self._output.begin(pa.schema([(name, pa.string()) for name in self._names]))

    def _has_format(self, source: Source) -> bool:
        return (
            isinstance(source, DelimitedSource)
            and source.format == self._output.format
            and source.dialect == self._dialect
            and source.list_fields() == self._names
        )

    def write(self, source: Source, keep: KeepMask) -> None:
        is_same = self._edits is None and self._has_format(source)
        if is_same or (isinstance(source, DelimitedSource) and not source.header):
            self._copy(source, keep)
            return
        for rows in self._kept_rows(source, keep):
            values = ([row.get(name) for name in self._names] for row in rows)
            self._output.write_rows(self._names, values)


class Tables(Writer):
    """Writes Parquet or Arrow with the schema that the sources share, or else an inferred one."""

    def _plan_head(self, sources: list[Source]) -> None:
        self._inferred: dict[str, InferredType] | None = None
        tables = [s for s in sources if isinstance(s, ColumnarFile)]
        if len(tables) == len(sources) and all(t.schema.equals(tables[0].schema) for t in tables):
            self._schema = tables[0].schema
        else:
            self._inferred = _infer(sources)
            self._schema = pa.schema([(name, s.find_type()) for name, s in self._inferred.items()])
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

    def _write_start(self) -> None:
        try:
            self._output.begin(self._written, self._sources, is_cut=isinstance(self._edits, Cuts))
        except pa.ArrowNotImplementedError as error:
            raise OutputError(
                Message(
                    "{file}: cannot store the columns of the input: {said}. Name an output that "
                    "ends in .arrow or .jsonl.",
                    code="cannot_be_written",
                    file=self._output.name,
                    said=cut_first_line(error),
                )
            ) from error

    def write(self, source: Source, keep: KeepMask) -> None:
        if isinstance(source, ColumnarFile):
            for batch in source.read_batches():
                if isinstance(batch, Problem):
                    return
                flags = keep.take(batch.num_rows)
                if 1 in flags:
                    batch = self._cast(rows_where(batch, np.frombuffer(flags, np.bool_)))
                    edits = self._edits
                    self._write(batch.columns if edits is None else edits.edit_columns(batch))
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
        self._change_file()
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
    return pa.array([None if v is None else format_plain(v) for v in column.to_pylist()], kind)


def _find_names(source: Source) -> Iterator[str]:
    names = source.list_fields()
    if names is not None:
        yield from names
        return
    for rows in source.read_rows():
        for row in rows:
            if not isinstance(row, Problem):
                yield from row


def _infer(sources: list[Source]) -> dict[str, InferredType]:
    inferred: dict[str, InferredType] = {}

    def of(name: str) -> InferredType:
        return inferred.setdefault(name, InferredType())

    for source in sources:
        check_names(source)
        names = source.list_fields()
        if isinstance(source, ColumnarFile):
            for column in source.schema:
                of(column.name).observe_type(column.type)
        elif names is not None:
            for name in names:
                of(name).observe_type(pa.string())
        else:
            for rows in source.read_rows():
                records = [row for row in rows if not isinstance(row, Problem)]
                for begin in range(0, len(records), PART):
                    part = records[begin : begin + PART]
                    for name in dict.fromkeys(name for record in part for name in record):
                        of(name).observe([record.get(name) for record in part])
    return inferred
