"""Problems, and notes on files: one line for each kind, with its count and its first places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from neardup.base.messages import Message
from neardup.readers.batch import Problem

_PLACES = 3


@dataclass(slots=True)
class _Group:
    """The problems of one kind: the first of them, their number, and the first places."""

    first: Problem | Message
    count: int = 0
    places: list[str] = field(default_factory=list)

    def make_line(self) -> Message:
        """Return the line for all of this kind."""
        first = self.first
        if isinstance(first, Problem):
            first = replace(first, count=1).message
        if self.count == 1:
            return first
        places = ", ".join(self.places) + (", …" if self.count > len(self.places) else "")
        if isinstance(self.first, Problem):
            return Message(
                "{problem} {count:,} in all ({places}).",
                problem=first,
                count=self.count,
                places=places,
            )
        return Message(
            "{file}: {said:inside} {count:,} in all ({places}).",
            **first.values,
            count=self.count,
            places=places,
        )


class ProblemGroups:
    """Problems or notes, grouped by kind; memory is bounded by the number of kinds.

    Examples
    --------
    >>> problems = ProblemGroups()
    >>> reason = Message("must be text")
    >>> for record in (7, 8, 9, 10):
    ...     problems.add(Problem("a.jsonl", record, "text", reason, str(record)))
    >>> problems.add("b.jsonl: no records.")
    >>> for line, _ in problems.lines():
    ...     print(line)
    a.jsonl: record 7, field 'text': must be text. Got 7 instead. 4 in all (a.jsonl:7, \
a.jsonl:8, a.jsonl:9, …).
    b.jsonl: no records.
    """

    def __init__(self) -> None:
        self._groups: dict[object, _Group] = {}

    def add(self, problem: Problem | str) -> None:
        """Add a problem."""
        if isinstance(problem, str):
            self._groups.setdefault(problem, _Group(Message("{said}", said=problem), 1))
            return
        kind = (problem.field, _find_kind(problem.reason), _find_kind(problem.remedy))
        place = problem.source if problem.record is None else f"{problem.source}:{problem.record}"
        self._add(kind, problem, place, problem.count)

    def add_note(self, file: str, note: str) -> None:
        """Add a note on a file."""
        line = Message("{file}: {said:inside}", file=file, said=note)
        self._add(_find_kind(note), line, file, 1)

    def _add(self, kind: object, first: Problem | Message, place: str, count: int) -> None:
        group = self._groups.setdefault(kind, _Group(first))
        group.count += count
        if len(group.places) < _PLACES:
            group.places.append(place)

    def lines(self) -> Iterator[tuple[Message, int]]:
        """Yield each line with the number of its problems, in input order."""
        for group in self._groups.values():
            yield group.make_line(), group.count


def _find_kind(message: str) -> object:
    """Return the sentences of a message and of its parts."""
    if not isinstance(message, Message):
        return message
    parts = [
        (name, _find_kind(value))
        for name, value in sorted(message.values.items())
        if name == "reason" or isinstance(value, Message)
    ]
    return message.template, tuple(parts)
