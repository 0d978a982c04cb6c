"""The options of a run, each declared, documented and validated once.

A public function takes a group of options as ``**options: Unpack[DedupParameters]`` and
gets their signature and documentation from the decorator `takes_options`. A command takes
the same group and gets the flags from `neardup.cli.options`. A run works with
`DedupOptions`, whose values are validated.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self, TypedDict, TypeVar, get_args

from neardup._engine.memory import check_memory
from neardup._engine.rule import Rule, rule
from neardup._engine.summary import Progress
from neardup._engine.validation import (
    bad,
    check_choice,
    check_field,
    check_flag,
    check_string,
    check_workers,
)
from neardup.recipe import Recipe, load_recipe

#: What a run can do with a record that cannot be read.
ON_ERROR = ("keep", "drop", "stop")

# Panels of a command's help, in display order.
INPUT, TEXT, MATCHING, OUTPUT, RUN = "Input", "Text", "Matching", "Output", "Run"


@dataclass(frozen=True)
class Option:
    """An option, apart from its name and its type.

    Parameters
    ----------
    help : str
        Its meaning, for the docstrings of functions and the help of commands.
    flags : tuple of str
        Flags of commands; empty for an option that only functions take.
    panel : str
        The group in a command's help.
    default : Any
    command_type : type or None
        The type that a command reads, if a function takes more types.
    metavar : str or None
        Name of the value in a command's help.
    """

    help: str
    flags: tuple[str, ...] = ()
    panel: str = RUN
    default: Any = None
    command_type: Any = None
    metavar: str | None = None


TextField = Annotated[
    str | None,
    Option(
        "Field of the text. By default text, else content, else body.", ("--text-field",), INPUT
    ),
]
IdField = Annotated[
    str | None,
    Option(
        "Field of the id. By default id, else the position of the record: FILE:RECORD for "
        "files, the row number for tables.",
        ("--id-field",),
        INPUT,
    ),
]
TitleField = Annotated[
    str | None,
    Option(
        "Field of the title, for recipes that weigh its words. By default title.",
        ("--title-field",),
        INPUT,
    ),
]
FirstLine = Annotated[
    bool,
    Option(
        "Take the first line of the text as the title where there is no title field.",
        ("--title-from-first-line",),
        INPUT,
        default=False,
    ),
]
OnError = Annotated[
    str,
    Option(
        "What to do with records that have no readable text: keep them in the output, drop "
        "them from it, or stop at the first one. Such a record is never a duplicate.",
        ("--on-error",),
        INPUT,
        default="keep",
    ),
]
Workers = Annotated[
    int,
    Option(
        "Threads; 0 means one for each processor. Changes no result.",
        ("--workers", "-j"),
        default=0,
    ),
]
Memory = Annotated[
    int | str | None,
    Option(
        "Memory limit, at least 512MiB: for example 4GB or 1.5GiB. Data beyond it is written "
        "to temporary files. By default half of the machine's memory. Changes no result.",
        ("--memory",),
        command_type=str | None,
        metavar="SIZE",
    ),
]
RecipeName = Annotated[
    str | Path | Recipe,
    Option(
        "How a text becomes a sketch, and what a duplicate is: a name from "
        "`neardup recipes`, or a .toml file.",
        ("--recipe", "-r"),
        TEXT,
        default="general",
        command_type=str,
    ),
]
Threshold = Annotated[
    float | None,
    Option(
        "Smallest similarity of a duplicate, inclusive, above 0 and at most 1, by the recipe's "
        "measure; verified on the texts. By default the recipe's own.",
        ("--threshold", "-t"),
        MATCHING,
    ),
]
MaxDistance = Annotated[
    int | None,
    Option(
        "For recipes that make fingerprints: their largest distance, inclusive, in bits. "
        "Without a threshold it decides, unverified; with one it bounds the candidates.",
        ("--max-distance", "-d"),
        MATCHING,
    ),
]
Priority = Annotated[
    str,
    Option(
        "Which of two duplicates is kept: first, last, longest, field:NAME (the smallest value "
        "of the field) or field:NAME:desc (the largest).",
        ("--priority",),
        MATCHING,
        default="first",
    ),
]
Format = Annotated[
    str | None,
    Option(
        "Format of the inputs: jsonl, parquet, csv, tsv or text. By default detected from each "
        "file's name and content. In a folder, only files of this format are read.",
        ("--format",),
        INPUT,
    ),
]
Force = Annotated[
    bool, Option("Replace outputs that exist.", ("--force", "-f"), OUTPUT, default=False)
]
WorkFolder = Annotated[
    str | Path | None,
    Option(
        "Folder for the stages of the run. A run that ends early is resumed after its last "
        "complete stage by the same call with the same folder. Emptied at the end.",
        ("--work",),
        command_type=Path | None,
        metavar="DIR",
    ),
]
ProgressCallbacks = Annotated[
    Progress | None,
    Option("Object whose methods stage, advance, note and problem are called during the run."),
]
Report = Annotated[
    str | Path | None,
    Option(
        "File for counts, settings, recipe, plan, problems and versions, as JSON.",
        ("--report",),
        OUTPUT,
        command_type=Path | None,
        metavar="FILE",
    ),
]


Checkpoint = Annotated[
    str | None,
    Option(
        "Folder that all machines reach, such as s3a://bucket/job. A job that ended early is "
        "resumed by the same call with the same folder and input. By default a temporary one.",
        ("--checkpoint",),
        metavar="DIR",
    ),
]
Partitions = Annotated[
    int | None,
    Option(
        "Number of tasks of a stage, at least 1. By default three for each core, and more for "
        "a large input. Changes no result."
    ),
]
BatchDocuments = Annotated[
    int,
    Option(
        "Number of documents that a task works on together, from 1 to 65,536. Changes no result.",
        default=8192,
    ),
]


class RecordParameters(TypedDict, total=False):
    """Where the texts of records and their ids are."""

    text: TextField
    id: IdField
    on_error: OnError


class TextParameters(RecordParameters, total=False):
    """Where the texts of records are, and their ids and titles."""

    title: TitleField
    title_from_first_line: FirstLine


class RunParameters(TypedDict, total=False):
    """Resources of a run. They change no result."""

    workers: Workers
    memory: Memory


class MatchParameters(TypedDict, total=False):
    """The definition of a duplicate."""

    recipe: RecipeName
    threshold: Threshold
    max_distance: MaxDistance


class PairsParameters(MatchParameters, TextParameters, RunParameters, total=False):
    """Options of `pairs`."""


class DedupParameters(PairsParameters, total=False):
    """Options of `dedup`."""

    priority: Priority


class FileParameters(TypedDict, total=False):
    """Options of a run over files."""

    format: Format
    force: Force
    work: WorkFolder
    progress: ProgressCallbacks


class ReportParameters(FileParameters, total=False):
    """Options of a run over files that can write a report."""

    report: Report


class PairsFilesParameters(PairsParameters, ReportParameters, total=False):
    """Options of `pairs_files`."""


class DedupFilesParameters(DedupParameters, ReportParameters, total=False):
    """Options of `dedup_files`."""


class FingerprintFilesParameters(TextParameters, RunParameters, FileParameters, total=False):
    """Options of `fingerprint_files`."""


class SparkParameters(MatchParameters, RecordParameters, total=False):
    """What `neardup.spark.dedup` takes."""

    checkpoint: Checkpoint
    partitions: Partitions
    batch_documents: BatchDocuments


class SparkFilesParameters(SparkParameters, total=False):
    """What `neardup.spark.dedup_files` takes."""

    format: Format
    force: Force
    progress: ProgressCallbacks


@dataclass(frozen=True)
class DedupOptions:
    """The validated options of a run.

    Parameters
    ----------
    recipe : Recipe
    rule : Rule or None
        The definition of a duplicate; None if nothing is compared.
    text, id, title : str or None
        Fields that the user named.
    title_from_first_line : bool
    on_error : {"keep", "drop", "stop"}
    priority : str
        See `DedupParameters`.
    workers : int
        Threads; 0 means one for each processor.
    memory : int
        In bytes.
    """

    recipe: Recipe
    rule: Rule | None
    text: str | None
    id: str | None
    title: str | None
    title_from_first_line: bool
    on_error: str
    priority: str
    workers: int
    memory: int

    @classmethod
    def of(cls, options: Mapping[str, Any], *, compares: bool = True) -> Self:
        """Validate the options of a call.

        Parameters
        ----------
        options : mapping
            As `completed` returns it.
        compares : bool, default=True
            Whether documents are compared, which requires a bound.

        Raises
        ------
        ParameterError
            If an option is out of bounds; names the option.
        """
        recipe = load_recipe(options["recipe"])
        bounds: dict[str, Any] = {n: options.get(n) for n in ("threshold", "max_distance")}
        priority = options.get("priority", "first")
        priority_field(priority)
        return cls(
            recipe=recipe,
            rule=rule(recipe, **bounds) if compares else None,
            text=check_field(options["text"], "text"),
            id=check_field(options["id"], "id"),
            title=check_field(options["title"], "title"),
            title_from_first_line=check_flag(
                options["title_from_first_line"], "title_from_first_line"
            ),
            on_error=check_choice(options["on_error"], "on_error", ON_ERROR),
            priority=priority,
            workers=check_workers(options["workers"]),
            memory=check_memory(options["memory"]),
        )

    @property
    def fields(self) -> dict[str, Any]:
        """The fields to read, by the readers' names for them."""
        value_field = priority_field(self.priority)
        return {
            "text_field": self.text,
            "id_field": self.id,
            "title_field": self.title,
            "extra_fields": () if value_field is None else (value_field,),
        }

    def described(self) -> dict[str, Any]:
        """Return all settings that decisions depend on, as plain data."""
        rule = {} if self.rule is None else asdict(self.rule)
        return {
            "recipe": self.recipe.id,
            "threshold": rule.pop("threshold", None),
            "max_distance": rule.pop("max_distance", None),
            "rule": rule,
            "priority": self.priority,
            "text": self.text,
            "id": self.id,
            "title": self.title,
            "title_from_first_line": self.title_from_first_line,
        }

    @property
    def reads_titles(self) -> bool:
        """Whether the recipe uses titles."""
        return self.recipe.weigh.scheme == "improved"


def priority_field(priority: str) -> str | None:
    """Return the field that a priority of ``field:NAME[:desc]`` names.

    Raises
    ------
    ParameterError
        If `priority` is unknown.
    """
    check_string(priority, "priority")
    if priority in ("first", "last", "longest"):
        return None
    kind, _, name = priority.partition(":")
    name = name.removesuffix(":desc")
    if kind != "field" or not name:
        raise bad("priority", "readers.priority", priority)
    return name


_Function = TypeVar("_Function", bound=Callable[..., Any])


@cache
def declared(parameters: Any) -> dict[str, tuple[Any, Option]]:
    """Return the type and the option of each parameter of a group.

    Examples
    --------
    >>> kind, option = declared(MatchParameters)["threshold"]
    >>> kind, option.flags
    (float | None, ('--threshold', '-t'))
    """
    # Each type is annotated with its option.
    return {name: get_args(hint) for name, hint in parameters.__annotations__.items()}


def completed(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call, completed with defaults.

    Raises
    ------
    TypeError
        If the function does not take one of them.
    """
    known = taken_options(function)
    for name in options:
        if name not in known:
            hint = "".join(f" Did you mean {near!r}?" for near in get_close_matches(name, known, 1))
            said = f"{function.__name__}() got an unexpected keyword argument {name!r}.{hint}"
            raise TypeError(said)
    return {name: options.get(name, option.default) for name, (_, option) in known.items()}


@cache
def taken_options(function: Callable[..., Any]) -> dict[str, tuple[Any, Option]]:
    """Return the options that a function takes as ``**options: Unpack[...]``."""
    unpacked = eval(function.__annotations__["options"], function.__globals__)
    return declared(get_args(unpacked)[0])


def takes_options(function: _Function) -> _Function:
    """Give a function the signature and the documentation of its options.

    The last parameter must be ``**options: Unpack[SomeParameters]``, and the docstring must
    have the line ``{options}`` among the parameters.
    """
    signature = inspect.signature(function)
    *own, last = signature.parameters.values()
    options = taken_options(function)
    of_options = [
        inspect.Parameter(name, last.KEYWORD_ONLY, default=option.default, annotation=kind)
        for name, (kind, option) in options.items()
    ]
    shown: Any = function
    shown.__signature__ = signature.replace(parameters=[*own, *of_options])
    if function.__doc__ is not None:  # None if Python runs without docstrings
        documented = (_documented(name, *known) for name, known in options.items())
        function.__doc__ = function.__doc__.replace("    {options}", "".join(documented).rstrip())
    return function


@cache
def _documented(name: str, kind: Any, option: Option) -> str:
    """Return the lines of an option for a docstring."""
    # Show only the name of a class, without its module.
    shown = re.sub(r"\b\w+\.", "", inspect.formatannotation(kind)).replace(" | ", " or ")
    help = textwrap.fill(option.help, 88, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f"    {name} : {shown}, default={option.default!r}\n{help}\n"
