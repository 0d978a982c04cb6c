"""Messages of a command on standard error, in the user's language.

Results on standard output are the same in every language: programs read them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from unicodedata import east_asian_width

from neardup.base.messages import Message, in_language, language_of_environment

__all__ = [
    "Row",
    "choose_flags",
    "choose_language",
    "say",
    "tell",
    "tell_line",
    "tell_note",
    "tell_rows",
]

#: A line of a summary: its name in the catalogue (``cli.summary_`` and this), a count, a note.
Row = tuple[str, int | str, str]

_chosen: str | None = None
_flags: Callable[[], Mapping[str, str]] = dict


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


def choose_flags(flags: Callable[[], Mapping[str, str]]) -> None:
    """Set what returns the flags of the command's parameters; it is called for each message."""
    global _flags
    _flags = flags


def say(said: object) -> str:
    """Return a message, or the message of an error, in the user's language and with flags."""
    return in_language(said, _chosen or language_of_environment(), _flags())


def tell(said: object) -> None:
    """Print a message, or the message of an error, after the program's name."""
    tell_line(f"neardup: {say(said)}")


def tell_line(line: str) -> None:
    """Print a line."""
    # In one piece, so that lines of several processes do not mix.
    print(f"{line}\n", end="", file=sys.stderr, flush=True)


def tell_note(said: str) -> None:
    """Print a note."""
    tell(Message("cli.note", note=said))


def tell_rows(rows: list[Row]) -> None:
    """Print a summary: names, counts and notes in columns."""
    for name, count, note in rows:
        said = say(Message(f"cli.summary_{name}"))
        shown = count if isinstance(count, str) else f"{count:,}"
        line = f"{' ' * (18 - _width(said))}{said}  {shown:>12}  {say(note)}"
        tell_line(line.rstrip())


def _width(text: str) -> int:
    """Return the width in terminal columns: two for each Chinese character."""
    return sum(1 + (east_asian_width(one) in "WF") for one in text)
