"""Results as one screen, in a console and in a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from neardup.base.messages import Message

# Controls, marks of direction, and lone surrogates, which no terminal can print.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

#: The most characters of a value.
_WIDTH = 100

#: The largest number of characters of a title next to an id.
_TITLE = 30

#: Doubtful removals that a summary names.
DOUBTFUL = 5


class ReprMixin:
    """Shows a result by a few facts instead of all that it holds."""

    def _summary_rows(self) -> Iterable[tuple[str, Any]]:
        """Yield names and values, in order; a name may be empty."""
        raise NotImplementedError

    def _all_rows(self) -> Iterator[tuple[str, Any]]:
        """Yield the rows, and what could not be read, so that no result looks better than it is."""
        yield from self._summary_rows()
        problems: Any = getattr(self, "problems", None)
        counts: Any = getattr(self, "summary", self)
        if isinstance(problems, list) and problems:
            if unreadable := getattr(counts, "unreadable", 0):
                yield "unreadable", unreadable
            yield "problems", getattr(counts, "problem_count", 0) or counts.problems
            yield "first problem", problems[0]

    def __repr__(self) -> str:
        rows = [(name, _format_value(value)) for name, value in self._all_rows()]
        width = max((len(name) for name, _ in rows), default=0)
        lines = [f"  {name:<{width}}  {value}".rstrip() for name, value in rows]
        return "\n".join([type(self).__name__, *lines])

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(_format_value(value))}</td></tr>"
            for name, value in self._all_rows()
        )
        name = f"<caption style='text-align:left'>{type(self).__name__}</caption>"
        return f"<table>{name}{cells}</table>"


def one_line(text: str) -> str:
    """Return a text of an input on one line, with what acts on a terminal shown by its number."""
    return _ACTING.sub(lambda match: ascii(match[0])[1:-1], " ".join(text.split()))


def rule_of(measure: str, threshold: float | None, max_distance: int | None) -> str:
    """Return what a duplicate is, in a few words."""
    if threshold is None:
        return f"at most {max_distance} differing bits"
    return f"{measure} >= {threshold}"


def width_of(text: str) -> int:
    """Return the width of a text in columns of a terminal: a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return a text filled up to a width in columns."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def plain_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[int] = (0,)
) -> str:
    """Return a table for a terminal, columns as wide as needed, those not at the left to the right.

    Examples
    --------
    >>> print(plain_table(["方案", "F1"], [["general", "0.9"]]))
    方案      F1
    general  0.9
    """
    lines = [header, *rows]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            pad(cell, width, right=number not in left)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def doubtful_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the least similar removals as names and values of a screen."""
    for number, row in enumerate(rows):
        first, kept = (id_with_title(row, which) for which in ("", "kept_"))
        told = f"{row['similarity']:.3f} {first} repeats {kept}"
        yield "" if number else "most doubtful", told


def id_with_title(row: Mapping[str, Any], which: str) -> str:
    """Return the id of a removed document, or of the ``kept_`` one, with its title if it has one.

    Examples
    --------
    >>> print(id_with_title({"kept_id": "a1", "kept_title": "Storm at sea"}, "kept_"))
    a1 "Storm at sea"
    """
    id, title = one_line(row[f"{which}id"]), one_line(row.get(f"{which}title") or "")
    if not title:
        return id
    cut = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    return Message('{id} "{title}"', id=id, title=cut)


def _format_value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = one_line(str(value))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
