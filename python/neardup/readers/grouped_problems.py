"""Problems of one kind as one line: how many there are, and the first three places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from neardup.readers.batch import Problem, show

__all__ = ["GroupedProblems"]

_PLACES = 3
# What differs between problems of one kind: positions, numbers, quoted values.
_POSITION = re.compile(r" \(.*\)$")
_VALUE = re.compile(r"'[^']*'|[0-9]+")
_NO_FIELD = "must be present"
_NO_TEXT = "must have a text field "
_HAS = "a record with "


@dataclass(slots=True)
class _Places:
    """The problems of one kind in one source."""

    first: Problem
    count: int = 0
    records: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """The problems of one kind. Sources after the first three are only counted."""

    places: dict[str, _Places] = field(default_factory=dict)
    count: int = 0
    sources: int = 0
    last_source: str | None = None


class GroupedProblems:
    """Problems, grouped by what is wrong.

    Memory is bounded by the number of kinds, not of problems.

    Examples
    --------
    >>> problems = GroupedProblems()
    >>> for record in (7, 8, 9, 10):
    ...     problems.add(Problem("a.jsonl", record, "text", "must be text", str(record)))
    >>> problems.add(Problem("b.jsonl", 2, "text", "must be text", "12"))
    >>> for line, _ in problems.lines():
    ...     print(line)
    a.jsonl: 4 records: field 'text' must be text (records 7, 8, 9, …). Record 7: got 7 instead.
    b.jsonl: record 2, field 'text': must be text. Got 12 instead.
    """

    def __init__(self) -> None:
        self._groups: dict[object, _Group | str] = {}

    def add(self, problem: Problem | str) -> None:
        """Add a problem; those of one source must follow each other."""
        if isinstance(problem, str):
            self._groups.setdefault(problem, problem)
            return
        kind = _VALUE.sub("", _POSITION.sub("", problem.reason))
        key = (problem.field, kind, _VALUE.sub("", problem.remedy))
        group = self._groups.setdefault(key, _Group())
        assert isinstance(group, _Group)
        group.count += 1
        if problem.source != group.last_source:
            group.sources += 1
            group.last_source = problem.source
        places = group.places.get(problem.source)
        if places is None:
            if len(group.places) == _PLACES:
                return
            places = group.places[problem.source] = _Places(problem)
        places.count += 1
        if problem.record is not None and len(places.records) < _PLACES:
            places.records.append(problem.record)

    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield each line with the number of problems behind it, in input order."""
        for group in self._groups.values():
            if isinstance(group, str):
                yield group, 1
            elif group.sources > _PLACES:
                yield _of_many_sources(group), group.count
            else:
                for places in group.places.values():
                    yield _of_one_source(places), places.count


def _of_one_source(places: _Places) -> str:
    first = places.first
    if places.count == 1:
        return str(first)
    more = ", …" if places.count > len(places.records) else ""
    numbers = ", ".join(f"{record:,}" for record in places.records)
    where = f" (records {numbers}{more})" if numbers else ""
    example = "" if first.record is None else f"Record {first.record:,}"
    return (
        f"{first.source}: {places.count:,} records{_wrong(first)}{where}.{_found(first, example)}"
    )


def _of_many_sources(group: _Group) -> str:
    some = [places.first for places in group.places.values()]
    first = some[0]
    if group.count == group.sources:
        # Files of text are one record each, and other files have one problem as a whole.
        what = f"{group.sources:,} files"
        where = [problem.source for problem in some]
        example = first.source
    else:
        what = f"{group.count:,} records in {group.sources:,} files"
        where = [
            problem.source + ("" if problem.record is None else f" record {problem.record:,}")
            for problem in some
        ]
        example = where[0]
    return f"{what}{_wrong(first)} ({', '.join(where)}, …).{_found(first, example)}"


def _wrong(problem: Problem) -> str:
    """Say of several records what is wrong, after their number."""
    reason = _POSITION.sub("", problem.reason)
    if reason.startswith(_NO_TEXT):
        return f" have no text field {reason.removeprefix(_NO_TEXT)}"
    if problem.field is None:
        return f" {reason}" if reason.startswith("must ") else f": {reason}"
    name = f"field '{show(problem.field)}'"
    return f" have no {name}" if reason == _NO_FIELD else f": {name} {reason}"


def _found(problem: Problem, place: str) -> str:
    """Say what there is at the first place, and the way out."""
    said = ""
    if problem.found is not None and place:
        if problem.found.startswith(_HAS):
            said = f" {place} has {problem.found.removeprefix(_HAS)}."
        else:
            said = f" {place}: got {problem.found or 'nothing'} instead."
    return said + (f" {problem.remedy}" if problem.remedy else "")
