"""The output of readers: batches of texts, and problems."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import Any, Self, Union

from neardup.base.lazy import _core, orjson, pa
from neardup.base.messages import N_, Message, from_plain, to_plain
from neardup.exceptions import InputError

BATCH_BYTES = 4 << 20
BATCH_RECORDS = 8192

NAME_ENCODING = N_("If the file is in another encoding, name it with {given[encoding]}.")
"""The remedy for what is not valid in the encoding of a file."""

_SHOWN = 60
#: Problems of one kind that a reader reports one by one for each source.
_LISTED = 1000
#: Problems remembered with their texts; all are counted.
REMEMBERED = 10_000


def show(value: Any) -> str:
    """Return a value as one line of at most 60 characters, unprintable ones escaped."""
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
    >>> print(Problem("a.jsonl", 3, "text", Message("must be text"), "12"))
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
        place: str = self.source
        if self.record is not None and self.field is not None:
            place = Message(
                "{source}: record {record}, field '{field}'",
                source=self.source,
                record=self.record,
                field=show(self.field),
            )
        elif self.record is not None:
            place = Message("{source}: record {record}", source=self.source, record=self.record)
        elif self.field is not None:
            place = Message("{source}: field '{field}'", source=self.source, field=show(self.field))
        ends = _make_ends(self.found, self.remedy)
        if self.count > 1:
            ends["way_out"] = Message.counted(
                "{way_out} One more record has this problem.",
                "{way_out} {count:,} more records have this problem.",
                way_out=ends["way_out"],
                count=self.count - 1,
            )
        return Message(
            "{place}: {reason}.{got}{way_out}",
            code=find_code(self.reason),
            place=place,
            reason=self.reason,
            **ends,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the parts for JSON."""
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
        for position, count in self._further.values():
            index, problem = listed[position]
            listed[position] = index, replace(problem, count=count)
        self._further.clear()
        return sorted(listed, key=itemgetter(0))


def make_refusal(
    file: str, reason: str, content: str | None = None, remedy: str = "", code: str | None = None
) -> Message:
    """Return the error message for a file that cannot be used at all; parts as of a `Problem`."""
    ends = _make_ends(content, remedy)
    if content is not None:
        ends["found"] = content
    code = code or find_code(reason)
    return Message("{file}: {reason}.{got}{way_out}", code=code, file=file, reason=reason, **ends)


def find_code(message: str) -> str | None:
    """Return the code of a message, None for other text."""
    return message.code if isinstance(message, Message) else None


def make_stop_error(problem: Problem) -> InputError:
    """Return the error that ends a run at its first problem."""
    return InputError(
        Message(
            "{problem} Stopped, as {given[on_error='stop']} asks.",
            code="stopped_at_problem",
            problem=problem.message,
        )
    )


def split_refusal(error: InputError) -> tuple[str, str | None, str]:
    """Return reason, found value and remedy of an error whose message is from `make_refusal`."""
    way_out = error.values["way_out"]
    remedy = way_out.values["remedy"] if way_out else ""
    return error.values["reason"], error.values.get("found"), remedy


def _make_ends(content: str | None, remedy: str) -> dict[str, str]:
    got: str = ""
    if content is not None:
        got = Message(" Got {found} instead.", found=content or Message("nothing"))
    return {"got": got, "way_out": Message(" {remedy}", remedy=remedy) if remedy else ""}


def read_text(column: Texts | None, row: int) -> str | None:
    """Return a text of a column, None for null or without a column."""
    if column is None:
        return None
    if isinstance(column, _core.ArrowArray):
        return column[row]
    value: str | None = column[row].as_py()
    return value


def list_texts(column: pa.LargeStringArray) -> list[str]:
    """Return the values of a column without nulls."""
    values: list[Any] = column.to_pylist()
    return values


#: A column of texts, of pyarrow or of the core.
Texts = Union["pa.LargeStringArray", "_core.ArrowArray"]

Run = tuple[int, str, int]
"""Consecutive rows of one source: the first row, the source, the record of that row."""


def find_place(runs: Sequence[Run], row: int) -> tuple[str, int | None]:
    """Return the source of a row, and the number of its record there.

    Examples
    --------
    >>> find_place([(0, "a.jsonl", 7), (3, "b.jsonl", 1)], 4)
    ('b.jsonl', 2)
    """
    position = bisect_right(runs, row, key=itemgetter(0)) - 1
    if position < 0:
        return "input", None
    begin, source, record = runs[position]
    return source, record + row - begin


class Batch:
    """Consecutive records of the input; without records, only problems: the rest is damaged.

    Parameters
    ----------
    texts : pyarrow.LargeStringArray of length n
        Valid UTF-8; null where the record cannot be read.
    ids : pyarrow.LargeStringArray of length n
        The record's own id, or ``NAME:RECORD``. Null only if the source has no name.
    titles : pyarrow.LargeStringArray of length n, or None
        None if titles were not requested, or if no record of the batch has one.
    extra : dict of str to list
        The n values of each extra field, as Python objects; None where missing.
    row_problems : list of (int, Problem)
        Problems with the rows of their records, in input order.
    bytes_read : int
        Uncompressed bytes of input that this batch was read from.
    runs : list of Run
        The sources of the rows; see `find_place`. Empty for rows of no source.
    """

    __slots__ = ("_ids", "_texts", "_titles", "bytes_read", "extra", "row_problems", "runs")

    def __init__(
        self,
        texts: Texts,
        ids: Texts,
        titles: Texts | None = None,
        extra: dict[str, list[Any]] | None = None,
        row_problems: list[tuple[int, Problem]] | None = None,
        bytes_read: int = 0,
        runs: list[Run] | None = None,
    ) -> None:
        self._texts, self._ids, self._titles = texts, ids, titles
        self.extra = {} if extra is None else extra
        self.row_problems = [] if row_problems is None else row_problems
        self.bytes_read = bytes_read
        self.runs = [] if runs is None else runs

    @property
    def texts(self) -> pa.LargeStringArray:
        """The texts, in pyarrow."""
        self._texts = in_pyarrow(self._texts)
        return self._texts

    @property
    def ids(self) -> pa.LargeStringArray:
        """The ids, in pyarrow."""
        self._ids = in_pyarrow(self._ids)
        return self._ids

    @property
    def titles(self) -> pa.LargeStringArray | None:
        """The titles, in pyarrow."""
        self._titles = None if self._titles is None else in_pyarrow(self._titles)
        return self._titles

    @property
    def columns(self) -> tuple[Texts, Texts, Texts | None]:
        """The texts, ids and titles as they were read, which does not load pyarrow."""
        return self._texts, self._ids, self._titles

    def with_texts(self, texts: Texts) -> Batch:
        """Return the batch with other texts."""
        _, ids, titles = self.columns
        rest = self.extra, self.row_problems, self.bytes_read, self.runs
        return Batch(texts, ids, titles, *rest)

    def __len__(self) -> int:
        return len(self._ids)

    def values(self, name: str) -> list[Any]:
        """Return the values of an extra field; texts alone have no fields."""
        return self.extra.get(name, [None] * len(self))

    @property
    def problems(self) -> list[Problem]:
        """The problems, in input order."""
        return [problem for _, problem in self.row_problems]

    def cut(self, begin: int, end: int) -> Batch:
        """Return the records ``begin:end``, with a proportional share of the bytes."""
        total, length = len(self), end - begin
        share = self.bytes_read * end // total - self.bytes_read * begin // total
        source, record = find_place(self.runs, begin)
        first: list[Run] = [] if record is None else [(0, source, record)]
        later = [(row - begin, name, of) for row, name, of in self.runs if begin < row < end]
        texts, ids, titles = self.columns
        return Batch(
            texts.slice(begin, length),
            ids.slice(begin, length),
            None if titles is None else titles.slice(begin, length),
            {name: values[begin:end] for name, values in self.extra.items()},
            [(row - begin, p) for row, p in self.row_problems if begin <= row < end],
            share,
            first + later,
        )


def in_pyarrow(column: Texts) -> pa.LargeStringArray:
    """Return a column as pyarrow's, without a copy."""
    if isinstance(column, _core.ArrowArray):
        exported: Any = column
        taken: pa.LargeStringArray = pa.array(exported)
        return taken
    return column


def make_empty_batch(problems: Iterable[Problem], extra: Iterable[str]) -> Batch:
    """Return a batch of problems alone, with the names of the extra fields."""
    none = pa.nulls(0, pa.large_string())
    return Batch(none, none, None, {name: [] for name in extra}, [(0, p) for p in problems])


def regroup(batches: Iterable[Batch], max_bytes: int, max_records: int) -> Iterator[Batch]:
    """Cut and join batches to about the requested size; their content stays."""
    waiting: list[Batch] = []
    records = size = 0
    for batch in batches:
        for part in _cut_large(batch, max_bytes, max_records):
            if waiting and records + len(part) > max_records:
                yield _join(waiting)
                waiting, records, size = [], 0, 0
            waiting.append(part)
            records += len(part)
            # Texts may be larger than what they are read from, such as a dictionary.
            size += max(part.bytes_read, part.columns[0].nbytes)
            if records >= max_records or size >= max_bytes:
                yield _join(waiting)
                waiting, records, size = [], 0, 0
    if waiting:
        yield _join(waiting)


def _cut_large(batch: Batch, max_bytes: int, max_records: int) -> Iterator[Batch]:
    total = len(batch)
    step = max_records
    if batch.bytes_read > 2 * max_bytes:
        step = min(step, max(1, total * max_bytes // batch.bytes_read))
    if total <= step:
        yield batch
        return
    for begin in range(0, total, step):
        yield batch.cut(begin, min(begin + step, total))


def _join(parts: list[Batch]) -> Batch:
    columns = [part.columns for part in parts]
    has_titles = any(t is not None and t.null_count < len(t) for _, _, t in columns)
    if len(parts) == 1:
        (texts, ids, titles), part = columns[0], parts[0]
        rest = part.extra, part.row_problems, part.bytes_read, part.runs
        return Batch(texts, ids, titles if has_titles else None, *rest)
    titles = None
    if has_titles:
        titles = pa.concat_arrays(
            [pa.nulls(len(p), pa.large_string()) if p.titles is None else p.titles for p in parts]
        )
    begins = [0, *accumulate(map(len, parts))]
    placed = list(zip(begins, parts, strict=False))
    return Batch(
        texts=pa.concat_arrays([p.texts for p in parts]),
        ids=pa.concat_arrays([p.ids for p in parts]),
        titles=titles,
        extra={name: [v for p in parts for v in p.extra[name]] for name in parts[0].extra},
        row_problems=[(b + row, problem) for b, p in placed for row, problem in p.row_problems],
        bytes_read=sum(p.bytes_read for p in parts),
        runs=[(b + row, name, of) for b, p in placed for row, name, of in p.runs],
    )
