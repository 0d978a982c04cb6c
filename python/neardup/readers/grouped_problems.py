"""Problems of one kind as one line, with the first three places; notes on files likewise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from neardup.base.messages import N_, Message
from neardup.readers.batch import Problem, code_of, show

_PLACES = 3
#: Reasons that tell what happened to a file or record, not what it must be.
_OUTCOMES = ("skipped", "no_records", "left_out")
#: Name of a value that gives a place within a record.
_WHERE = "where"
#: Notes that are shown; others are counted.
_NOTES = 8


@dataclass(slots=True)
class _Places:
    """The problems of one kind in one source."""

    first: Problem
    count: int = 0
    records: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """The problems of one kind; sources after the first three are only counted."""

    places: dict[str, _Places] = field(default_factory=dict)
    count: int = 0
    sources: int = 0
    last_source: str | None = None

    def add(self, problem: Problem) -> None:
        self.count += problem.count
        self.sources += problem.source != self.last_source
        self.last_source = problem.source
        if problem.source not in self.places:
            if len(self.places) == _PLACES:
                return
            self.places[problem.source] = _Places(problem)
        places = self.places[problem.source]
        places.count += problem.count
        if problem.record is not None and len(places.records) < _PLACES:
            places.records.append(problem.record)


class GroupedProblems:
    """Problems, grouped by kind; memory is bounded by the number of kinds.

    Examples
    --------
    >>> problems = GroupedProblems()
    >>> reason = Message("must be text")
    >>> for record in (7, 8, 9, 10):
    ...     problems.add(Problem("a.jsonl", record, "text", reason, str(record)))
    >>> problems.add(Problem("b.jsonl", 2, "text", reason, "12"))
    >>> for line, _ in problems.lines():
    ...     print(line)
    a.jsonl: 4 records: field 'text' must be text (records 7, 8, 9, …). Record 7: got 7 instead.
    b.jsonl: record 2, field 'text': must be text. Got 12 instead.
    """

    def __init__(self) -> None:
        self._groups: dict[object, _Group | str] = {}

    def add(self, problem: Problem | str) -> None:
        """Add a problem; the problems of one source must be consecutive."""
        if isinstance(problem, str):
            self._groups.setdefault(problem, problem)
            return
        key = (problem.field, _kind(problem.reason), _kind(problem.remedy))
        group = self._groups.setdefault(key, _Group())
        assert isinstance(group, _Group)
        group.add(problem)

    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield each line with the number of its problems, in input order."""
        for group in self._groups.values():
            if isinstance(group, str):
                yield group, 1
            elif group.sources > _PLACES:
                yield _of_many_sources(group), group.count
            else:
                for places in group.places.values():
                    yield _of_one_source(places), places.count


def _kind(message: str) -> object:
    """Return the sentences of a message and its parts, which define its kind."""
    if not isinstance(message, Message):
        return message
    parts = [
        (name, _kind(value))
        for name, value in sorted(message.values.items())
        if name == "reason" or (isinstance(value, Message) and name != _WHERE)
    ]
    return message.template, tuple(parts)


def _anywhere(reason: str) -> str:
    """Return a reason without the parts that are specific to one record."""
    if not isinstance(reason, Message):
        return reason
    values = dict(reason.values)
    if "reason" in values:
        values["reason"] = _anywhere(values["reason"])
    if _WHERE in values:
        values[_WHERE] = ""
    return reason.with_values(**values)


def _of_one_source(places: _Places) -> str:
    first = places.first
    if places.count == 1:
        return first.message
    where: str = ""
    if places.records:
        numbers = ", ".join(f"{record:,}" for record in places.records)
        if places.count > len(places.records):
            where = Message(" (records {records}, …)", records=numbers)
        else:
            where = Message(" (records {records})", records=numbers)
    example: str = ""
    if first.record is not None:
        example = _example(first, "record", record=first.record)
    return Message(
        "{source}: {count:,} records{wrong}{where}.{example}{way_out}",
        source=first.source,
        count=places.count,
        wrong=_wrong(first),
        where=where,
        example=example,
        way_out=_way_out(first),
    )


def _of_many_sources(group: _Group) -> str:
    firsts = [places.first for places in group.places.values()]
    first = firsts[0]
    # A text file is one record; a data file has one problem as a whole.
    of_files = group.count == group.sources
    where = [
        problem.source
        if of_files or problem.record is None
        else Message("{source} record {record:,}", source=problem.source, record=problem.record)
        for problem in firsts
    ]
    return Message(
        N_("{files:,} files{wrong} ({places}, …).{example}{way_out}")
        if of_files
        else N_("{count:,} records in {files:,} files{wrong} ({places}, …).{example}{way_out}"),
        files=group.sources,
        count=group.count,
        wrong=_wrong(first),
        places=Message(
            "{first}, {second}, {third}", first=where[0], second=where[1], third=where[2]
        ),
        example=_example(first, "place", place=where[0]),
        way_out=_way_out(first),
    )


def _wrong(problem: Problem) -> Message:
    """Return what is wrong with several records, to follow their number."""
    reason = _anywhere(problem.reason)
    code = code_of(reason)
    if isinstance(reason, Message) and code == "no_text_field":
        return Message(" have no text field {wanting}", wanting=reason.values["wanting"])
    if problem.field is None:
        return Message(N_(": {reason}") if code in _OUTCOMES else N_(" {reason}"), reason=reason)
    field = show(problem.field)
    if code == "no_such_field":
        return Message(" have no field '{field}'", field=field)
    return Message(": field '{field}' {reason}", field=field, reason=reason)


def _example(problem: Problem, kind: str, **place: str | int) -> str:
    """Return what was found at the first place."""
    content = problem.found
    if content is None:
        return ""
    names = None
    if isinstance(content, Message) and content.code == "record":
        names = content.values["names"]
    content = content or Message("nothing")
    if kind == "record":
        if names is not None:
            return Message(" Record {record:,} has {names}.", names=names, **place)
        return Message(" Record {record:,}: got {found} instead.", found=content, **place)
    if names is not None:
        return Message(" {place} has {names}.", names=names, **place)
    return Message(" {place}: got {found} instead.", found=content, **place)


def _way_out(problem: Problem) -> str:
    return Message(" {remedy}", remedy=problem.remedy) if problem.remedy else ""


class GroupedNotes:
    """Notes on files, one line for all files with the same note.

    Examples
    --------
    >>> notes = GroupedNotes()
    >>> for name in ("a.txt", "b.txt", "c.txt"):
    ...     notes.add(name, [Message("{count} characters of hidden text are left out.", count=3)])
    >>> notes.lines()
    ['a.txt and 2 more files: 3 characters of hidden text are left out.']
    """

    def __init__(self) -> None:
        #: The first file and the number of files of each note.
        self._files: dict[str, tuple[str, int]] = {}

    def add(self, name: str, notes: Iterable[str], count: int = 1) -> None:
        """Add the notes on a file, or on `count` files of which it is the first."""
        for note in notes:
            first, before = self._files.get(note, (name, 0))
            self._files[note] = first, before + count

    def join(self, other: GroupedNotes) -> None:
        """Add all notes of another group."""
        for note, (name, count) in other._files.items():
            self.add(name, [note], count)

    def lines(self) -> list[Message]:
        """Return at most nine lines, in the order in which the files were read."""
        notes = list(self._files.items())
        lines = [
            Message.counted(
                "{file} and {count} more file: {said:inside}",
                "{file} and {count} more files: {said:inside}",
                file=name,
                count=count - 1,
                said=note,
            )
            if count > 1
            else Message("{file}: {said:inside}", file=name, said=note)
            for note, (name, count) in notes[:_NOTES]
        ]
        rest = sum(count for _, (_, count) in notes[_NOTES:])
        return (
            [
                *lines,
                Message.counted(
                    "{count:,} more note on files is not shown; `neardup.readers` returns it.",
                    "{count} more notes on files are not shown; `neardup.readers` returns them.",
                    count=rest,
                ),
            ]
            if rest
            else lines
        )
