"""``neardup dedup --engine spark``: the same command on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, get_args

from neardup.base.messages import Message
from neardup.base.validation import check_choice
from neardup.cli.terminal import tell_rows
from neardup.exceptions import ParameterError
from neardup.options.groups import DedupFilesParameters, SparkFilesParameters
from neardup.options.signatures import declared

if TYPE_CHECKING:
    from neardup.spark import SparkSummary

Engine = Literal["single", "spark"]


def check_engine(engine: str, of_cluster: Mapping[str, Any]) -> bool:
    """Say whether a cluster is wanted.

    Raises
    ------
    ParameterError
        If the engine is not known, or an option of a cluster is given without one.
    """
    is_spark = bool(check_choice(engine, "engine", get_args(Engine)) == "spark")
    for name, value in of_cluster.items():
        if value is not None and not is_spark:
            raise ParameterError(Message("cli.for_a_cluster", parameter=name, value=repr(value)))
    return is_spark


def dedup_on_spark(
    inputs: Sequence[str],
    output: str,
    *,
    removed: str | None,
    against: Sequence[str] | None,
    review: str | None,
    master: str | None,
    checkpoint: str | None,
    quiet: bool,
    options: DedupFilesParameters,
) -> SparkSummary:
    """De-duplicate on a cluster, and print what was done.

    Raises
    ------
    ParameterError
        If an option is given that is for one machine.
    """
    known = declared(SparkFilesParameters)
    taken: Any = {name: value for name, value in options.items() if name in known}
    for name, (_, option) in declared(DedupFilesParameters).items():
        value = options.get(name, option.default)
        if name not in known and value != option.default:
            raise ParameterError(Message("cli.not_on_spark", parameter=name, value=repr(value)))
    from neardup.base.progress import Clock
    from neardup.cli.watch import Watch, print_doubtful, print_summary
    from neardup.spark import dedup_files
    from neardup.spark.session import start, translate_errors

    clock = Clock()
    with Watch(quiet=quiet) as watch:
        with translate_errors():
            spark = start(master)
        clock.lap("start Spark")
        try:
            with translate_errors():
                taken |= {"checkpoint": checkpoint, "progress": watch}
                taken |= {"removed": removed, "against": against, "review": review}
                result = dedup_files(inputs, output, spark=spark, **taken)
        finally:
            # A Java that has ended cannot be asked to stop.
            with suppress(ConnectionError):
                spark.stop()
    summary = result.summary
    summary.stages = {**clock.stages, **summary.stages}
    summary.seconds += clock.stages["start Spark"]
    if not quiet:
        print_summary(summary, result.measure, result.threshold, result.max_distance)
        of_each = Message("cli.shuffled_says", bytes=summary.shuffled_bytes_per_document)
        shuffled = f"{summary.shuffled_bytes / 1e6:,.1f}"
        started = f"{summary.stages['start Spark']:,.2f}"
        tell_rows(
            [
                (Message("cli.summary_start_up"), started, Message("cli.start_up_says")),
                (Message("cli.summary_rounds"), summary.rounds, ""),
                (Message("cli.summary_shuffled"), shuffled, of_each),
            ]
        )
        print_doubtful(result.doubtful())
    return summary
