"""Options of functions and commands, each declared and documented once.

Here are those that several groups take. `groups` and `index_groups` declare the others, and say
which function takes which; `signatures` gives the function its signature and
documentation, and `neardup.cli.commands` what a command takes.
"""

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from neardup.base.memory import check_max_text
from neardup.base.messages import Language
from neardup.base.priority import criteria_of
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import (
    bad,
    check_field,
    check_path,
    check_span,
    check_whole,
    check_workers,
)
from neardup.readers.formats import FORMATS, FormatName
from neardup.recipe import AnyRecipe
from neardup.recipe.ignored import check_ignored
from neardup.recipe.measures import MEASURES_OF_TEXTS, MeasureName

# Panels of a command's help, in display order.
INPUT, TEXT, MATCHING, OUTPUT, RUN = "Input", "Text", "Matching", "Output", "Run"


@dataclass(frozen=True)
class Option:
    """An option, apart from its name and its type.

    Parameters
    ----------
    help : str
        Its meaning, for the docstrings of functions and the help of commands.
    panel : str or None
        The group in a command's help; None for an option that only functions take.
    default : Any
    short : str or None
        A flag of one letter.
    flag : str or None
        The long flag, where it is not the name of the parameter.
    metavar : str or None
        Name of the value in a command's help.
    repeated : bool
        Whether a command takes the option several times, if its type does not tell.
    check : callable or None
        Takes a value and the option's name, and returns the value to use or raises
        ParameterError. None for a flag or a choice, which is checked by its type, and where
        the run checks: a bound depends on the recipe, for example.
    """

    help: str
    panel: str | None = RUN
    default: Any = None
    short: str | None = None
    flag: str | None = None
    metavar: str | None = None
    repeated: bool = False
    check: Callable[[Any, str], Any] | None = None

    def flags(self, name: str) -> list[str]:
        """Return the flags of a command for a parameter of that name, the long one first."""
        if self.panel is None:
            return []
        return [self.flag or f"--{name.replace('_', '-')}", *([self.short] if self.short else [])]

    def checked(self, value: Any, name: str) -> Any:
        """Return the value to use; ParameterError, which names the option, if it is refused."""
        return value if self.check is None else self.check(value, name)


class Argument(Option):
    """A value that a command takes without a flag; its metavar is its name in messages."""

    def flags(self, name: str) -> list[str]:  # noqa: ARG002
        """Return no flags."""
        return []


def field(help: str) -> Option:
    """Return an option that names a field of a record."""
    return Option(help, INPUT, check=check_field)


def _list(names: Iterable[str]) -> str:
    """Return names as a list of alternatives: ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}"


def whole(least: int, most: int | None = None) -> Callable[[Any, str], Any]:
    """Return the check of a whole number within bounds."""
    return lambda value, name: check_whole(value, name, least, most)


def or_none(check: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Return a check that accepts None too."""
    return lambda value, name: None if value is None else check(value, name)


def check_priority(value: Any, _: str) -> Any:
    """Return a priority, or raise ParameterError."""
    criteria_of(value)
    return value


def _check_encoding(value: Any, name: str) -> str:
    from neardup.readers.encodings import check_encoding

    return check_encoding(value, name)


def check_true_false_none(value: Any, name: str) -> Any:
    """Return True, False or None, or raise ParameterError."""
    if value is not None and not isinstance(value, bool):
        raise bad(name, "True, False or None", value)
    return value


TextField = Annotated[
    str | None,
    field(
        "Field of the text, by default text, else content, else body. Also a path such as doc.text "
        "or messages[*].content; commas join several, such as instruction,output."
    ),
]
IdField = Annotated[
    str | None,
    field(
        "Field of the id, or a path such as meta.id. By default id, else the position of the "
        "record: FILE:RECORD for files, the row number for tables."
    ),
]
MaxText = Annotated[
    int | str,
    Option(
        "Longest record, in bytes or such as 100MiB, at most 256MiB: a longer text, line or row "
        "is a problem, and the run continues after it. At most a quarter of the memory limit.",
        INPUT,
        default="64MiB",
        metavar="SIZE",
        check=check_max_text,
    ),
]
TitleField = Annotated[
    str | None, field("Field of the title, for recipes that weigh its words. By default title.")
]
FirstLine = Annotated[
    bool,
    Option("Without a title field, take the first line of the text as the title.", INPUT),
]
OnError = Annotated[
    Literal["keep", "drop", "stop"],
    Option(
        "Records without readable text: keep them in the output, drop them from it, or stop at the "
        "first one. Such a record is never a duplicate.",
        INPUT,
        default="keep",
    ),
]
PairsOnError = Annotated[
    Literal["keep", "stop"],
    Option(
        "Records without readable text: keep, which reports them and continues, or stop at the "
        "first one. Such a record is never in a pair.",
        INPUT,
        default="keep",
    ),
]
Workers = Annotated[
    int,
    Option(
        "Threads; 0 means one for each processor. Changes no result.",
        short="-j",
        default=0,
        check=check_workers,
    ),
]
RECIPE = Option(
    "How a text becomes a sketch, and what a duplicate is: a name from "
    "`neardup recipes`, or a .toml file.",
    TEXT,
    short="-r",
    default="general",
)
RecipeName = Annotated[AnyRecipe, RECIPE]
IGNORE = Option(
    "Text that does not count: numbers, dates (and times), links, names (@names and #tags), "
    "punctuation; and regular expressions in the syntax of Rust's regex. Commas separate them; "
    "repeat the option for a second expression.",
    TEXT,
    default=(),
    check=check_ignored,
)
Ignore = Annotated[Sequence[str], IGNORE]
Form = Literal["hex", "unsigned", "signed", "bits", "bits-lowest-first"]
Threshold = Annotated[
    float | None,
    Option(
        "Smallest similarity of a duplicate, above 0 and at most 1, by the recipe's measure: "
        "verified on the texts; or the share of equal bits where fingerprints decide (for bkdr, "
        "exclusive). By default the recipe's own.",
        MATCHING,
        short="-t",
    ),
]
Measure = Annotated[
    MeasureName | None,
    Option(
        f"The similarity that decides, instead of the recipe's: {_list(MEASURES_OF_TEXTS)}, which "
        "compare texts; or sketch, for fingerprints the share of equal bits. "
        "Without a threshold it has its own default.",
        MATCHING,
    ),
]
MaxDistance = Annotated[
    int | None,
    Option(
        "For recipes that make fingerprints: their largest distance, inclusive, in bits. "
        "Without a threshold it decides, unverified; with one both bounds must hold.",
        MATCHING,
        short="-d",
    ),
]
AgainstOnly = Annotated[
    bool,
    Option(
        "Leave repeats inside the input alone: documents are compared only with the other "
        "collection.",
        MATCHING,
    ),
]
GroupField = Annotated[
    str | None,
    Option(
        "Compare only documents with the same value of this field, text or an integer: one "
        "conversation, one feed, one language. Also a path such as meta.feed. Documents without a "
        "value are compared with one another.",
        MATCHING,
        check=check_field,
    ),
]
Format = Annotated[
    FormatName | None,
    Option(
        f"Format of the inputs: {_list(FORMATS)}. By default detected from each file's name and "
        "content. In a folder, only files of this format are read; for text, "
        "also texts with unknown extensions, such as source code.",
        INPUT,
    ),
]
Encoding = Annotated[
    str | None,
    Option(
        "Encoding of text files, CSV, TSV and JSON lines, such as gb18030. By default detected "
        "for each file.",
        INPUT,
        check=or_none(_check_encoding),
    ),
]
Force = Annotated[bool, Option("Replace outputs that exist.", OUTPUT, short="-f")]
ReviewLanguage = Annotated[
    Language | None,
    Option(
        "Language of the review. By default that of the environment, which is English if the "
        "environment sets neither.",
        panel=None,
    ),
]
ProgressCallbacks = Annotated[
    Progress | None,
    Option(
        "Object whose methods are called during the run: stage(name, documents, share), "
        "advance(documents, size), note(line) and problem(problem). The number of documents is "
        "None while it is not known; share() then returns how much of the files was read, from 0 "
        "to 1.",
        panel=None,
        check=lambda value, _: check_progress(value),
    ),
]
Report = Annotated[
    str | Path | None,
    Option(
        "File for counts, settings, recipe, plan, problems and versions, as JSON.",
        OUTPUT,
        metavar="FILE",
        check=or_none(check_path),
    ),
]

KeptPlaces = Literal["first", "none"]

Checkpoint = Annotated[
    str | None,
    Option(
        "Folder that all machines reach, such as s3a://bucket/job. The same call with the same "
        "folder and input resumes a job that ended early. By default a temporary one.",
        metavar="DIR",
    ),
]
TitleA = Annotated[
    str | None,
    Option("Title of A, for recipes that weigh the words of titles.", INPUT, metavar="TEXT"),
]
TitleB = Annotated[str | None, Option("Title of B.", INPUT, metavar="TEXT")]

Within = Annotated[
    timedelta | str | None,
    Option(
        "Search only documents that arrived within this span, such as 36h, 14d or 2w.",
        MATCHING,
        metavar="SPAN",
        check=or_none(check_span),
    ),
]
#: Bounds of the length of a passage, and its default; the lower bound is the length of a shingle.
SHORTEST_PASSAGE, LONGEST_PASSAGE, PASSAGE = 5, 10_000, 20


def limit(help: str, default: int) -> Option:
    """Return an option that limits a service."""
    return Option(help, "Limits", default, check=whole(1))


def check_seconds(value: Any, name: str) -> Any:
    """Return a number of seconds, or raise ParameterError."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < value < float("inf"):
        raise bad(name, "a number of seconds above 0", value)
    return value


Seed = Annotated[
    int,
    Option("Seed of all random draws, at least 0.", default=0, check=whole(0)),
]
