"""Output for people, in their language; output for programs is the same in all."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TextIO

from neardup.base.display import pad, plain_table, width_of
from neardup.base.messages import LANGUAGES, Language, Message, in_language, language_of_environment
from neardup.base.validation import check_choice
from neardup.recipe.measures import measure_words

#: A line of a summary: its name, a count, a note.
Row = tuple[str, int | str, str]

#: Columns of the labels of a result.
WIDTH = 11
#: The number of what there is nothing of.
NONE = Message("none")

_chosen: Language | None = None
_flags: Mapping[str, str] = {}
#: What `print_problem` has printed.
printed_problems: list[object] = []


def choose_language(language: Language | None) -> None:
    """Set the language of all messages; None leaves the choice to the environment."""
    global _chosen
    # An error about `language` itself is in the environment's language.
    _chosen = None
    if language is not None:
        check_choice(language, "language", LANGUAGES)
    _chosen = language


def choose_flags(flags: Mapping[str, str]) -> None:
    """Set what the user of a command calls its parameters."""
    global _flags
    _flags = flags


def get_language() -> Language:
    """Return the user's language."""
    return _chosen or language_of_environment()


def use_language(chosen: Language | None) -> Language:
    """Return the language that an option of a command names, for all messages from now on."""
    if chosen is not None:
        choose_language(chosen)
    return get_language()


def translate(message: object) -> str:
    """Return a message, or the message of an error, in the user's language and with flags."""
    return in_language(message, get_language(), _flags)


def print_rows(
    rows: Iterable[tuple[object, object]], *, width: int = 0, file: TextIO | None = None
) -> None:
    """Print labels and values in two columns, the first at least `width` wide."""
    shown = [(translate(label), translate(value)) for label, value in rows]
    width = max([width, *(width_of(label) for label, _ in shown)])
    for label, value in shown:
        print(f"{pad(label, width)}  {value}" if value else label, file=file)


def print_table(
    columns: Iterable[object], rows: Iterable[Sequence[str]], *, left: Collection[int]
) -> None:
    """Print a table with its cells to the right, and the columns `left` to the left."""
    print(plain_table([translate(column) for column in columns], rows, left=left))


def print_message(message: object) -> None:
    """Print a message, or the message of an error, after the program's name."""
    print_line(f"neardup: {translate(message)}")


def print_line(line: object) -> None:
    """Print a line, or a message as one, on standard error."""
    # In one piece, so that lines of several processes do not mix.
    print(f"{translate(line)}\n", end="", file=sys.stderr, flush=True)


def print_note(note: str) -> None:
    """Print a note."""
    print_message(Message("note: {note}", note=note))


def print_problem(problem: object) -> None:
    """Print a problem, by which the command ends with exit code 2 when it is done."""
    printed_problems.append(problem)
    print_message(problem)


def describe_rule(measure: str, threshold: float | None, max_distance: int | None) -> Message:
    """Return when a document is a duplicate."""
    if threshold is None:
        return Message.counted(
            "distance <= {count} bit", "distance <= {count} bits", count=max_distance
        )
    return Message(
        "{measure} >= {threshold:g}", measure=measure_words(measure), threshold=threshold
    )


def end_with_problems() -> NoReturn:
    """End a command that is done although some of its input could not be used."""
    print_message(Message("finished, with the problems listed above."))
    raise SystemExit(2)


def print_counts(rows: list[Row]) -> None:
    """Print a summary: names, counts and notes in columns."""
    for name, count, note in rows:
        words = translate(name)
        number = count if isinstance(count, str) else f"{count:,}"
        line = f"{pad(words, 18, right=True)}  {number:>12}  {translate(note)}"
        print_line(line.rstrip())


def format_megabytes(size: int) -> str:
    """Return a number of bytes as a summary shows it."""
    return f"{size / 1e6:,.1f} MB"


def print_run_summary(summary: Any, rows: list[Row]) -> None:
    """Print the counts of a run, the rows of its task, its time and its memory."""
    size = format_megabytes(summary.bytes_read - summary.bytes_against)
    print_counts([(Message("read"), summary.read, size), *rows])
    print_counts([(Message("seconds"), f"{summary.seconds:,.2f}", "")])
    # A cluster measures at intervals, so it may not have measured a short job.
    if summary.peak_memory:
        print_counts([(Message("peak memory"), f"{summary.peak_memory / 1e6:,.0f}", "MB")])
