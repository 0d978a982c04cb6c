"""``neardup index create`` and ``add``: documents into an index."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.extras import require
from neardup.base.interrupt import CommandInterrupt
from neardup.base.locations import index_files
from neardup.base.messages import N_, Message
from neardup.cli.index import common
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
from neardup.cli.terminal import Row, describe_rule, end_with_problems, print_counts, print_rows
from neardup.cli.watch import Watch
from neardup.exceptions import IndexUnavailableError, InputError
from neardup.options import options as o
from neardup.options.index_groups import AddFilesParameters, IndexParameters

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

    options["recipe"] = choose_recipe(
        options["recipe"] or "general", strip_markup=strip_markup, bits=bits, settings=settings
    )
    options["must_exist"] = False
    with Index(location, **options) as index:
        if not quiet:
            print_rows(common.list_stats(index.stats()), file=sys.stderr)


def add(
    *,
    location: common.Location,
    inputs: Inputs,
    removed: Annotated[
        str | None,
        declare_file(
            "One record for each dropped document of the input: id, kept_id, similarity, "
            "measure, distance."
        ),
    ],
    report: Annotated[
        str | None, declare_file("Write counts, settings, problems and versions as JSON.")
    ],
    fail_on_duplicates: FailOnDuplicates,
    workers: o.Workers,
    quiet: Quiet,
    **options: Unpack[AddFilesParameters],
) -> None:
    """Add documents, decided in their order; make the index if there is none.

    A document is dropped if it is verified similar to an earlier kept one. The
    first documents of an index are read and decided together, as `neardup dedup`
    does. Known documents are passed over, so the same command goes on after an
    interruption.

    Examples:
        neardup index add news.db articles.jsonl --removed removed.jsonl
        neardup index add news.db articles.jsonl --at-field date --within 14d
        neardup index add news.db corrected.jsonl --replace
    """
    require(N_("An index"), "index", "sqlalchemy")
    from neardup.index import Index
    from neardup.index.ingest.reading import add_files

    index: Index | None = None
    with ExitStack() as stack:

        def open_index() -> Index:
            nonlocal index
            if index is None:
                context = common.open_for_command(
                    location, workers=workers, quiet=quiet, may_make=True
                )
                index = stack.enter_context(context)
            return index

        # A mistake in the other parameters must not leave a new, empty index.
        is_new = common.is_missing(location)
        files = index_files(location) if is_new else open_index()._engine.files
        outputs = {"removed": removed, "report": report}
        with Watch(quiet=quiet, has_report=True) as watch:
            options["progress"] = watch
            try:
                added = add_files(
                    files, lambda: open_index()._engine, inputs, outputs, Index.add_files, options
                )
            except KeyboardInterrupt:
                raise CommandInterrupt(_describe_progress(watch.done)) from None
            except (IndexUnavailableError, InputError) as error:
                if index is None or (isinstance(error, InputError) and not watch.done):
                    raise
                so_far = _describe_progress(watch.done)
                if error.code == "index_replaced" and watch.done:
                    so_far = Message.counted(
                        "They include the first record of the input.",
                        "They include the first {count:,} records of the input.",
                        count=watch.done,
                    )
                reason = Message("{error} {so_far}", error=error.message, so_far=so_far)
                raise type(error)(reason) from error
        if not quiet:
            _print_summary(open_index(), added)
    if added.problem_count:
        end_with_problems()
    if fail_on_duplicates and added.removed.num_rows:
        raise SystemExit(1)


def _describe_progress(done: int) -> Message:
    return (
        Message.counted(
            "The first record is stored; the same command continues from there.",
            "The first {count:,} records are stored; the same command continues from there.",
            count=done,
        )
        if done
        else Message("Nothing of the input was stored.")
    )


def _print_summary(index: Index, added: AddResult) -> None:
    from neardup.index.ingest.reading import count_outcomes

    stats = index.stats()
    rule = describe_rule(stats.measure, stats.threshold, stats.max_distance)
    counts = count_outcomes(added)
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
