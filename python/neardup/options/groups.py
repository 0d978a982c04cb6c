"""Which options each function and its command take.

A function takes a group as ``**options: Unpack[DedupParameters]``.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from neardup.base.memory import check_memory
from neardup.base.validation import check_path, check_threshold
from neardup.options import options as o
from neardup.options.shared_groups import (
    FieldParameters,
    FileParameters,
    InputParameters,
    MatchParameters,
    OutputParameters,
    PartParameters,
    ProgressParameters,
    ReportParameters,
    RunParameters,
    SearchParameters,
    TextParameters,
)
from neardup.recipe import AnyRecipe

# Functions over a collection.


class PairsParameters(SearchParameters, TextParameters, RunParameters, total=False):
    """Options of `pairs`."""

    group_field: o.GroupField
    on_error: o.PairsOnError


class PairsFilesParameters(PairsParameters, ReportParameters, total=False):
    """Options of `pairs_files`."""


class DedupParameters(SearchParameters, TextParameters, RunParameters, total=False):
    """Options of `dedup`."""

    on_error: o.OnError
    priority: Annotated[
        str,
        o.Option(
            "Which of two duplicates is kept: first, last, longest, field:NAME (the smallest value "
            "of the field) or field:NAME:desc (the largest); or several with commas between them, "
            "each for the ties of those before it.",
            o.MATCHING,
            default="first",
            check=o.check_priority,
        ),
    ]
    against_only: o.AgainstOnly
    min_length: Annotated[
        int | None,
        o.Option(
            "Leave shorter texts alone, in letters and digits: they are kept, and nothing is "
            "dropped for one of them. 1 to 1,000,000.",
            o.MATCHING,
            check=o.or_none(o.whole(1, 1_000_000)),
        ),
    ]
    max_length: Annotated[
        int | None,
        o.Option(
            "Leave longer texts alone, in letters and digits: a text of exactly this length is "
            "compared. 1 to 1,000,000,000.",
            o.MATCHING,
            check=o.or_none(o.whole(1, 1_000_000_000)),
        ),
    ]
    group_field: o.GroupField


class DedupFilesParameters(DedupParameters, ReportParameters, PartParameters, total=False):
    """Options of `dedup_files`."""

    restore: Annotated[
        str | Path | None,
        o.Option(
            "File of ids, one on each line, such as a review saves: these records are kept, "
            "whatever they repeat. Changes no other decision.",
            o.MATCHING,
            metavar="FILE",
            check=o.or_none(check_path),
        ),
    ]
    annotate: Annotated[
        bool,
        o.Option(
            "Write every record instead of the kept ones only. Each gets the fields cluster_id, "
            "cluster_size, kept_id, similarity and measure.",
            o.OUTPUT,
        ),
    ]
    cluster_size: Annotated[
        bool,
        o.Option(
            "Add the field cluster_size to each record that is written: the number of documents "
            "that it represents.",
            o.OUTPUT,
        ),
    ]
    copies: Annotated[
        bool,
        o.Option(
            "Add the field copies to each record that is written: the ids of the documents that "
            "were dropped for it, in input order.",
            o.OUTPUT,
        ),
    ]
    dry_run: Annotated[
        bool,
        o.Option(
            "Decide, but write neither kept nor removed records: only --review and --report, if "
            "given.",
            o.OUTPUT,
        ),
    ]
    language: o.ReviewLanguage


class FingerprintFilesParameters(
    TextParameters, RunParameters, FileParameters, PartParameters, total=False
):
    """Options of `fingerprint_files`."""

    recipe: Annotated[AnyRecipe, replace(o.RECIPE, default="characters")]
    ignore: o.Ignore
    on_error: o.OnError
    form: Annotated[
        o.Form,
        o.Option(
            "How a fingerprint is written: hex digits; an unsigned or, for databases, a signed "
            "number of up to 64 bits; bits, the highest first; or bits-lowest-first, as the news "
            "program writes them.",
            o.OUTPUT,
            default="hex",
        ),
    ]
    blocks: Annotated[
        int | None,
        o.Option(
            "Add the columns block_0 to block_D for a distance D: the fingerprint cut into D + 1 "
            "blocks, the lowest bits first. Two fingerprints within D bits share one of them.",
            o.OUTPUT,
            metavar="D",
        ),
    ]


class SketchFilesParameters(
    TextParameters, RunParameters, OutputParameters, InputParameters, total=False
):
    """Options of `sketch_files`."""

    recipe: o.RecipeName
    ignore: o.Ignore
    on_error: o.PairsOnError


class ContaminationParameters(FieldParameters, total=False):
    """Options of `contamination`."""

    test_text_field: Annotated[
        str | None,
        o.field(
            "Field or paths of the text of a test item. By default text, else content, else body."
        ),
    ]
    min_share: Annotated[
        float,
        o.Option(
            "Smallest share of an item's letters and digits that a document must have: above 0, "
            "at most 1.",
            o.MATCHING,
            default=0.8,
            check=check_threshold,
        ),
    ]
    min_item_length: Annotated[
        int,
        o.Option(
            "Shortest test item that is looked for, in Chinese characters; in other scripts twice "
            "as many letters. 5 to 10,000; shorter ones are listed in a note.",
            o.MATCHING,
            default=20,
            check=o.whole(5, 10_000),
        ),
    ]
    max_documents: Annotated[
        int | None,
        o.Option(
            "Wording that more than this many documents have does not count, at least 1. By "
            "default 100, or one in 1,000 documents if that is more.",
            o.MATCHING,
            check=o.or_none(o.whole(1, 2**32 - 1)),
        ),
    ]
    workers: o.Workers


class ContaminationFilesParameters(
    ContaminationParameters, OutputParameters, InputParameters, PartParameters, total=False
):
    """Options of `contamination_files`."""


class RepeatsParameters(FieldParameters, RunParameters, total=False):
    """Options of `repeats`."""

    unit: Annotated[
        Literal["sentence", "paragraph"],
        o.Option(
            "Unit that is compared: sentence, or paragraph, which is a line.",
            o.MATCHING,
            default="sentence",
        ),
    ]
    min_unit_length: Annotated[
        int,
        o.Option(
            "Shortest sentence or paragraph that counts, in Chinese characters; in other scripts "
            "twice as many letters. 1 to 10,000.",
            o.MATCHING,
            default=10,
            check=o.whole(1, 10_000),
        ),
    ]
    documents: Annotated[
        int,
        o.Option(
            "Number of different documents that must have a repeat, at least 1: then also what one "
            "document repeats is found.",
            o.MATCHING,
            default=2,
            check=o.whole(1, 2**32 - 1),
        ),
    ]


class RepeatsFilesParameters(
    RepeatsParameters, OutputParameters, InputParameters, PartParameters, total=False
):
    """Options of `repeats_files`."""


class IdfParameters(TypedDict, total=False):
    """Options of `count_idf`."""

    text_field: o.TextField
    max_text: o.MaxText
    recipe: Annotated[AnyRecipe, replace(o.RECIPE, default="improved")]
    ignore: o.Ignore
    workers: o.Workers
    progress: o.ProgressCallbacks


class CompareParameters(MatchParameters, total=False):
    """Options of `compare`."""

    title_a: o.TitleA
    title_b: o.TitleB
    passages: Annotated[
        bool,
        o.Option(
            "Find the passages of A that occur in B, and where the two texts differ.",
            o.OUTPUT,
            short="-p",
        ),
    ]


class ExplainParameters(TypedDict, total=False):
    """Options of `explain`."""

    recipe: o.RecipeName
    ignore: o.Ignore
    max_distance: o.MaxDistance
    title_a: o.TitleA
    title_b: o.TitleB
    title_from_first_line: o.FirstLine


# A cluster.


class SparkParameters(SearchParameters, FieldParameters, total=False):
    """Options of `neardup.spark.dedup`."""

    on_error: o.OnError
    against_only: o.AgainstOnly
    checkpoint: o.Checkpoint
    partitions: Annotated[
        int | None,
        o.Option(
            "Number of tasks of a stage, at least 1. By default three for each core, and more for "
            "a large input. Changes no result.",
            panel=None,
            check=o.or_none(o.whole(1)),
        ),
    ]
    batch_documents: Annotated[
        int,
        o.Option(
            "Number of documents that a task works on together, from 1 to 65,536. Changes no "
            "result.",
            panel=None,
            default=8192,
        ),
    ]


class SparkFilesParameters(SparkParameters, OutputParameters, total=False):
    """Options of `neardup.spark.dedup_files`."""

    format: o.Format
    language: o.ReviewLanguage
    report: o.Report


# A paper.


class AlignParameters(TypedDict, total=False):
    """Options of `align`."""

    min_passage_length: Annotated[
        int,
        o.Option(
            "Smallest number of Chinese characters that a passage has in common with its "
            "source; twice as many letters of an alphabet.",
            "Alignment",
            default=o.PASSAGE,
            check=o.whole(o.SHORTEST_PASSAGE, o.LONGEST_PASSAGE),
        ),
    ]


class CheckParameters(AlignParameters, ProgressParameters, total=False):
    """Options of `check` and `check_files`."""

    format: o.Format
    encoding: o.Encoding
    count_shared: Annotated[
        bool,
        o.Option(
            "Count as copied what many documents of the library share, such as a declaration: a "
            "fifth of them, at least three, or all of fewer than ten. By default it is set aside.",
            "Library",
        ),
    ]
    workers: o.Workers
    memory: Annotated[
        int | str | None,
        o.Option(
            "Memory limit, at least 512MiB: for example 4GB or 1.5GiB. A paper that needs more is "
            "refused before it is compared. By default half of the machine's memory.",
            metavar="SIZE",
            check=check_memory,
        ),
    ]


# A service.


class LimitParameters(TypedDict, total=False):
    """Limits of a service."""

    max_body_bytes: Annotated[int, o.limit("Largest body of a request, but for papers.", 16 << 20)]
    max_upload_bytes: Annotated[int, o.limit("Largest paper.", 64 << 20)]
    max_batch: Annotated[int, o.limit("Most documents in one request.", 1000)]
    max_text_characters: Annotated[int, o.limit("Longest text, in code points.", 1_000_000)]
    max_in_flight: Annotated[
        int, o.limit("Most requests at once; further ones get 429 with Retry-After.", 256)
    ]
    request_seconds: Annotated[
        float, o.Option("Longest time for one request.", "Limits", 30.0, check=o.check_seconds)
    ]
    max_jobs: Annotated[int, o.limit("Most checks of papers that wait.", 32)]
    check_seconds: Annotated[
        float,
        o.Option("Longest time to check one paper.", "Limits", 600.0, check=o.check_seconds),
    ]
    job_seconds: Annotated[
        float,
        o.Option(
            "How long a report is kept; it is lost when the service stops.",
            "Limits",
            7 * 86400.0,
            check=o.check_seconds,
        ),
    ]
    max_report_bytes: Annotated[
        int, o.limit("Stored reports of all checks, after which the oldest are removed.", 1 << 30)
    ]


# The lab.


class EvaluatePairsParameters(InputParameters, ProgressParameters, total=False):
    """Options of `neardup.lab.evaluate_pairs`."""

    text_field: o.TextField
    id_field: o.IdField
    title_field: o.TitleField
    seed: o.Seed
    force: o.Force
    workers: o.Workers


class PublishedParameters(ProgressParameters, total=False):
    """Options of `neardup.lab.published`."""

    copies: Annotated[
        Literal["reposts", "edits"],
        o.Option(
            "How copies are made: reposts adds a line at the head, the tail or both; edits "
            "changes characters, words and sentences.",
            o.INPUT,
            default="reposts",
        ),
    ]
    rate: Annotated[
        float | None,
        o.Option(
            "For edits: share of each copy's characters that they touch, from 0 to 0.5. By default "
            "drawn for each copy from 0.02 to 0.10.",
            o.INPUT,
        ),
    ]
    seed: o.Seed
    force: o.Force
    workers: o.Workers
