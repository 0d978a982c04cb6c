r"""JSON Lines: one object per line; blank lines are skipped.

Most files have no bad line, so a block of lines is first read as a whole: parse,
pick the texts, convert them to Arrow. If a line is bad, one of these steps fails,
and the block is read line by line, which takes ten times as long and finds the
error. Good lines give the same result both ways. Lines end in ``\n``; a record is
its line without the line break.

The parser turns whole numbers beyond 64 bits into floats. If an id or a sort value
is such a number, its line is parsed again with these numbers as text. A record to
convert is parsed by the standard library, which keeps all digits but recurses: it
never gets a deeply nested record.
"""

import json
import re
from collections.abc import Iterator
from itertools import compress
from typing import Any

import orjson
import pyarrow as pa

from neardup._engine.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import CONVERT, Chunk, Problem, refusal, show
from neardup.readers.columns import no_surrogates
from neardup.readers.fields import (
    DEFAULT_ID,
    DEFAULT_TITLE,
    Fields,
    as_id,
    check_text_field,
    listing,
)
from neardup.readers.formats import extension_of
from neardup.readers.source import Keep, Row, texts_array, unreadable_rest
from neardup.readers.streams import ReopenableFile, StreamDamaged, line_blocks

__all__ = ["JsonLines"]

_BLOCK = 4 << 20
_SAMPLE = 1 << 16
_HEAD = 1 << 12
# The parser accepts values nested about 1000 deep, but the serializer does not.
_DEPTH = 250
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NOT_UTF8 = "readers.must_be_utf8"
# A run of this many digits may be a number beyond 64 bits. Replacing all digits by
# zeros and searching for zeros is ten times as fast as a regular expression.
_RUN = b"0" * 19
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_BEYOND = float(1 << 63)
# Matches whole strings, to skip the digits inside them. Possessive, so it never backtracks.
_TEXT_OR_LONG_NUMBER = re.compile(rb""""(?:[^"\\]++|\\.)*+"|-?\d{19,}+(?![.eE])""", re.DOTALL)
_NOT_CLEAN = (orjson.JSONDecodeError, LookupError, TypeError, pa.ArrowException)


class JsonLines:
    """A source of JSON lines."""

    format = "jsonl"

    def __init__(self, source_file: ReopenableFile, compression: str | None) -> None:
        self.name = source_file.name
        self.source_file = source_file
        self._compression = compression
        if extension_of(source_file.name) == ".json":
            self._check_lines()

    def _check_lines(self) -> None:
        """Refuse JSON that is not one object per line."""
        try:
            head = next(self.source_file.chunks(self._compression, _HEAD), b"").lstrip()
        except StreamDamaged:
            return
        if head.startswith(b"["):
            found, program = Message("readers.json_array"), ".[]"
        elif head.partition(b"\n")[0].strip() == b"{":
            found, program = Message("readers.json_of_lines"), "."
        else:
            return
        convert = "unpack_and_convert_with" if self._compression else "convert_with"
        remedy = Message(f"readers.{convert}", command=f"jq -c '{program}' {self.name}")
        raise InputError(refusal(self.name, Message("readers.must_hold_objects"), found, remedy))

    def check_unchanged(self) -> None:
        """Raise InputError if the file changed since the first pass."""
        self.source_file.check_unchanged()

    def check_fields(self, fields: Fields) -> None:
        """Raise InputError if none of the first records has the text field.

        If none of them is a JSON object, `chunks` reports it.
        """
        check_text_field(self._first_records(), fields, self.name)

    def _first_records(self) -> Iterator[dict[str, Any] | Message]:
        try:
            for lines in self._blocks(_SAMPLE):
                yield from map(parse, lines)
        except StreamDamaged:
            return

    def _blocks(self, size: int) -> Iterator[list[bytes]]:
        for lines in line_blocks(self.source_file.chunks(self._compression, size)):
            records = [line for line in lines if line and not line.isspace()]
            if records:
                yield records

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Chunk]:
        """Read the texts, in chunks of about `size` bytes."""
        reading = LineReading(self.name, fields, titles)
        try:
            for lines in self._blocks(size):
                yield reading.clean(lines) or reading.careful(lines)
        except StreamDamaged as error:
            yield unreadable_rest(self.name, reading.done, error.args[0], fields.extra)
        if reading.title_missing:
            problem = fields.no_title(self.name, reading.objects)
            extra: dict[str, list[Any]] = {name: [] for name in fields.extra}
            yield Chunk(texts_array([]), [], None, extra, [(0, problem)], 0)

    def rows(self) -> Iterator[list[Row]]:
        """Read whole records."""
        done = 0
        try:
            for lines in self._blocks(_BLOCK):
                rows = [self._row(line, done + i) for i, line in enumerate(lines, 1)]
                done += len(rows)
                yield rows
        except StreamDamaged:
            return

    def _row(self, line: bytes, number: int) -> Row:
        record = parse(line)
        if not isinstance(record, dict):
            why = Message("readers.only_jsonl_no_object")
        elif line.count(b"[") + line.count(b"{") < _DEPTH or _is_writable(record):
            return exact_record(line) if _RUN in line.translate(_ZEROS) else record
        else:
            why = Message("readers.only_jsonl_deep", levels=_DEPTH)
        return Problem(self.name, number, None, why, None)

    def kept_bytes(self, keep: Keep) -> Iterator[bytes]:
        """Yield the kept lines, byte for byte."""
        try:
            for lines in self._blocks(_BLOCK):
                kept = list(compress(lines, keep.take(len(lines)).tolist()))
                if kept:
                    kept.append(b"")
                    yield b"\n".join(kept)
        except StreamDamaged:
            return


class LineReading:
    """The state of one pass over the lines."""

    def __init__(self, source: str, fields: Fields, titles: bool) -> None:
        self.source = source
        self.fields = fields
        self.title = (fields.title or DEFAULT_TITLE) if titles else None
        self.id = fields.id or DEFAULT_ID
        self.done = self.objects = 0
        self._title_seen = False

    @property
    def title_missing(self) -> bool:
        """Whether records were read and none has the named title field."""
        return self.fields.title is not None and not self._title_seen and self.objects > 0

    def clean(self, lines: list[bytes]) -> Chunk | None:
        """Read a block without bad lines; return None if there may be one."""
        text = self.fields.text
        try:
            records = list(map(orjson.loads, lines))
            if text is None:
                # The same as `Fields.text_of`, without a call for each record.
                values = [
                    r["text"] if "text" in r else r["content"] if "content" in r else r["body"]
                    for r in records
                ]
            else:
                values = [record[text] for record in records]
            texts = texts_array(values)
        except _NOT_CLEAN:
            return None
        if texts.null_count:
            return None
        return self._piece(lines, records, len(records), texts, [])

    def careful(self, lines: list[bytes]) -> Chunk:
        """Read a block line by line."""
        records: list[dict[str, Any]] = []
        texts: list[str | None] = []
        problems: list[tuple[int, Problem]] = []
        objects = 0
        for index, line in enumerate(lines):
            number = self.done + index + 1
            record = parse(line)
            if isinstance(record, Message):
                remedy = Message(CONVERT) if record.code == _NOT_UTF8 else ""
                problem = Problem(self.source, number, None, record, show(line), remedy)
                problems.append((index, problem))
                records.append({})
                texts.append(None)
                continue
            objects += 1
            records.append(record)
            name = self.fields.text_of(record)
            text = None if name is None else record[name]
            texts.append(text if isinstance(text, str) else None)
            if not isinstance(text, str):
                problems.append((index, self.fields.no_text(record, self.source, number)))
        return self._piece(lines, records, objects, texts_array(texts), problems)

    def _piece(
        self,
        lines: list[bytes],
        records: list[dict[str, Any]],
        objects: int,
        texts: pa.LargeStringArray,
        problems: list[tuple[int, Problem]],
    ) -> Chunk:
        ids = self._ids(lines, records, texts, problems)
        self.objects += objects
        if self.fields.title is not None and not self._title_seen:
            self._title_seen = any(self.fields.title in record for record in records)
        titles = None
        if self.title is not None:
            values = [record.get(self.title) for record in records]
            titles = texts_array([v if v.__class__ is str else None for v in values])
        self.done += len(records)
        return Chunk(
            texts,
            ids,
            titles,
            {name: self._values(lines, records, name) for name in self.fields.extra},
            problems,
            sum(map(len, lines)) + len(lines),
            [(0, self.source, self.done - len(records) + 1)],
        )

    @staticmethod
    def _values(lines: list[bytes], records: list[dict[str, Any]], name: str) -> list[Any]:
        values = [record.get(name) for record in records]
        return [
            exact_value(line, name) if is_beyond(value) else value
            for line, value in zip(lines, values, strict=True)
        ]

    def _ids(
        self,
        lines: list[bytes],
        records: list[dict[str, Any]],
        texts: pa.LargeStringArray,
        problems: list[tuple[int, Problem]],
    ) -> list[str]:
        key = self.id
        ids: list[str] = []
        for index, record in enumerate(records):
            value = as_id(record.get(key))
            if value is None and is_beyond(record.get(key)):
                value = as_id(exact_value(lines[index], key))
            if value is None:
                number = self.done + index + 1
                value = f"{self.source}:{number}"
                # A record that was reported already is not reported twice.
                if self.fields.id is not None and texts[index].is_valid:
                    problems.append((index, self._no_id(record, number)))
            ids.append(value)
        problems.sort(key=lambda found: found[0])
        return ids

    def _no_id(self, record: dict[str, Any], number: int) -> Problem:
        if self.id in record:
            reason = Message("readers.must_be_id")
            return Problem(self.source, number, self.id, reason, show(record[self.id]))
        found = Message("readers.record_with", names=listing(record))
        return Problem(self.source, number, self.id, Message("readers.must_be_present"), found)


def parse(line: bytes) -> dict[str, Any] | Message:
    """Return the object of a line, or a message if it is not a JSON object."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _not_json(line, error)
    return record if isinstance(record, dict) else Message("readers.must_be_object")


def exact_record(line: bytes) -> dict[str, Any]:
    """Return the object of a valid line, with all digits of whole numbers.

    A number has at most 308 digits; beyond that, `parse` refuses the line. The line must
    be nested less than 250 levels deep, since the parser recurses.
    """
    record: dict[str, Any] = json.loads(line)
    return record


def exact_value(line: bytes, name: str) -> Any:
    """Return a field of a valid line, a whole number with all its digits.

    The line may be nested as deeply as `parse` allows.

    Examples
    --------
    >>> exact_value(b'{"id": 12345678901234567890123, "text": "1"}', "id")
    12345678901234567890123
    """

    def quoted(found: re.Match[bytes]) -> bytes:
        return found[0] if found[0].startswith(b'"') else b'"%b"' % found[0]

    parsed = orjson.loads(line)[name]
    if not is_beyond(parsed):
        return parsed
    digits = orjson.loads(_TEXT_OR_LONG_NUMBER.sub(quoted, line))[name]
    return int(digits) if isinstance(digits, str) else parsed


def is_beyond(value: Any) -> bool:
    """Return whether a value may be a whole number that the parser made a float."""
    return value.__class__ is float and abs(value) >= _BEYOND


def _is_writable(record: dict[str, Any]) -> bool:
    try:
        orjson.dumps(record)
    except TypeError:
        return False
    return True


def _not_json(line: bytes, error: orjson.JSONDecodeError) -> Message:
    try:
        line.decode()
    except UnicodeDecodeError as invalid:
        where = Message("readers.where_byte_of_record", byte=invalid.start + 1)
        return Message(_NOT_UTF8, where=where)
    if _SURROGATE.search(line):
        try:
            # The standard library accepts lone surrogates: if it accepts the
            # line, they were the error.
            json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            pass
        else:
            return no_surrogates()
    where = Message("readers.where_json", said=error.msg, at=error.colno)
    return Message("readers.must_be_json", where=where)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
