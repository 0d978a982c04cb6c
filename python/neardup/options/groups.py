"""Which options each function and its command take.

A function takes a group as ``**options: Unpack[DedupParameters]``.
"""

from typing import TypedDict

from neardup.options.options import (
    AgainstOnly,
    Annotate,
    AtField,
    AtZone,
    Background,
    BatchDocuments,
    Blocks,
    Checkpoint,
    ClusterSize,
    Common,
    Cover,
    DryRun,
    Exhaustive,
    Expected,
    ExtraFields,
    FingerprintForm,
    FingerprintRecipe,
    FirstLine,
    Force,
    Format,
    Full,
    IdField,
    IdfRecipe,
    IndexRecipe,
    LeastDocuments,
    LeastUnit,
    MaxDistance,
    MaxText,
    Measure,
    Memory,
    MustExist,
    OnError,
    PairsOnError,
    Partitions,
    Passages,
    Priority,
    ProgressCallbacks,
    RecipeName,
    Report,
    SourceField,
    Store,
    TestTextField,
    TextField,
    Threshold,
    TitleA,
    TitleB,
    TitleField,
    Unit,
    Within,
    Workers,
    WorkFolder,
)

# What several groups have in common.


class FieldParameters(TypedDict, total=False):
    """Where the texts of records and their ids are."""

    text_field: TextField
    id_field: IdField
    max_text: MaxText


class TextParameters(FieldParameters, total=False):
    """Where the texts of records are, and their ids and titles."""

    title_field: TitleField
    title_from_first_line: FirstLine


class RunParameters(TypedDict, total=False):
    """Resources of a run. They change no result."""

    workers: Workers
    memory: Memory


class MatchParameters(TypedDict, total=False):
    """The definition of a duplicate."""

    recipe: RecipeName
    measure: Measure
    threshold: Threshold
    max_distance: MaxDistance


class SearchParameters(MatchParameters, total=False):
    """The definition of a duplicate, and how thoroughly duplicates are searched."""

    exhaustive: Exhaustive


class ProgressParameters(TypedDict, total=False):
    """Callbacks of a run."""

    progress: ProgressCallbacks


class OutputParameters(ProgressParameters, total=False):
    """Options of what writes files."""

    force: Force


class FileParameters(OutputParameters, total=False):
    """Options of a run over files."""

    format: Format
    work: WorkFolder


class ReportParameters(FileParameters, total=False):
    """Options of a run over files that can write a report."""

    report: Report


# Functions over a collection.


class PairsParameters(SearchParameters, TextParameters, RunParameters, total=False):
    """Options of `pairs`."""

    on_error: PairsOnError


class PairsFilesParameters(PairsParameters, ReportParameters, total=False):
    """Options of `pairs_files`."""


class DedupParameters(SearchParameters, TextParameters, RunParameters, total=False):
    """Options of `dedup`."""

    on_error: OnError
    priority: Priority
    against_only: AgainstOnly


class DedupFilesParameters(DedupParameters, ReportParameters, total=False):
    """Options of `dedup_files`."""

    annotate: Annotate
    cluster_size: ClusterSize
    dry_run: DryRun


class FingerprintFilesParameters(TextParameters, RunParameters, FileParameters, total=False):
    """Options of `fingerprint_files`."""

    recipe: FingerprintRecipe
    on_error: OnError
    form: FingerprintForm
    blocks: Blocks


class SketchFilesParameters(TextParameters, RunParameters, OutputParameters, total=False):
    """Options of `sketch_files`."""

    recipe: RecipeName
    on_error: PairsOnError
    format: Format


class ContaminationParameters(FieldParameters, total=False):
    """Options of `contamination`."""

    test_text_field: TestTextField
    cover: Cover
    common: Common
    workers: Workers


class ContaminationFilesParameters(ContaminationParameters, OutputParameters, total=False):
    """Options of `contamination_files`."""

    format: Format


class RepeatsParameters(FieldParameters, RunParameters, total=False):
    """Options of `repeats`."""

    unit: Unit
    least: LeastUnit
    documents: LeastDocuments


class RepeatsFilesParameters(RepeatsParameters, OutputParameters, total=False):
    """Options of `repeats_files`."""

    format: Format


class IdfParameters(TypedDict, total=False):
    """Options of `count_idf`."""

    text_field: TextField
    max_text: MaxText
    recipe: IdfRecipe
    workers: Workers
    progress: ProgressCallbacks


class CompareParameters(MatchParameters, total=False):
    """Options of `compare`."""

    title_a: TitleA
    title_b: TitleB
    passages: Passages


class ExplainParameters(TypedDict, total=False):
    """Options of `explain`."""

    recipe: RecipeName
    max_distance: MaxDistance
    title_a: TitleA
    title_b: TitleB


# A cluster.


class SparkParameters(SearchParameters, FieldParameters, total=False):
    """Options of `neardup.spark.dedup`."""

    on_error: OnError
    against_only: AgainstOnly
    checkpoint: Checkpoint
    partitions: Partitions
    batch_documents: BatchDocuments


class SparkFilesParameters(SparkParameters, OutputParameters, total=False):
    """Options of `neardup.spark.dedup_files`."""

    format: Format


# The index.


class LoadParameters(TypedDict, total=False):
    """Options of `Index.load`."""

    workers: Workers
    progress: ProgressCallbacks


class IndexParameters(TypedDict, total=False):
    """Options of `Index`; None takes what an index that exists was made with."""

    recipe: IndexRecipe
    measure: Measure
    threshold: Threshold
    max_distance: MaxDistance
    store: Store
    expected: Expected
    background: Background
    must_exist: MustExist
    workers: Workers
    progress: ProgressCallbacks


class QueryParameters(TypedDict, total=False):
    """Options of `Index.query`."""

    within: Within


class AddParameters(QueryParameters, total=False):
    """Options of `Index.add`."""

    at_zone: AtZone


class AddManyParameters(TextParameters, AddParameters, total=False):
    """Options of `Index.add_many`."""

    at_field: AtField
    source_field: SourceField
    extra_fields: ExtraFields
    progress: ProgressCallbacks


class AddFilesParameters(AddManyParameters, total=False):
    """Options of `Index.add_files`."""

    format: Format


class CheckParameters(ProgressParameters, total=False):
    """Options of `Index.check`."""

    full: Full
