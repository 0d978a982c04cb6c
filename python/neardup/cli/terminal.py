"""Messages of a command on standard error, in the user's language.

Results on standard output are the same in every language: programs read them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NoReturn
from unicodedata import east_asian_width

from neardup.base.messages import Message, in_language, language_of_environment

#: A line of a summary: its name, a count, a note.
Row = tuple[str, int | str, str]

_chosen: str | None = None
_flags: Mapping[str, str] = {}


def choose_language(language: str | None) -> None:
    """Set the language of all messages; None leaves the choice to the environment."""
    global _chosen
    # An error about `language` itself is in the environment's language.
    _chosen = None
    if language is not None:
        # Imported late because most runs do not name a language.
        from neardup.base.messages import LANGUAGES
        from neardup.base.validation import check_choice

        check_choice(language, "language", LANGUAGES)
    _chosen = language


def choose_flags(flags: Mapping[str, str]) -> None:
    """Set what the user of a command calls its parameters."""
    global _flags
    _flags = flags


def say(message: object) -> str:
    """Return a message, or the message of an error, in the user's language and with flags."""
    return in_language(message, _chosen or language_of_environment(), _flags)


def tell(message: object) -> None:
    """Print a message, or the message of an error, after the program's name."""
    tell_line(f"neardup: {say(message)}")


def tell_line(line: str) -> None:
    """Print a line."""
    # In one piece, so that lines of several processes do not mix.
    print(f"{line}\n", end="", file=sys.stderr, flush=True)


def tell_note(note: str) -> None:
    """Print a note."""
    tell(Message("note: {note}", note=note))


def end_with_problems() -> NoReturn:
    """End a command that is done although some of its input could not be used."""
    tell(Message("done, except for what the lines above report."))
    raise SystemExit(2)


def tell_rows(rows: list[Row]) -> None:
    """Print a summary: names, counts and notes in columns."""
    for name, count, note in rows:
        words = say(name)
        number = count if isinstance(count, str) else f"{count:,}"
        line = f"{' ' * (18 - _width(words))}{words}  {number:>12}  {say(note)}"
        tell_line(line.rstrip())


def tell_summary(summary: Any, rows: list[Row]) -> None:
    """Print what a run has read, the rows of its task, and what it took."""
    size = f"{summary.bytes_read / 1e6:,.1f} MB"
    tell_rows([(Message("read"), summary.read, size), *rows])
    tell_rows([(Message("seconds"), f"{summary.seconds:,.2f}", "")])
    # A cluster measures at intervals, so it may not have measured a short job.
    if summary.peak_memory:
        tell_rows([(Message("peak memory"), f"{summary.peak_memory / 1e6:,.0f}", "MB")])


def _width(text: str) -> int:
    """Return the width in terminal columns: two for each Chinese character."""
    return sum(1 + (east_asian_width(character) in "WF") for character in text)
