"""The output of readers: batches of texts, and problems."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Self

import orjson
import pyarrow as pa

from neardup.base.messages import Message, from_plain, to_plain
from neardup.exceptions import InputError

__all__ = [
    "BATCH_BYTES",
    "BATCH_RECORDS",
    "CONVERT",
    "REMEMBERED",
    "Batch",
    "Chunk",
    "Problem",
    "Problems",
    "Run",
    "parts_of",
    "place_of",
    "refusal",
    "regroup",
    "show",
    "stopped",
    "strings",
]

BATCH_BYTES = 4 << 20
BATCH_RECORDS = 8192

CONVERT = "readers.convert"
"""Code of the remedy for text files in another encoding."""

_SHOWN = 60
#: Problems of one kind that a reader reports one by one for each source.
_LISTED = 1000
#: Problems remembered with their texts; all are counted.
REMEMBERED = 10_000


def show(value: Any) -> str:
    """Return a value as one line of at most 60 characters.

    Unprintable characters are escaped: text of the input may contain line breaks or
    terminal escapes, which would garble a message.
    """
    if isinstance(value, bytes):
        text = value[: 4 * _SHOWN].decode("utf-8", "backslashreplace")
    elif isinstance(value, str):
        text = value[: _SHOWN + 1]
    else:
        try:
            text = orjson.dumps(value, default=repr).decode()
        except (TypeError, ValueError):
            try:
                text = repr(value)
            except RecursionError:
                text = f"a {type(value).__name__} that is nested too deeply to be shown"
    text = text[: _SHOWN + 1]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the input that does not end the run.

    Parameters
    ----------
    source : str
        The file, as the user named it; ``-`` is standard input.
    record : int or None
        Number of the record in its source, from 1. Blank lines and header
        rows are not records. For a damaged file that ends early, the first
        record that could not be read. None for a problem of the whole source.
    field : str or None
        The field, or None for a problem of the whole record.
    reason : Message
        What the value must be, beginning with "must"; or what happened to the record.
    found : str or Message or None
        The value found, cut to 60 characters; None if the reason says it.
    remedy : Message or "", default=""
        The way out, a sentence, unless it is obvious.
    count : int, default=1
        Number of records with this problem. Of one kind, the first 1,000 of a source are
        reported one by one; a later problem is that of `record` and of others after it.

    Examples
    --------
    >>> print(Problem("a.jsonl", 3, "text", Message("readers.must_be_text"), "12"))
    a.jsonl: record 3, field 'text': must be text. Got 12 instead.
    """

    source: str
    record: int | None
    field: str | None
    reason: str
    found: str | None
    remedy: str = ""
    count: int = 1

    def __str__(self) -> str:
        return str(self.message)

    @property
    def message(self) -> Message:
        """Place, reason, what was found and the way out, as one message."""
        kind = "place" + "_record" * (self.record is not None) + "_field" * (self.field is not None)
        place = Message(
            f"readers.{kind}",
            source=self.source,
            record=self.record,
            field=None if self.field is None else show(self.field),
        )
        ends = _ends(self.found, self.remedy)
        if self.count > 1:
            ends["way_out"] = Message(
                "readers.and_more", way_out=ends["way_out"], count=self.count - 1
            )
        return Message("readers.problem", place=place, reason=self.reason, **ends)

    def to_dict(self) -> dict[str, Any]:
        """Return the parts for JSON, messages as codes and values."""
        return to_plain({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the problem that `to_dict` returned."""
        return cls(**from_plain(stored))


class Problems:
    """Collects the problems of one pass over a source; after the first of a kind it counts."""

    def __init__(self) -> None:
        self._seen: Counter[Hashable] = Counter()
        self._listed: list[tuple[int, Problem]] = []
        self._further: dict[Hashable, tuple[int, int]] = {}

    def add(self, index: int, kind: Hashable, problem: Callable[[], Problem]) -> None:
        """Add the problem of a record, by its index in the chunk; kinds are reported apart."""
        self._seen[kind] += 1
        if self._seen[kind] > _LISTED:
            further = self._further.get(kind)
            if further is not None:
                self._further[kind] = further[0], further[1] + 1
                return
            self._further[kind] = len(self._listed), 1
        self._listed.append((index, problem()))

    def take(self) -> list[tuple[int, Problem]]:
        """Return the problems since the last call, each with the index of its record."""
        listed, self._listed = self._listed, []
        for at, count in self._further.values():
            index, problem = listed[at]
            listed[at] = index, replace(problem, count=count)
        self._further.clear()
        return sorted(listed, key=itemgetter(0))


def refusal(
    file: str,
    reason: str,
    found: str | None = None,
    remedy: str = "",
    *,
    code: str = "readers.refused",
    **values: Any,
) -> Message:
    """Return the error message for a file that cannot be used at all.

    Parameters
    ----------
    file, reason, found, remedy
        The source and the parts, as of a `Problem`.
    code : str
        Code of the sentence, with placeholders for `file` and, as needed, for `reason`,
        `found`, `got` and `way_out`.
    **values : object
        Values of further placeholders.
    """
    ends = _ends(found, remedy)
    if found is not None:
        values["found"] = found
    return Message(code, file=file, reason=reason, **ends, **values)


def stopped(problem: Problem) -> InputError:
    """Return the error that ends a run at its first problem."""
    return InputError(Message("readers.stopped", problem=problem.message))


def parts_of(error: InputError) -> tuple[str, str | None, str]:
    """Return reason, found value and remedy of an error whose message is from `refusal`."""
    way_out = error.values["way_out"]
    remedy = way_out.values["remedy"] if way_out else ""
    return error.values["reason"], error.values.get("found"), remedy


def _ends(found: str | None, remedy: str) -> dict[str, str]:
    got: str = ""
    if found is not None:
        found = found or Message("readers.nothing")
        kind = "got_words" if isinstance(found, Message) else "got"
        got = Message(f"readers.{kind}", found=found)
    return {"got": got, "way_out": Message("readers.remedy", remedy=remedy) if remedy else ""}


def strings(column: pa.LargeStringArray) -> list[str]:
    """Return the values of a column without nulls."""
    values: list[Any] = column.to_pylist()
    return values


Run = tuple[int, str, int]
"""Consecutive rows of one source: the first row, the source, the record of that row."""


def place_of(runs: Sequence[Run], row: int) -> tuple[str, int | None]:
    """Return the source of a row, and the number of its record there.

    Examples
    --------
    >>> place_of([(0, "a.jsonl", 7), (3, "b.jsonl", 1)], 4)
    ('b.jsonl', 2)
    """
    at = bisect_right(runs, row, key=itemgetter(0)) - 1
    if at < 0:
        return "input", None
    begin, source, record = runs[at]
    return source, record + row - begin


@dataclass(slots=True)
class Batch:
    """Consecutive records of the input.

    The last batch may have no records, only a problem: that the rest is damaged.

    Parameters
    ----------
    first : int
        Position of the first record in the whole input, from 0.
    texts : pyarrow.LargeStringArray of length n
        Valid UTF-8; null where the record cannot be read.
    ids : pyarrow.LargeStringArray of length n
        Without nulls: the record's own id, or ``NAME:RECORD``.
    titles : pyarrow.LargeStringArray of length n, or None
        None if titles were not requested, or if no record of the batch has one.
    extra : dict of str to list
        The n values of each extra field, as Python objects; None where missing.
    problems : list of Problem
        Problems of these records, in input order.
    bytes_read : int
        Uncompressed bytes of input that this batch was read from.
    runs : list of Run
        The sources of the rows; see `place_of`. Empty for rows of no source.
    """

    first: int
    texts: pa.LargeStringArray
    ids: pa.LargeStringArray
    titles: pa.LargeStringArray | None = None
    extra: dict[str, list[Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    bytes_read: int = 0
    runs: list[Run] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(slots=True)
class Chunk:
    """The result of one read of one source, before it is cut into batches.

    An id is null only if the source has no name to make one from.

    Each problem has the index of its record in the chunk. A chunk without records
    can have a problem too: that the rest of its source cannot be read.
    """

    texts: pa.LargeStringArray
    ids: pa.LargeStringArray
    titles: pa.LargeStringArray | None
    extra: dict[str, list[Any]]
    problems: list[tuple[int, Problem]]
    bytes_read: int
    runs: list[Run] = field(default_factory=list)

    def cut(self, begin: int, end: int) -> "Chunk":
        """Return records ``begin:end``, with a proportional share of the bytes."""
        total = len(self.ids)
        share = self.bytes_read * end // total - self.bytes_read * begin // total
        return Chunk(
            self.texts.slice(begin, end - begin),
            self.ids.slice(begin, end - begin),
            None if self.titles is None else self.titles.slice(begin, end - begin),
            {name: values[begin:end] for name, values in self.extra.items()},
            [(i - begin, p) for i, p in self.problems if begin <= i < end],
            share,
            _cut_runs(self.runs, begin, end),
        )


def _cut_runs(runs: list[Run], begin: int, end: int) -> list[Run]:
    """Return the runs of the rows ``begin:end``, renumbered from 0."""
    source, record = place_of(runs, begin)
    first = [] if record is None else [(0, source, record)]
    return first + [(at - begin, name, number) for at, name, number in runs if begin < at < end]


def regroup(chunks: Iterable[Chunk], max_bytes: int, max_records: int) -> Iterator[Batch]:
    """Cut and join chunks into batches of about the requested size.

    The boundaries carry no meaning: the concatenated batches are the same for any size.
    """
    first = 0
    waiting: list[Chunk] = []
    records = size = 0
    for chunk in chunks:
        for part in _cut_large(chunk, max_bytes, max_records):
            if waiting and records + len(part.ids) > max_records:
                yield _join(waiting, first)
                first += records
                waiting, records, size = [], 0, 0
            waiting.append(part)
            records += len(part.ids)
            # Texts may be larger than what they are read from, such as a dictionary.
            size += max(part.bytes_read, part.texts.nbytes)
            if records >= max_records or size >= max_bytes:
                yield _join(waiting, first)
                first += records
                waiting, records, size = [], 0, 0
    if waiting:
        yield _join(waiting, first)


def _cut_large(chunk: Chunk, max_bytes: int, max_records: int) -> Iterator[Chunk]:
    total = len(chunk.ids)
    step = max_records
    if chunk.bytes_read > 2 * max_bytes:
        step = min(step, max(1, total * max_bytes // chunk.bytes_read))
    if total <= step:
        yield chunk
        return
    for begin in range(0, total, step):
        yield chunk.cut(begin, min(begin + step, total))


def _join(chunks: list[Chunk], first: int) -> Batch:
    titles = None
    if any(p.titles is not None and p.titles.null_count < len(p.titles) for p in chunks):
        titles = pa.concat_arrays(
            [
                pa.nulls(len(p.ids), pa.large_string()) if p.titles is None else p.titles
                for p in chunks
            ]
        )
    names = chunks[0].extra
    return Batch(
        first=first,
        texts=_concatenated([p.texts for p in chunks]),
        ids=_concatenated([p.ids for p in chunks]),
        titles=titles,
        extra={name: [v for p in chunks for v in p.extra[name]] for name in names},
        problems=[problem for p in chunks for _, problem in p.problems],
        bytes_read=sum(p.bytes_read for p in chunks),
        runs=_joined_runs(chunks),
    )


def _concatenated(arrays: list[pa.LargeStringArray]) -> pa.LargeStringArray:
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def _joined_runs(chunks: list[Chunk]) -> list[Run]:
    runs: list[Run] = []
    done = 0
    for chunk in chunks:
        runs += [(done + at, source, record) for at, source, record in chunk.runs]
        done += len(chunk.ids)
    return runs
