"""``neardup dedup``: drop the near-duplicates of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args

from neardup.base.messages import Message
from neardup.base.validation import check_choice
from neardup.cli.on_spark import dedup_on_spark
from neardup.cli.options import (
    Bits,
    FailOnDuplicates,
    Inputs,
    Quiet,
    Settings,
    StripMarkup,
    choose_recipe,
    declare_file,
)
from neardup.cli.terminal import end_with_problems, get_language
from neardup.cli.watch import Watch, print_doubtful, print_summary
from neardup.exceptions import ParameterError
from neardup.options import options as o
from neardup.options.groups import DedupFilesParameters

if TYPE_CHECKING:
    from neardup.run.summary import Summary

Engine = Literal["single", "spark"]


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        declare_file(
            "Kept records, unchanged and in input order; format by extension. A folder (out/) "
            "gets one file for each input, with its path, format and compression.",
            "-o",
        ),
    ],
    removed: Annotated[
        str | None,
        declare_file(
            "Record of each dropped document: id, kept_id, similarity, measure, distance, kind, "
            "cluster_size (the documents that the kept one represents); with titles also title "
            "and kept_title; with --against also kept_from; with repeated ids also record and "
            "kept_record."
        ),
    ],
    against: Annotated[
        list[str] | None,
        o.Option(
            "Another collection, whose documents all count as kept: documents that are similar to "
            "one of them are dropped. Files, folders and patterns as INPUT, which may be given "
            "several times, or an index.",
            o.MATCHING,
            metavar="INPUT",
        ),
    ],
    review: Annotated[
        str | None,
        declare_file(
            "Page for a browser, as HTML: the removals next to the kept documents, the least "
            "similar first; boxes to choose ids for --restore; and the largest groups."
        ),
    ],
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    fail_on_duplicates: FailOnDuplicates,
    engine: Annotated[
        Engine,
        o.Option(
            "Where to run: single (this machine) or spark (a cluster). Spark writes each "
            "output as a folder of part files.",
            default="single",
        ),
    ],
    master: Annotated[
        str | None,
        o.Option(
            "The cluster: spark://HOST:PORT, yarn, k8s://URL, or local[N]. By default from "
            "Spark's own settings.",
            metavar="URL",
        ),
    ],
    checkpoint: o.Checkpoint,
    quiet: Quiet,
    **options: Unpack[DedupFilesParameters],
) -> None:
    """Drop the near-duplicates of a collection.

    A document is dropped if it is verified similar to an earlier kept document.
    Texts are normalized, segmented, weighed and sketched; candidate pairs are
    searched by their sketches, verified and clustered. Kept records are unchanged.

    Examples:
        neardup dedup articles.jsonl -o kept.jsonl --removed removed.jsonl
        neardup dedup articles.jsonl --against dump/ -o new.jsonl --removed known.jsonl
        neardup dedup articles.jsonl -o kept.jsonl --dry-run --review review.html
        neardup dedup 'dump/*.jsonl' -o kept.jsonl --memory 4GB --report report.json
    """
    from neardup.tasks.dedup import dedup_files

    options["recipe"] = choose_recipe(
        options["recipe"], strip_markup=strip_markup, bits=bits, settings=settings
    )
    options["language"] = get_language()
    others: Any = {"removed": removed, "against": against, "review": review}
    of_cluster = {"master": master, "checkpoint": checkpoint}
    if check_choice(engine, "engine", get_args(Engine)) == "spark":
        others |= of_cluster
        summary: Summary = dedup_on_spark(inputs, output, options, quiet=quiet, **others)
    else:
        for name, value in of_cluster.items():
            if value is not None:
                message = Message(
                    "{parameter:named} must be left out, since it is for a cluster. Got {value}: "
                    "add --engine spark.",
                    parameter=name,
                    value=repr(value),
                )
                raise ParameterError(message)

        with Watch(quiet=quiet, has_report=True) as watch:
            options["progress"] = watch
            result = dedup_files(inputs, output, **others, **options)
        summary, plan = result.summary, result.plan
        if not quiet:
            print_summary(summary, plan.measure, plan.threshold, plan.max_distance)
            print_doubtful(result.most_doubtful(), plan.measure, plan.threshold)
    if summary.problems:
        end_with_problems()
    if fail_on_duplicates and summary.exact_duplicates + summary.near_duplicates:
        raise SystemExit(1)
