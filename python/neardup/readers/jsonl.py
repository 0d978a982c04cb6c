r"""JSON Lines: one object per line; blank lines are skipped.

The core reads blocks of lines into Arrow columns, and leaves what is damaged or unusual to this
module; both give the same for a good record. Lines end in ``\n``. The parser makes floats of whole
numbers beyond 64 bits: where such a number is needed, it is a problem. A record that is nested too
deeply is a problem, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import accumulate, chain
from typing import Any

from neardup.base.arrays import texts_array
from neardup.base.lazy import _core, orjson, pa
from neardup.base.messages import Message
from neardup.base.prefetch import prefetch
from neardup.exceptions import InputError
from neardup.readers.batch import (
    NAME_ENCODING,
    Batch,
    Problem,
    Problems,
    make_empty_batch,
    make_refusal,
    show,
)
from neardup.readers.encodings import make_invalid_reason
from neardup.readers.fields import (
    DEFAULT_ID,
    DEFAULT_TITLE,
    Fields,
    as_id,
    check_text_field,
    list_names,
)
from neardup.readers.formats import find_extension
from neardup.readers.json_faults import NOT_UTF8, parse
from neardup.readers.lines import cut_blocks, read_whole_lines
from neardup.readers.paths import MISSING, find_value, find_values, list_heads, list_paths
from neardup.readers.source import KEPT_BYTES, KeepMask, LineSource, Row
from neardup.readers.streams import DamagedStreamError, ReopenableFile

_BLOCK = 4 << 20
_SAMPLE = 1 << 16
_HEAD = 1 << 12
#: Lines that are too long, together.
_LONG = 1 << 12
#: The most levels of a record; the core reads one less.
_DEPTH = 128
# A run of this many digits may be a number beyond 64 bits. Replacing all digits by
# zeros and searching for zeros is ten times as fast as a regular expression.
_RUN = b"0" * 19
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
#: A whole string, or a bracket. Possessive, so it never backtracks.
_NESTING = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class JsonLines(LineSource):
    """A source of JSON lines, which are UTF-8 when they are written."""

    format = "jsonl"
    only_utf8 = True

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        if find_extension(file.name) == ".json":
            self._check_lines()

    def _check_lines(self) -> None:
        """Refuse JSON that is not one object per line."""
        try:
            head = next(self._read_content(_HEAD), b"").lstrip()
        except DamagedStreamError:
            return
        if head.startswith(b"["):
            content, program = Message("a JSON array"), ".[]"
        elif head.partition(b"\n")[0].strip() == b"{":
            content, program = Message("an object that spans several lines"), "."
        else:
            return
        command = f"jq -c '{program}' {self.name}"
        if self.compression:
            remedy = Message("Unpack it and convert it with: {command}", command=command)
        else:
            remedy = Message("Convert it with: {command}", command=command)
        raise InputError(
            make_refusal(
                self.name,
                Message("must hold one JSON object per line", code="invalid_json"),
                content,
                remedy,
            )
        )

    def check_fields(self, fields: Fields) -> None:
        """Raise InputError if none of the first records has the text field."""
        check_text_field(self.read_first_records(), fields, self.name)

    def read_first_records(self) -> Iterator[dict[str, Any] | Message]:
        """Yield records from the beginning, each as its fields or as what is wrong with it."""
        try:
            for block in self._read_blocks(_SAMPLE):
                if isinstance(block, bytes):
                    yield from map(parse, _split_records(block))
                else:
                    yield Message(
                        "must have at most {most:,} bytes", code="too_long", most=self._max_text
                    )
        except DamagedStreamError:
            return

    def _read_blocks(self, size: int) -> Iterator[bytes | Iterator[bytes]]:
        """Yield blocks of lines, and each line that is too long as an iterator of its parts."""
        chunks = self._read_content(size)
        if self.compression is None:
            yield from read_whole_lines(chunks, self._max_text)
            return
        # Closing ends the decompressing thread also if the rest is not wanted.
        with closing(prefetch(chunks)) as unpacked:
            yield from read_whole_lines(unpacked, self._max_text)

    def read_texts(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        reading = LineReader(self.name, fields, titles, self._recoded or "utf-8")
        damage = None
        # Consecutive lines that are too long.
        long = 0
        try:
            for block in cut_blocks(self._read_blocks(size)):
                if long == _LONG or (long and isinstance(block, bytes)):
                    yield reading.read_too_long(long)
                    long = 0
                if isinstance(block, bytes):
                    yield reading.read(block)
                else:
                    long += 1
        except DamagedStreamError as error:
            damage = error.args[0]
        if long:
            yield reading.read_too_long(long)
        if damage is not None:
            yield self.report_rest(reading.done, damage, fields)
        if reading.title_missing:
            problem = fields.make_title_problem(self.name, reading.objects)
            yield make_empty_batch([problem], fields.extra)

    def read_rows(self) -> Iterator[list[Row]]:
        done = 0
        no_object = Message("only JSON Lines can store a record that is not a JSON object")
        try:
            for block in cut_blocks(self._read_blocks(_BLOCK)):
                if not isinstance(block, bytes):
                    done += 1
                    why = Message(
                        "must have at most {most:,} bytes", code="too_long", most=self._max_text
                    )
                    yield [Problem(self.name, done, None, why, None)]
                    continue
                lines = enumerate(_split_records(block), done + 1)
                rows = [self._read_row(line, number, no_object) for number, line in lines]
                done += len(rows)
                yield rows
        except DamagedStreamError:
            return

    def _read_row(self, line: bytes, number: int, no_object: Message) -> Row:
        record = parse(line)
        if isinstance(record, Message):
            why = no_object
        elif _is_deep(line):
            why = Message(
                "only JSON Lines can store a record nested more than {levels} levels deep",
                levels=_DEPTH,
            )
        elif _RUN in line.translate(_ZEROS) and _drop_large_numbers(line)[1]:
            why = Message("only JSON Lines can store a whole number beyond 64 bits")
        else:
            return record
        return Problem(self.name, number, None, why, None)

    def copy_kept(self, keep: KeepMask) -> Iterator[bytes | Iterator[bytes]]:
        try:
            for block in self._read_blocks(KEPT_BYTES):
                if not isinstance(block, bytes):
                    if keep.take(1)[0]:
                        yield _end_line(block)
                    continue
                flags = keep.take(_core.count_records(block))
                if 1 in flags:
                    yield _core.kept_records(block, flags)
        except DamagedStreamError:
            return


def _end_line(line: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the parts of a line, as far as they can be read, and its end."""
    with suppress(DamagedStreamError):
        yield from line
    yield b"\n"


def _split_records(block: bytes) -> list[bytes]:
    return [line for line in block.split(b"\n") if line and not line.isspace()]


class LineReader:
    """The state of one pass over the lines; without `source`, a record may have no id.

    `encoding` is the encoding of the file, for problems.
    """

    def __init__(self, source: str, fields: Fields, titles: bool, encoding: str = "utf-8") -> None:
        self.source = source
        self._encoding = encoding
        self.fields = fields
        #: Also a named title that is not read must exist.
        self.title = fields.title or (DEFAULT_TITLE if titles else None)
        self._titles = titles
        self.id = fields.id or DEFAULT_ID
        self.done = self.objects = 0
        self._title_seen = False
        self._problems = Problems()
        self._heads = {name: list_heads(name) for name in fields.extra}
        self._extra = list(dict.fromkeys(chain.from_iterable(self._heads.values())))
        self._columns = _core.JsonFields(
            list(fields.texts),
            self.id,
            requires_id=fields.id is not None,
            title=self.title,
            extra=self._extra,
        ).columns

    @property
    def title_missing(self) -> bool:
        """Whether records were read and none has the named title field."""
        return self.fields.title is not None and not self._title_seen and self.objects > 0

    def read(self, block: bytes) -> Batch:
        """Read a block of whole lines."""
        texts, ids, titles, has_title, extra, unclear = self._columns(
            block, self.source, self.done + 1
        )
        columns = dict(zip(self._extra, map(orjson.loads, extra), strict=True))
        values = {name: _find_extra(name, heads, columns) for name, heads in self._heads.items()}
        self._title_seen |= has_title
        count = len(ids)
        self.objects += count - len(unclear)
        rows: list[list[str | None]] = []
        for row, line in unclear:
            record = parse(line)
            if isinstance(record, Message):
                self._problems.add(
                    row, record.code, partial(self._make_object_problem, row, line, record)
                )
                continue
            if _is_deep(line):
                self._problems.add(row, "deep", partial(self._make_depth_problem, row, line))
                continue
            rows = rows or [
                [None] * count if column is None else pa.array(column).to_pylist()
                for column in (texts, ids, titles)
            ]
            self._read_object(row, line, record, rows, values)
        if rows:
            texts, ids, titles = map(texts_array, rows)
        self.done += count
        return Batch(
            texts,
            ids,
            titles if self._titles else None,
            values,
            self._problems.take(),
            len(block) + 1,
            [(0, self.source, self.done - count + 1)],
        )

    def read_too_long(self, count: int = 1) -> Batch:
        """Return the chunk of lines that are too long."""
        first = self.done + 1
        self.done += count
        more = Message("more")
        for row in range(count):
            problem = partial(self.fields.make_length_problem, self.source, first + row, more)
            self._problems.add(row, "too_long", problem)
        return Batch(
            pa.nulls(count, pa.large_string()),
            texts_array([f"{self.source}:{first + row}" for row in range(count)]),
            None,
            {name: [None] * count for name in self.fields.extra},
            self._problems.take(),
            count * self.fields.max_text,
            [(0, self.source, first)],
        )

    def _make_object_problem(self, row: int, line: bytes, reason: Message) -> Problem:
        remedy = ""
        if reason.code == NOT_UTF8:
            reason = reason if self._encoding == "utf-8" else make_invalid_reason(self._encoding)
            remedy = Message(NAME_ENCODING)
        return Problem(self.source, self.done + row + 1, None, reason, show(line), remedy)

    def _make_depth_problem(self, row: int, line: bytes) -> Problem:
        reason = Message(
            "must be nested at most {levels} levels deep", code="invalid_json", levels=_DEPTH
        )
        return Problem(self.source, self.done + row + 1, None, reason, show(line))

    def _read_object(
        self,
        row: int,
        line: bytes,
        record: dict[str, Any],
        rows: list[list[str | None]],
        values: dict[str, list[Any]],
    ) -> None:
        """Set the place of a record in all columns; `read_rows` are texts, ids and titles."""
        texts, ids, titles = rows
        self.objects += 1
        name, text = self.fields.find_text(record)
        own_id = find_value(record, self.id)
        key = as_id(own_id)
        rounded = {name for name in values if _may_be_rounded(find_value(record, name))}
        if _may_be_rounded(own_id):
            rounded.add(self.id)
        if rounded:
            exact, _ = _drop_large_numbers(line)
            rounded = {name for name in rounded if find_value(exact, name) is None}
        number = self.done + row + 1
        if isinstance(text, str):
            texts[row] = text
        else:
            no_text = partial(self.fields.make_text_problem, record, self.source, number)
            self._problems.add(row, ("text", name), no_text)
        if key is not None:
            ids[row] = key
        elif isinstance(text, str) and (self.fields.id is not None or self.id in rounded):
            # A record that was reported already is not reported twice.
            no_id = partial(self._make_id_problem, record, own_id, number)
            self._problems.add(row, ("id", own_id is not MISSING), no_id)
        if self.title is not None and self.title in record:
            self._title_seen = True
            title = record[self.title]
            titles[row] = title if isinstance(title, str) else None
        for name in values:
            value = find_value(record, name)
            values[name][row] = None if name in rounded or value is MISSING else value
            if name in rounded and name != self.id:
                self._problems.add(
                    row, ("number", name), partial(self._make_number_problem, name, number)
                )

    def _make_id_problem(self, record: dict[str, Any], value: Any, number: int) -> Problem:
        if value is not MISSING:
            reason = Message("must be text or an integer of at most 64 bits", code="not_an_id")
            return Problem(self.source, number, self.id, reason, show(value))
        content = Message("a record with {names}", names=list_names(list_paths(record)))
        return Problem(
            self.source, number, self.id, Message("must be present", code="no_such_field"), content
        )

    def _make_number_problem(self, name: str, number: int) -> Problem:
        reason = Message("must have at most 64 bits if it is an integer")
        return Problem(self.source, number, name, reason, None)


def _find_extra(path: str, heads: list[str], columns: dict[str, list[Any]]) -> list[Any]:
    """Return the values at a path, from the columns that it may begin with."""
    if heads == [path]:
        return columns[path]
    rows = zip(*(columns[head] for head in heads), strict=True)
    records = ({h: v for h, v in zip(heads, row, strict=True) if v is not None} for row in rows)
    return find_values(records, path)


def _is_deep(line: bytes) -> bool:
    """Return whether a valid line is nested too deeply for the core, or for other formats."""
    if len(line) <= _DEPTH or line.count(b"[") + line.count(b"{") <= _DEPTH:
        return False
    changes = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
    return max(accumulate(changes.get(match[0], 0) for match in _NESTING.finditer(line))) > _DEPTH


def _may_be_rounded(value: Any) -> bool:
    """Return whether a value may be a whole number beyond 64 bits that became a float."""
    return value.__class__ is float and abs(value) >= 1 << 63


def _drop_large_numbers(line: bytes) -> tuple[dict[str, Any], bool]:
    """Return a valid record with None for whole numbers beyond 64 bits, and whether it has one."""
    has_one = False

    def parse_whole(digits: str) -> int | None:
        nonlocal has_one
        if len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 64:
            return int(digits)
        has_one = True
        return None

    record = json.loads(line, parse_int=parse_whole)
    return record, has_one
