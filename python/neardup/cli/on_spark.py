"""``neardup dedup --engine spark``: the same command on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from neardup._engine.messages import Message
from neardup._engine.options import DedupFilesParameters, declared
from neardup._engine.validation import check_choice
from neardup.cli.terminal import tell_rows
from neardup.exceptions import ParameterError

if TYPE_CHECKING:
    from neardup.spark import SparkSummary

_ENGINES = ("single", "spark")

#: Options that a cluster takes, too.
_TAKEN = ("format", "text", "id", "threshold", "max_distance", "recipe", "on_error", "force")


def check_engine(engine: str, of_cluster: Mapping[str, Any]) -> bool:
    """Say whether a cluster is wanted.

    Raises
    ------
    ParameterError
        If the engine is not known, or an option of a cluster is given without one.
    """
    is_spark = bool(check_choice(engine, "engine", _ENGINES) == "spark")
    for name, value in of_cluster.items():
        if value is not None and not is_spark:
            raise ParameterError(Message("cli.for_a_cluster", parameter=name, value=repr(value)))
    return is_spark


def dedup_on_spark(
    inputs: Sequence[str],
    output: str,
    *,
    removed: str | None,
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
    taken: dict[str, Any] = {}
    for name, (_, option) in declared(DedupFilesParameters).items():
        value = options.get(name, option.default)
        if name in _TAKEN:
            taken[name] = value
        elif value != option.default:
            flag = option.flags[0].removeprefix("--")
            raise ParameterError(Message("cli.not_on_spark", parameter=flag, value=repr(value)))
    from neardup.cli.watch import Watch, print_summary
    from neardup.spark import dedup_files
    from neardup.spark.session import start, told

    with Watch(quiet=quiet) as watch:
        with told():
            spark = start(master)
        try:
            with told():
                result = dedup_files(
                    inputs,
                    output,
                    spark=spark,
                    removed=removed,
                    checkpoint=checkpoint,
                    progress=watch,
                    **taken,
                )
        finally:
            # A Java that has ended cannot be asked to stop.
            with suppress(ConnectionError):
                spark.stop()
    summary = result.summary
    if not quiet:
        print_summary(summary, result.measure, result.threshold, result.max_distance)
        of_each = Message("cli.shuffled_says", bytes=summary.shuffled_bytes_per_document)
        shuffled = f"{summary.shuffled_bytes / 1e6:,.1f}"
        tell_rows([("rounds", summary.rounds, ""), ("shuffled", shuffled, of_each)])
    return summary
