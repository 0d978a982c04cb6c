r"""CSV and TSV, which is CSV with tabs: a header row, then one record per row.

Columns of CSV are also found between semicolons or tabs, and without the blanks around names.
A quoted field may contain line breaks. The csv module pulls lines as it needs them; those pulled
since the last row are its raw bytes, from which kept rows are written. A row that is too long to
be held is skipped to its own end, in parts.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, compress
from typing import Any, NamedTuple

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import NAME_ENCODING, Batch, Problem, make_refusal, show
from neardup.readers.columns import ColumnReader
from neardup.readers.encodings import make_invalid_reason
from neardup.readers.fields import Columns, Fields
from neardup.readers.formats import Dialect
from neardup.readers.lines import cut_blocks, read_whole_lines
from neardup.readers.source import KEPT_BYTES, KeepMask, LineSource, Row
from neardup.readers.streams import DamagedStreamError, ReopenableFile

_BLOCK = 4 << 20
_ROWS = 4096
#: Why a row cannot be used.
_NO_TEXT, _OTHER_WIDTH, _TOO_LONG, _INVALID = "no text", "other width", "too long", "invalid"
_QUOTED_NAME = re.compile(r'"[^"]*"')


class _Row(NamedTuple):
    """A row; why it cannot be used, and the error of the csv module."""

    values: list[str]
    raw: bytes
    fault: str | None
    error: str = ""
    #: What follows the raw bytes of a row that is too long.
    rest: "_Rest | None" = None

    def describe_fault(self, width: int, format: str, encoding: str) -> Message:
        """Return the reason why the row cannot be used, if it must have `width` fields."""
        if self.fault == _OTHER_WIDTH:
            return Message.counted(
                "must have 1 field as the header row has",
                "must have {count} fields as the header row has",
                count=width,
                code="invalid_csv",
            )
        if self.fault == _NO_TEXT:
            return make_invalid_reason(encoding, self.raw)
        # The error contains the delimiter, which may be a tab.
        where = Message(" ({said})", said=printable(self.error))
        if format == "csv":
            return Message("must be valid CSV{where}", code="invalid_csv", where=where)
        return Message("must be valid TSV{where}", code="invalid_csv", where=where)


class _RowTooLong(Exception):
    """Leaves the csv module in the middle of a row."""


_AT_FIELD, _BARE, _QUOTED, _AFTER_QUOTE, _TO_LINE_END = range(5)


class _RowEnd:
    """Finds the end of a row in its parts, as the csv module does.

    Only a quote that begins a field makes line breaks part of it. After a carriage return or an
    error, the row ends with the line.
    """

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter.encode()
        self._ends_bare = re.compile(b"[\r\n" + self._delimiter + b"]")
        self._state = _AT_FIELD

    @property
    def is_quoted(self) -> bool:
        """Whether the row ended, or would go on, inside a quoted field."""
        return self._state == _QUOTED

    def is_in(self, part: bytes) -> bool:
        """Return whether the row ends with its next part; a line feed ends the part."""
        at = 0
        while at < len(part):
            if self._state == _QUOTED:
                at = part.find(b'"', at) + 1
                if not at:
                    return False
                self._state = _AFTER_QUOTE
                continue
            if self._state == _TO_LINE_END:
                return part.endswith(b"\n")
            letter = part[at : at + 1]
            if letter == b'"' and self._state != _BARE:
                self._state = _QUOTED
            elif letter == self._delimiter:
                self._state = _AT_FIELD
            elif letter == b"\n":
                return True
            elif letter == b"\r" or self._state == _AFTER_QUOTE:
                self._state = _TO_LINE_END
            else:
                self._state = _BARE
                end = self._ends_bare.search(part, at)
                if end is None:
                    return False
                at = end.start()
                continue
            at += 1
        return False


class _Rest:
    """The rest of a row that is too long, in parts, which must be taken before the next row."""

    def __init__(
        self,
        end: _RowEnd,
        long_line: Iterator[bytes] | None,
        lines: Iterator[bytes | Iterator[bytes]],
    ) -> None:
        self._end = end
        self._parts = self._read(long_line, lines)

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def _read(
        self, line: bytes | Iterator[bytes] | None, lines: Iterator[bytes | Iterator[bytes]]
    ) -> Iterator[bytes]:
        if line is None:
            line = next(lines, None)
        while line is not None:
            for part in chain([line] if isinstance(line, bytes) else line, [b"\n"]):
                yield part
                if self._end.is_in(part):
                    return
            line = next(lines, None)

    def skip(self) -> None:
        """Take all parts."""
        for _ in self._parts:
            pass

    @property
    def is_unclosed(self) -> bool:
        """Whether the input ended inside a quoted field, when all parts are taken."""
        return self._end.is_quoted


class DelimitedSource(LineSource):
    """A source of rows; `header` and `header_bytes` are the first row, empty for an empty file."""

    format = "csv"

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        # The module's limit of 128 KiB catches unclosed quotes, but articles can be
        # longer. The limit can only be set for the whole process.
        csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))
        self.header, self.header_bytes = self._read_header()

    def _read_header(self) -> tuple[list[str], bytes]:
        try:
            self.dialect = self._detect_dialect()
            first = next(self._read_rows(1 << 16), None)
        except DamagedStreamError as error:
            raise InputError(make_refusal(self.name, error.args[0])) from error
        if first is None:
            return [], b""
        if first.fault is not None:
            content = show(self._decode_part(first.raw))
            if first.fault == _TOO_LONG:
                limit = self._max_text
                wrong = Message("must have at most {most:,} bytes", code="too_long", most=limit)
            else:
                wrong = first.describe_fault(0, self.format, self.encoding)
            reason = Message("the header row {reason}", reason=wrong)
            raise InputError(make_refusal(self.name, reason, content, _advise(first.fault)))
        return [name.removeprefix("\ufeff").strip() for name in first.values], first.raw

    def _detect_dialect(self) -> Dialect:
        """Return the dialect by the first line: commas, or else what is there more often."""
        if self.format == "tsv":
            return Dialect("\t", self.encoding)
        first = next(self._read_lines(1 << 16), b"")
        line = first if isinstance(first, bytes) else b""
        names = _QUOTED_NAME.sub("", line.decode(self.encoding, "replace"))
        delimiter = "," if "," in names else max(",;\t", key=names.count)
        later = names.split(delimiter)[1:]
        has_blanks = bool(later) and all(name.startswith(" ") for name in later)
        return Dialect(delimiter, self.encoding, has_blanks)

    def list_fields(self) -> list[str]:
        return self.header

    def check_fields(self, fields: Fields) -> None:
        if self.header:
            Columns.choose(self.header, fields, self.name)

    def _read_lines(self, size: int) -> Iterator[bytes | Iterator[bytes]]:
        """Yield all lines, one that is too long as an iterator of its parts."""
        chunks = self._read_content(size)
        for block in cut_blocks(read_whole_lines(chunks, self._max_text)):
            if isinstance(block, bytes):
                yield from block.split(b"\n")
            else:
                yield block

    def _read_rows(self, size: int) -> Iterator[_Row]:
        """Yield all rows, the header row first; blank lines are skipped."""
        all_lines = self._read_lines(size)
        taken: list[bytes] = []
        held = 0
        long_line: Iterator[bytes] | None = None
        is_text = True

        def lines() -> Iterator[str]:
            nonlocal held, long_line, is_text
            for line in all_lines:
                if not isinstance(line, bytes):
                    long_line = line
                    raise _RowTooLong
                line += b"\n"
                taken.append(line)
                held += len(line)
                if held > self._max_text + 1:
                    raise _RowTooLong
                try:
                    yield line.decode(self.encoding)
                except UnicodeDecodeError:
                    is_text = False
                    yield line.decode(self.encoding, "replace")

        def open_reader() -> Iterator[list[str]]:
            return csv.reader(
                lines(),
                delimiter=self.dialect.delimiter,
                skipinitialspace=self.dialect.has_blanks,
                strict=True,
            )

        reader = open_reader()
        while True:
            try:
                values = next(reader, None)
                fault, error_text = None, ""
            except csv.Error as error:
                values, fault, error_text = [], _INVALID, str(error)
            except _RowTooLong:
                values, fault = [], _TOO_LONG
                reader = open_reader()
            if values is None:
                return
            raw = b"".join(taken)
            taken.clear()
            held = 0
            rest = None
            if fault == _TOO_LONG:
                end = _RowEnd(self.dialect.delimiter)
                if not end.is_in(raw):
                    rest = _Rest(end, long_line, all_lines)
                long_line = None
            if not is_text:
                if fault != _TOO_LONG:
                    fault = _NO_TEXT
                is_text = True
            if values or fault:
                yield _Row(values, raw, fault, error_text, rest)
                if rest is not None:
                    rest.skip()

    def _read_records(self, size: int) -> Iterator[_Row]:
        width = len(self.header)
        rows = self._read_rows(size)
        next(rows, None)
        for row in rows:
            if row.fault is None and len(row.values) != width:
                row = _Row(row.values, row.raw, _OTHER_WIDTH)
            yield row

    def read_texts(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        if not self.header:
            return
        columns = Columns.choose(self.header, fields, self.name)
        reader = ColumnReader(columns, fields, titles, self.name)
        places = {name: place for place, name in enumerate(self.header)}
        rows: list[_Row] = []
        held = 0

        def column(name: str) -> list[str | None]:
            place = places[name]
            return [row.values[place] if row.fault is None else None for row in rows]

        def explain(at: int, code: str, _: Any) -> tuple[str, Callable[[], Problem]]:
            row = rows[at]
            return row.fault or code, partial(self._make_problem, row, fields, reader.done + at + 1)

        damage = None
        try:
            for row in self._read_records(size):
                rows.append(row)
                if row.rest is not None:
                    row.rest.skip()
                held += len(row.raw)
                if held >= size or len(rows) >= _ROWS:
                    yield reader.read(column, held, explain)
                    rows, held = [], 0
        except DamagedStreamError as error:
            damage = error.args[0]
        if rows:
            yield reader.read(column, held, explain)
        if damage is not None:
            yield self.report_rest(reader.done, damage, fields)

    def _make_problem(self, row: _Row, fields: Fields, number: int) -> Problem:
        if row.fault == _TOO_LONG:
            is_unclosed = row.rest is not None and row.rest.is_unclosed
            size = Message("a quote that is never closed") if is_unclosed else Message("more")
            return fields.make_length_problem(self.name, number, size)
        reason = row.describe_fault(len(self.header), self.format, self.encoding)
        content = f"{len(row.values)}: " if row.values and row.fault == _OTHER_WIDTH else ""
        content = show(content + self._decode_part(row.raw))
        return Problem(self.name, number, None, reason, content, _advise(row.fault))

    def _decode_part(self, raw: bytes) -> str:
        return raw[:400].decode(self.encoding, "backslashreplace").rstrip("\r\n")

    def read_rows(self) -> Iterator[list[Row]]:
        rows: list[Row] = []
        if self.format == "csv":
            why = Message("only CSV with the same columns can store an invalid row")
        else:
            why = Message("only TSV with the same columns can store an invalid row")
        try:
            for number, row in enumerate(self._read_records(_BLOCK), 1):
                if row.fault is None:
                    rows.append(dict(zip(self.header, row.values, strict=True)))
                else:
                    rows.append(Problem(self.name, number, None, why, None))
                if len(rows) >= _ROWS:
                    yield rows
                    rows = []
        except DamagedStreamError:
            pass
        if rows:
            yield rows

    def copy_kept(self, keep: KeepMask) -> Iterator[bytes | Iterator[bytes]]:
        raws: list[bytes] = []
        held = 0
        try:
            for row in self._read_records(_BLOCK):
                raws.append(row.raw)
                held += len(row.raw)
                if held >= KEPT_BYTES or len(raws) >= _ROWS or row.rest is not None:
                    flags = keep.take(len(raws)).tolist()
                    yield b"".join(compress(raws, flags))
                    raws, held = [], 0
                    if row.rest is not None and flags[-1]:
                        yield _end_line(row.rest)
        except DamagedStreamError:
            pass
        if raws:
            yield b"".join(compress(raws, keep.take(len(raws)).tolist()))


def _end_line(parts: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from parts
    except DamagedStreamError:
        yield b"\n"


class TabSeparatedSource(DelimitedSource):
    """A source of rows with tabs."""

    format = "tsv"


def _advise(fault: str | None) -> str:
    return Message(NAME_ENCODING) if fault == _NO_TEXT else ""
