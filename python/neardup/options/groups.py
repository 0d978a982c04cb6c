"""Which options each function and its command take.

A function takes a group as ``**options: Unpack[DedupParameters]``.
"""

from typing import TypedDict

from neardup.options import options as o

# What several groups have in common.


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
    memory: o.Memory


class MatchParameters(TypedDict, total=False):
    """The definition of a duplicate."""

    recipe: o.RecipeName
    ignore: o.Ignore
    measure: o.Measure
    threshold: o.Threshold
    max_distance: o.MaxDistance


class SearchParameters(MatchParameters, total=False):
    """The definition of a duplicate, and how thoroughly duplicates are searched."""

    exhaustive: o.Exhaustive


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

    part_size: o.PartSize


class FileParameters(OutputParameters, InputParameters, total=False):
    """Options of a run over files."""

    work: o.WorkFolder


class ReportParameters(FileParameters, total=False):
    """Options of a run over files that can write a report."""

    report: o.Report


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
    priority: o.Priority
    against_only: o.AgainstOnly
    min_length: o.MinLength
    max_length: o.MaxLength
    group_field: o.GroupField


class DedupFilesParameters(DedupParameters, ReportParameters, PartParameters, total=False):
    """Options of `dedup_files`."""

    restore: o.Restore
    annotate: o.Annotate
    cluster_size: o.ClusterSize
    copies: o.CopyIds
    dry_run: o.DryRun
    language: o.ReviewLanguage


class FingerprintFilesParameters(
    TextParameters, RunParameters, FileParameters, PartParameters, total=False
):
    """Options of `fingerprint_files`."""

    recipe: o.FingerprintRecipe
    ignore: o.Ignore
    on_error: o.OnError
    form: o.FingerprintForm
    blocks: o.Blocks


class SketchFilesParameters(
    TextParameters, RunParameters, OutputParameters, InputParameters, total=False
):
    """Options of `sketch_files`."""

    recipe: o.RecipeName
    ignore: o.Ignore
    on_error: o.PairsOnError


class ContaminationParameters(FieldParameters, total=False):
    """Options of `contamination`."""

    test_text_field: o.TestTextField
    min_share: o.MinShare
    min_item_length: o.MinItemLength
    max_documents: o.MaxDocuments
    workers: o.Workers


class ContaminationFilesParameters(
    ContaminationParameters, OutputParameters, InputParameters, PartParameters, total=False
):
    """Options of `contamination_files`."""


class RepeatsParameters(FieldParameters, RunParameters, total=False):
    """Options of `repeats`."""

    unit: o.Unit
    min_unit_length: o.MinUnitLength
    documents: o.MinDocuments


class RepeatsFilesParameters(
    RepeatsParameters, OutputParameters, InputParameters, PartParameters, total=False
):
    """Options of `repeats_files`."""


class IdfParameters(TypedDict, total=False):
    """Options of `count_idf`."""

    text_field: o.TextField
    max_text: o.MaxText
    recipe: o.IdfRecipe
    ignore: o.Ignore
    workers: o.Workers
    progress: o.ProgressCallbacks


class CompareParameters(MatchParameters, total=False):
    """Options of `compare`."""

    title_a: o.TitleA
    title_b: o.TitleB
    passages: o.Passages


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
    partitions: o.Partitions
    batch_documents: o.BatchDocuments


class SparkFilesParameters(SparkParameters, OutputParameters, total=False):
    """Options of `neardup.spark.dedup_files`."""

    format: o.Format
    language: o.ReviewLanguage
    report: o.Report


# The index.


class IndexParameters(TypedDict, total=False):
    """Options of `Index`; None takes what an index that exists was made with."""

    recipe: o.IndexRecipe
    ignore: o.IndexIgnore
    measure: o.Measure
    threshold: o.Threshold
    max_distance: o.MaxDistance
    expected: o.Expected
    must_exist: o.MustExist
    workers: o.Workers


class QueryParameters(TypedDict, total=False):
    """Options of `Index.query`."""

    within: o.Within


class AddParameters(QueryParameters, total=False):
    """Options of `Index.add`."""

    at_zone: o.AtZone
    replace: o.Replace


class AddManyParameters(TextParameters, AddParameters, total=False):
    """Options of `Index.add_many`."""

    at_field: o.AtField
    source_field: o.SourceField
    extra_fields: o.ExtraFields
    progress: o.ProgressCallbacks


class AddFilesParameters(AddManyParameters, InputParameters, OutputParameters, total=False):
    """Options of `Index.add_files`."""


class ExportParameters(OutputParameters, total=False):
    """Options of `Index.export`."""

    include_removed: o.IncludeRemoved


# A paper.


class AlignParameters(TypedDict, total=False):
    """Options of `align`."""

    min_passage_length: o.MinPassageLength


class CheckParameters(AlignParameters, ProgressParameters, total=False):
    """Options of `check` and `check_files`."""

    format: o.Format
    encoding: o.Encoding
    count_shared: o.CountShared
    workers: o.Workers
    memory: o.CheckMemory


# A service.


class LimitParameters(TypedDict, total=False):
    """Limits of a service."""

    max_body_bytes: o.MaxBodyBytes
    max_upload_bytes: o.MaxUploadBytes
    max_batch: o.MaxBatch
    max_text_characters: o.MaxTextCharacters
    max_in_flight: o.MaxInFlight
    request_seconds: o.RequestSeconds
    max_jobs: o.MaxJobs
    check_seconds: o.CheckSeconds
    job_seconds: o.JobSeconds
    max_report_bytes: o.MaxReportBytes


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

    copies: o.Copies
    rate: o.EditRate
    seed: o.Seed
    force: o.Force
    workers: o.Workers
