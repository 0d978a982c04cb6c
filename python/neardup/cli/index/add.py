"""``neardup index create`` and ``add``: documents into an index."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from neardup.base.interrupt import CommandInterrupt
from neardup.base.messages import N_, Message
from neardup.cli.index import common
from neardup.cli.options import (
    Bits,
    FailOnDuplicates,
    Inputs,
    Quiet,
    Settings,
    StripMarkup,
    file,
    recipe_of,
)
from neardup.cli.terminal import Row, end_with_problems, print_counts, print_rows, rule_words
from neardup.options import options as o
from neardup.options.groups import AddFilesParameters, IndexParameters
from neardup.options.signatures import complete_options

if TYPE_CHECKING:
    from neardup.index import AddResult, Index


def create(
    *,
    location: common.Location,
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    quiet: Quiet,
    **options: Unpack[IndexParameters],
) -> None:
    """Make a new index.

    Examples:
        neardup index create new.db --threshold 0.8
        neardup index create library.db --recipe containment
    """
    from neardup.index import Index

    options["recipe"] = recipe_of(
        options["recipe"] or "general", strip_markup=strip_markup, bits=bits, settings=settings
    )
    options["must_exist"] = False
    with Index(location, **options) as index:
        if not quiet:
            print_rows(common.stats_rows(index.stats()), file=sys.stderr)


def add(
    *,
    location: common.Location,
    inputs: Inputs,
    removed: Annotated[
        str | None,
        file(
            "One record for each dropped document of the input: id, kept_id, similarity, "
            "measure, distance."
        ),
    ],
    report: Annotated[str | None, file("Write counts, settings, problems and versions as JSON.")],
    force: o.Force,
    fail_on_duplicates: FailOnDuplicates,
    workers: o.Workers,
    quiet: Quiet,
    **options: Unpack[AddFilesParameters],
) -> None:
    """Add documents, decided in their order; make the index if there is none.

    A document is dropped if it is verified similar to a kept one that came
    before. The first documents of an index are read and decided together, as
    `neardup dedup` does. Known documents are passed over, so the same command goes on
    after an interruption.

    Examples:
        neardup index add news.db articles.jsonl --removed removed.jsonl
        neardup index add news.db articles.jsonl --at-field date --within 14d
        neardup index add news.db corrected.jsonl --replace
    """
    from neardup.base.extras import require

    require(N_("An index"), "index", "sqlalchemy")
    from neardup.base.progress import Clock
    from neardup.base.validation import index_files
    from neardup.cli.watch import Watch
    from neardup.exceptions import IndexUnavailableError, InputError
    from neardup.index import Index
    from neardup.writers import REMOVED, OutputSet, write_rows

    clock = Clock()
    with ExitStack() as stack:

        def opened() -> Index:
            return stack.enter_context(
                common.open_for_command(location, workers=workers, quiet=quiet, may_make=True)
            )

        index = None if common.is_missing(location) else opened()
        files = index_files(location) if index is None else index._engine.files
        outputs = stack.enter_context(OutputSet([*inputs, *files], [removed, report]))
        file = None if removed is None else outputs.open(removed, force=force)
        report_file = None if report is None else outputs.open_text(report, force=force)
        if index is None:
            # A mistake in the other parameters must not leave a new, empty index.
            _check_inputs(inputs, complete_options(Index.add_files, options))
            index = opened()
        with Watch(quiet=quiet, has_report=True) as watch:
            try:
                options["progress"] = watch
                added = index.add_files(inputs, **options)
            except KeyboardInterrupt:
                raise CommandInterrupt(_so_far(watch.done)) from None
            except (IndexUnavailableError, InputError) as error:
                if isinstance(error, InputError) and not watch.done:
                    raise
                so_far = _so_far(watch.done)
                if error.code == "index_replaced" and watch.done:
                    so_far = Message.counted(
                        "They include the first record of the input.",
                        "They include the first {count:,} records of the input.",
                        count=watch.done,
                    )
                reason = Message("{error} {so_far}", error=error.message, so_far=so_far)
                raise type(error)(reason) from error
        if file is not None:
            write_rows(file, added.removed, REMOVED)
        if report_file is not None:
            settings: dict[str, Any] = {"inputs": inputs, "removed": removed, "workers": workers}
            settings |= {name: value for name, value in options.items() if name != "progress"}
            text = _report(index, added, watch.lines, settings, clock.seconds())
            report_file.write(text.encode(errors="backslashreplace") + b"\n")
        if not quiet:
            _summary(index, added)
    if added.problem_count:
        end_with_problems()
    if fail_on_duplicates and added.removed.num_rows:
        raise SystemExit(1)


def _check_inputs(inputs: list[str], options: Mapping[str, Any]) -> None:
    """Raise if an input cannot be used; one that can be read only once is not looked at."""
    from neardup.index.ingest.reading import open_inputs

    again = [
        path
        for path in inputs
        if path != "-" and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path))
    ]
    if again:
        open_inputs(again, options)


def _so_far(done: int) -> Message:
    return (
        Message.counted(
            "The first record is stored; the same command continues from there.",
            "The first {count:,} records are stored; the same command continues from there.",
            count=done,
        )
        if done
        else Message("Nothing of the input was stored.")
    )


def _counts(added: AddResult) -> dict[str, int]:
    """Return what became of the records: refused ones, and kept or dropped ones, are all."""
    read = len(added.keep)
    return {
        "read": read,
        "refused": read - added.new - added.already,
        "already": added.already,
        "new": added.new,
        "replaced": added.replaced,
        "kept": int(added.keep.sum()),
        "dropped": added.removed.num_rows,
        "problems": added.problem_count,
    }


def _report(
    index: Index, added: AddResult, problems: list[str], settings: dict[str, Any], seconds: float
) -> str:
    from neardup.base.progress import peak_memory
    from neardup.run.summary import versions

    costs = {"seconds": seconds, "peak_memory": peak_memory()}
    return json.dumps(
        {
            "summary": {"task": "index add", **_counts(added), **costs},
            "settings": settings,
            "index": dataclasses.asdict(index.stats()),
            "problems": problems,
            "versions": versions(),
        },
        ensure_ascii=False,
        indent=2,
        default=_as_text,
    )


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _summary(index: Index, added: AddResult) -> None:
    stats = index.stats()
    rule = rule_words(stats.measure, stats.threshold, stats.max_distance)
    counts = _counts(added)
    replaced: Message | str = ""
    if added.replaced:
        replaced = Message("{count:,} of them replaced others", count=added.replaced)
    # Already there and new are together as many as kept and dropped.
    rows: list[Row] = [
        (Message("read"), counts["read"], ""),
        (Message("refused"), counts["refused"], ""),
        (Message("already there"), counts["already"], ""),
        (Message("new"), counts["new"], replaced),
        (Message("kept"), counts["kept"], Message("of the records read, new or already there")),
        (Message("dropped"), counts["dropped"], rule),
        (
            Message("in the index"),
            stats.documents,
            Message("{kept:,} of them kept", kept=stats.kept),
        ),
    ]
    print_counts(rows)
