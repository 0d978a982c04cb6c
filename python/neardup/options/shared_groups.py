"""Groups of options that several functions have in common."""

from pathlib import Path
from typing import Annotated, TypedDict

from neardup.base.memory import check_memory, check_part_size
from neardup.base.validation import check_path
from neardup.options import options as o


class FieldParameters(TypedDict, total=False):
    """Where the texts of records and their ids are."""

    text_field: o.TextField
    id_field: o.IdField
    max_text: o.MaxText


class TextParameters(FieldParameters, total=False):
    """Where the texts of records are, and their ids and titles."""

    title_field: o.TitleField
    title_from_first_line: o.FirstLine


class RunParameters(TypedDict, total=False):
    """Resources of a run. They change no result."""

    workers: o.Workers
    memory: Annotated[
        int | str | None,
        o.Option(
            "Memory limit, at least 512MiB: for example 4GB or 1.5GiB. Data beyond it is written "
            "to temporary files. By default half of the machine's memory. Changes no result.",
            metavar="SIZE",
            check=check_memory,
        ),
    ]


class MatchParameters(TypedDict, total=False):
    """The definition of a duplicate."""

    recipe: o.RecipeName
    ignore: o.Ignore
    measure: o.Measure
    threshold: o.Threshold
    max_distance: o.MaxDistance


class SearchParameters(MatchParameters, total=False):
    """The definition of a duplicate, and how thoroughly duplicates are searched."""

    exhaustive: Annotated[
        bool,
        o.Option(
            "Compare all documents that share enough keys, also those that capped lists leave "
            "out. Finds more, but the time is quadratic in the documents of one template. "
            "For recipes that sample shingles or make signatures; other searches are exhaustive.",
            o.MATCHING,
        ),
    ]


class ProgressParameters(TypedDict, total=False):
    """Callbacks of a run."""

    progress: o.ProgressCallbacks


class OutputParameters(ProgressParameters, total=False):
    """Options of what writes files."""

    force: o.Force


class InputParameters(TypedDict, total=False):
    """The kind of the files."""

    format: o.Format
    encoding: o.Encoding


class PartParameters(TypedDict, total=False):
    """Options of what can write parts."""

    part_size: Annotated[
        int | str | None,
        o.Option(
            "Write a folder (parts/) of numbered parts of about this size: at least 1MB, for "
            "example 1GB. The parts have the format of the first input.",
            o.OUTPUT,
            metavar="SIZE",
            check=o.or_none(check_part_size),
        ),
    ]


class FileParameters(OutputParameters, InputParameters, total=False):
    """Options of a run over files."""

    work: Annotated[
        str | Path | None,
        o.Option(
            "Folder for the documents that are sketched. The same call with the same folder "
            "resumes a run that ended early. Emptied at the end.",
            metavar="DIR",
            check=o.or_none(check_path),
        ),
    ]


class ReportParameters(FileParameters, total=False):
    """Options of a run over files that can write a report."""

    report: o.Report
