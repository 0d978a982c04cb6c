"""``neardup dedup --engine spark``: the same command on a cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from neardup.base.messages import Message
from neardup.base.progress import Clock
from neardup.cli.terminal import print_counts
from neardup.cli.watch import Watch, print_doubtful, print_summary
from neardup.exceptions import ParameterError
from neardup.options.groups import DedupFilesParameters, SparkFilesParameters
from neardup.options.signatures import options_of

if TYPE_CHECKING:
    from neardup.spark import SparkSummary


def dedup_on_spark(
    inputs: list[str],
    output: str,
    options: DedupFilesParameters,
    *,
    master: str | None,
    quiet: bool,
    **others: Any,
) -> SparkSummary:
    """De-duplicate on a cluster, and print what was done.

    Parameters
    ----------
    options : DedupFilesParameters
        Those that a cluster does not take must have their defaults.
    others
        Further options of `neardup.spark.dedup_files`.

    Raises
    ------
    ParameterError
        If an option is given that is for one machine.
    """
    known = options_of(SparkFilesParameters)
    for name, (_, option) in options_of(DedupFilesParameters).items():
        value = options.get(name, option.default)
        if name in known:
            others[name] = value
        elif value != option.default:
            raise ParameterError(
                Message(
                    "{parameter:named} must be left out on Spark. Got {value}: leave out --engine "
                    "to run on one machine.",
                    parameter=name,
                    value=repr(value),
                )
            )
    from neardup.spark import dedup_files
    from neardup.spark.errors import translate_errors
    from neardup.spark.session import start

    clock = Clock()
    with Watch(quiet=quiet) as watch:
        with translate_errors():
            spark = start(master)
        clock.lap("start Spark")
        try:
            with translate_errors():
                result = dedup_files(inputs, output, spark=spark, **(others | {"progress": watch}))
        finally:
            # A Java that has ended cannot be asked to stop.
            with suppress(ConnectionError):
                spark.stop()
    summary = result.summary
    summary.stages = {**clock.stages, **summary.stages}
    summary.seconds += clock.stages["start Spark"]
    if not quiet:
        print_summary(summary, result.measure, result.threshold, result.max_distance)
        _print_cluster(summary)
        print_doubtful(result.doubtful(), result.measure, result.threshold)
    return summary


def _print_cluster(summary: SparkSummary) -> None:
    """Print the counts that only a cluster has."""
    started = f"{summary.stages['start Spark']:,.2f}"
    shuffled = f"{summary.shuffled_bytes / 1e6:,.1f}"
    of_each = Message(
        "MB, {bytes:,.0f} bytes per document", bytes=summary.shuffled_bytes_per_document
    )
    print_counts(
        [
            (
                Message("start-up"),
                started,
                Message("of these seconds passed until Spark had started"),
            ),
            (Message("rounds"), summary.rounds, ""),
            (Message("shuffled"), shuffled, of_each),
        ]
    )
