"""The options of all functions and commands, each declared and documented once.

`groups` says which function takes which, `signatures` gives the function its signature and
documentation, and `neardup.cli.parser` makes the parser of a command.
"""

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Any, Literal

from neardup.base.memory import check_max_text, check_memory, check_part_size
from neardup.base.messages import Language
from neardup.base.priority import criteria_of
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import (
    FormatName,
    MeasureName,
    bad,
    check_field,
    check_fields,
    check_path,
    check_span,
    check_threshold,
    check_whole,
    check_workers,
    check_zone,
)
from neardup.recipe import AnyRecipe
from neardup.recipe.ignored import check_ignored

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


def _field(help: str) -> Option:
    return Option(help, INPUT, check=check_field)


def _whole(least: int, most: int | None = None) -> Callable[[Any, str], Any]:
    return lambda value, name: check_whole(value, name, least, most)


def _or_none(check: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda value, name: None if value is None else check(value, name)


def _check_priority(value: Any, _: str) -> Any:
    criteria_of(value)
    return value


def _check_encoding(value: Any, name: str) -> str:
    from neardup.readers.encodings import check_encoding

    return check_encoding(value, name)


def _check_true_false_none(value: Any, name: str) -> Any:
    if value is not None and not isinstance(value, bool):
        raise bad(name, "True, False or None", value)
    return value


TextField = Annotated[
    str | None,
    _field(
        "Field of the text, by default text, else content, else body. Also a path such as doc.text "
        "or messages[*].content; commas join several, such as instruction,output."
    ),
]
IdField = Annotated[
    str | None,
    _field(
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
    str | None, _field("Field of the title, for recipes that weigh its words. By default title.")
]
FirstLine = Annotated[
    bool,
    Option("If there is no title field, take the first line of the text as the title.", INPUT),
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
Memory = Annotated[
    int | str | None,
    Option(
        "Memory limit, at least 512MiB: for example 4GB or 1.5GiB. Data beyond it is written "
        "to temporary files. By default half of the machine's memory. Changes no result.",
        metavar="SIZE",
        check=check_memory,
    ),
]
CheckMemory = Annotated[
    int | str | None,
    Option(
        "Memory limit, at least 512MiB: for example 4GB or 1.5GiB. A paper that needs more is "
        "refused before it is compared. By default half of the machine's memory.",
        metavar="SIZE",
        check=check_memory,
    ),
]
_RECIPE = Option(
    "How a text becomes a sketch, and what a duplicate is: a name from "
    "`neardup recipes`, or a .toml file.",
    TEXT,
    short="-r",
    default="general",
)
RecipeName = Annotated[AnyRecipe, _RECIPE]
IdfRecipe = Annotated[AnyRecipe, replace(_RECIPE, default="improved")]
FingerprintRecipe = Annotated[AnyRecipe, replace(_RECIPE, default="characters")]
IndexRecipe = Annotated[
    AnyRecipe | None,
    replace(
        _RECIPE,
        help=f"{_RECIPE.help} By default general for a new index. It cannot be changed later.",
        default=None,
    ),
]
_IGNORE = Option(
    "Text that does not count: numbers, dates (and times), links, names (@names and #tags), "
    "punctuation, and regular expressions in the syntax of Rust's regex. Commas separate them; "
    "repeat the option for a second expression.",
    TEXT,
    default=(),
    check=check_ignored,
)
Ignore = Annotated[Sequence[str], _IGNORE]
IndexIgnore = Annotated[
    Sequence[str] | None,
    replace(
        _IGNORE,
        help=f"{_IGNORE.help} It cannot be changed later.",
        default=None,
        check=_or_none(check_ignored),
    ),
]
Form = Literal["hex", "unsigned", "signed", "bits", "bits-lowest-first"]
FingerprintForm = Annotated[
    Form,
    Option(
        "How a fingerprint is written: hex digits; an unsigned number, or the same 64 bits as a "
        "signed one, for databases, up to 64 bits; bits, the highest first; or "
        "bits-lowest-first, as the news program writes them.",
        OUTPUT,
        default="hex",
    ),
]
Blocks = Annotated[
    int | None,
    Option(
        "Add the columns block_0 to block_D for a distance D: the fingerprint cut into D + 1 "
        "blocks, the lowest bits first. Two fingerprints within D bits share one of them.",
        OUTPUT,
        metavar="D",
    ),
]
Threshold = Annotated[
    float | None,
    Option(
        "Smallest similarity of a duplicate, inclusive, above 0 and at most 1, by the recipe's "
        "measure: verified on the texts, or the share of equal bits where fingerprints decide "
        "(for bkdr, it must be exceeded). By default the recipe's own.",
        MATCHING,
        short="-t",
    ),
]
Measure = Annotated[
    MeasureName | None,
    Option(
        "The similarity that decides, instead of the recipe's: content, resemblance, containment "
        "or aligned, which compare texts, or sketch, which for fingerprints is the share of equal "
        "bits. Without a threshold it has its own default.",
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
Exhaustive = Annotated[
    bool,
    Option(
        "Compare all documents that share enough keys, also those that capped lists leave "
        "out. Finds more, but the time is quadratic in the documents of one template. "
        "For recipes that sample shingles or make signatures; other searches are exhaustive.",
        MATCHING,
    ),
]
Priority = Annotated[
    str,
    Option(
        "Which of two duplicates is kept: first, last, longest, field:NAME (the smallest value "
        "of the field) or field:NAME:desc (the largest); or several with commas between them, "
        "each for the ties of those before it.",
        MATCHING,
        default="first",
        check=_check_priority,
    ),
]
Restore = Annotated[
    str | Path | None,
    Option(
        "File of ids, one on each line, such as a review saves: these records are kept, whatever "
        "they repeat. Changes no other decision.",
        MATCHING,
        metavar="FILE",
        check=_or_none(check_path),
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
MinLength = Annotated[
    int | None,
    Option(
        "Leave shorter texts alone, in letters and digits: they are kept, and nothing is dropped "
        "for one of them. 1 to 1,000,000.",
        MATCHING,
        check=_or_none(_whole(1, 1_000_000)),
    ),
]
MaxLength = Annotated[
    int | None,
    Option(
        "Leave longer texts alone, in letters and digits: a text of exactly this length is "
        "compared. 1 to 1,000,000,000.",
        MATCHING,
        check=_or_none(_whole(1, 1_000_000_000)),
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
DryRun = Annotated[
    bool,
    Option(
        "Decide, but write neither kept nor removed records: only --review and --report, if given.",
        OUTPUT,
    ),
]
Annotate = Annotated[
    bool,
    Option(
        "Write every record instead of the kept ones only. Each gets the fields cluster_id, "
        "cluster_size, kept_id, similarity and measure.",
        OUTPUT,
    ),
]
ClusterSize = Annotated[
    bool,
    Option(
        "Add the field cluster_size to each record that is written: the number of documents that "
        "it represents.",
        OUTPUT,
    ),
]
CopyIds = Annotated[
    bool,
    Option(
        "Add the field copies to each record that is written: the ids of the documents that were "
        "dropped for it, in input order.",
        OUTPUT,
    ),
]
Format = Annotated[
    FormatName | None,
    Option(
        "Format of the inputs: jsonl, parquet, arrow, csv, tsv or text. By default detected from "
        "each file's name and content. In a folder, only files of this format are read; for text, "
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
        check=_or_none(_check_encoding),
    ),
]
PartSize = Annotated[
    int | str | None,
    Option(
        "Write a folder (parts/) of numbered parts of about this size, for example 1GB, at least "
        "1MB. The parts have the format of the first input.",
        OUTPUT,
        metavar="SIZE",
        check=_or_none(check_part_size),
    ),
]
Force = Annotated[bool, Option("Replace outputs that exist.", OUTPUT, short="-f")]
WorkFolder = Annotated[
    str | Path | None,
    Option(
        "Folder for the documents that are sketched. The same call with the same folder resumes a "
        "run that ended early. Emptied at the end.",
        metavar="DIR",
        check=_or_none(check_path),
    ),
]
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
        check=_or_none(check_path),
    ),
]

# Options of a search for test items.
TestTextField = Annotated[
    str | None,
    _field("Field or paths of the text of a test item. By default text, else content, else body."),
]
MinShare = Annotated[
    float,
    Option(
        "Smallest share of an item's letters and digits that a document must have, above 0 and at "
        "most 1.",
        MATCHING,
        default=0.8,
        check=check_threshold,
    ),
]
MinItemLength = Annotated[
    int,
    Option(
        "Shortest test item that is looked for, in Chinese characters; in other scripts twice as "
        "many letters. 5 to 10,000; shorter ones are listed in a note.",
        MATCHING,
        default=20,
        check=_whole(5, 10_000),
    ),
]
MaxDocuments = Annotated[
    int | None,
    Option(
        "Wording that more than this many documents have does not count, at least 1. By default "
        "100, or one in 1,000 documents if that is more.",
        MATCHING,
        check=_or_none(_whole(1, 2**32 - 1)),
    ),
]

# Options of a search for repeats.
KeptPlaces = Literal["first", "none"]
Unit = Annotated[
    Literal["sentence", "paragraph"],
    Option(
        "Unit that is compared: sentence, or paragraph, which is a line.",
        MATCHING,
        default="sentence",
    ),
]
MinUnitLength = Annotated[
    int,
    Option(
        "Shortest sentence or paragraph that counts, in Chinese characters; in other scripts "
        "twice as many letters. 1 to 10,000.",
        MATCHING,
        default=10,
        check=_whole(1, 10_000),
    ),
]
MinDocuments = Annotated[
    int,
    Option(
        "Number of different documents that must have a repeat, at least 1: then also what one "
        "document repeats is found.",
        MATCHING,
        default=2,
        check=_whole(1, 2**32 - 1),
    ),
]

# Options of a cluster.
Checkpoint = Annotated[
    str | None,
    Option(
        "Folder that all machines reach, such as s3a://bucket/job. The same call with the same "
        "folder and input resumes a job that ended early. By default a temporary one.",
        metavar="DIR",
    ),
]
Partitions = Annotated[
    int | None,
    Option(
        "Number of tasks of a stage, at least 1. By default three for each core, and more for "
        "a large input. Changes no result.",
        panel=None,
        check=_or_none(_whole(1)),
    ),
]
BatchDocuments = Annotated[
    int,
    Option(
        "Number of documents that a task works on together, from 1 to 65,536. Changes no result.",
        panel=None,
        default=8192,
    ),
]
TitleA = Annotated[
    str | None,
    Option("Title of A, for recipes that weigh the words of titles.", INPUT, metavar="TEXT"),
]
TitleB = Annotated[str | None, Option("Title of B.", INPUT, metavar="TEXT")]
Passages = Annotated[
    bool,
    Option(
        "Find the passages of A that occur in B, and where the two texts differ.",
        OUTPUT,
        short="-p",
    ),
]

# Options of an index.
Expected = Annotated[
    int | None,
    Option(
        "Expected number of documents, for a search by bands. By default 1,000,000.",
        MATCHING,
        check=_or_none(_whole(1, 2**32 - 1)),
    ),
]
MustExist = Annotated[
    bool | None,
    Option(
        "True if the index must exist, False if it must not exist yet. By default it is created if "
        "it does not exist.",
        panel=None,
        check=_check_true_false_none,
    ),
]
AtField = Annotated[
    str | None,
    _field(
        "Field of the time of arrival: ISO 8601, or such as 2024-3-9 8:00:00. By default the "
        "current time.",
    ),
]
AtZone = Annotated[
    str | tzinfo | None,
    Option(
        "Time zone of times without one, such as Asia/Shanghai. By default UTC.",
        INPUT,
        metavar="ZONE",
        check=check_zone,
    ),
]
SourceField = Annotated[str | None, _field("Field of the source of a document; it is stored.")]
ExtraFields = Annotated[
    Sequence[str],
    Option(
        "Names of further fields to store. In a command, repeat the option for each.",
        INPUT,
        flag="--extra-field",
        default=(),
        check=check_fields,
    ),
]
Within = Annotated[
    timedelta | str | None,
    Option(
        "Search only documents that arrived within this span, such as 36h, 14d or 2w.",
        MATCHING,
        metavar="SPAN",
        check=_or_none(check_span),
    ),
]
Replace = Annotated[
    bool,
    Option(
        "Replace a stored document that has the id of a new one. Documents that were dropped for "
        "it are decided again. If text, title, source and further fields are the same, nothing "
        "changes.",
        OUTPUT,
    ),
]
# Options of a paper check.
#: Bounds of the length of a passage, and its default; the lower bound is the length of a shingle.
SHORTEST_PASSAGE, LONGEST_PASSAGE, PASSAGE = 5, 10_000, 20
CountShared = Annotated[
    bool,
    Option(
        "Count as copied what many documents of the library share, such as a declaration: a "
        "fifth of them, at least three, or all of fewer than ten. By default it is set aside.",
        "Library",
    ),
]
MinPassageLength = Annotated[
    int,
    Option(
        "Smallest number of Chinese characters that a passage has in common with its "
        "source; twice as many letters of an alphabet.",
        "Alignment",
        default=PASSAGE,
        check=_whole(SHORTEST_PASSAGE, LONGEST_PASSAGE),
    ),
]


# Limits of a service.
def _limit(help: str, default: int) -> Option:
    return Option(help, "Limits", default, check=_whole(1))


def _check_seconds(value: Any, name: str) -> Any:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < value < float("inf"):
        raise bad(name, "a number of seconds above 0", value)
    return value


MaxBodyBytes = Annotated[int, _limit("Largest body of a request, but for papers.", 16 << 20)]
MaxUploadBytes = Annotated[int, _limit("Largest paper.", 64 << 20)]
MaxBatch = Annotated[int, _limit("Most documents in one request.", 1000)]
MaxTextCharacters = Annotated[int, _limit("Longest text, in code points.", 1_000_000)]
MaxInFlight = Annotated[
    int, _limit("Most requests at once; further ones get 429 with Retry-After.", 256)
]
RequestSeconds = Annotated[
    float, Option("Longest time for one request.", "Limits", 30.0, check=_check_seconds)
]
MaxJobs = Annotated[int, _limit("Most checks of papers that wait.", 32)]
CheckSeconds = Annotated[
    float,
    Option("Longest time to check one paper.", "Limits", 600.0, check=_check_seconds),
]
JobSeconds = Annotated[
    float,
    Option(
        "How long a report is kept; it is lost when the service stops.",
        "Limits",
        7 * 86400.0,
        check=_check_seconds,
    ),
]
MaxReportBytes = Annotated[
    int, _limit("Stored reports of all checks, after which the oldest are removed.", 1 << 30)
]

# Options of the lab.
Seed = Annotated[
    int,
    Option("Seed of all random draws, at least 0.", default=0, check=_whole(0)),
]
Copies = Annotated[
    Literal["reposts", "edits"],
    Option(
        "How copies are made: reposts adds a line at the head, the tail or both; edits "
        "changes characters, words and sentences.",
        INPUT,
        default="reposts",
    ),
]
EditRate = Annotated[
    float | None,
    Option(
        "For edits: share of each copy's characters that they touch, from 0 to 0.5. By default "
        "drawn for each copy from 0.02 to 0.10.",
        INPUT,
    ),
]
IncludeRemoved = Annotated[
    bool,
    Option(
        "Write dropped documents too, so that `neardup index add` makes an equal index of the "
        "output.",
        OUTPUT,
    ),
]
