"""``neardup pairs``: every verified pair of a collection."""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from neardup.base.messages import Message
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
from neardup.cli.terminal import end_with_problems
from neardup.cli.watch import Watch, print_summary
from neardup.options import options as o
from neardup.options.groups import PairsFilesParameters

if TYPE_CHECKING:
    from neardup.tasks.pairs import PairsResult


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        declare_file(
            "Records id_a, id_b, similarity, measure, distance; format by extension, "
            "- for standard output.",
            "-o",
            default="-",
        ),
    ],
    against: Annotated[
        list[str] | None,
        o.Option(
            "Another collection: only pairs of a document of INPUT and one of its documents "
            "are searched. Files as INPUT, which may be given several times, or an index.",
            o.MATCHING,
            metavar="INPUT",
        ),
    ],
    tracked: Annotated[
        bool,
        o.Option(
            "Read the files below INPUT that git tracks: texts that are not empty, and data files "
            "with a text field. Ids are FILE, or FILE:RECORD for data files.",
            o.INPUT,
        ),
    ],
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    fail_on_duplicates: FailOnDuplicates,
    quiet: Quiet,
    **options: Unpack[PairsFilesParameters],
) -> None:
    """List all pairs of documents that are verified similar.

    Examples:
        neardup pairs articles.jsonl -o pairs.csv
        neardup pairs articles.jsonl --threshold 0.7 --quiet
        neardup pairs articles.jsonl --against dump/ -o known.csv
    """
    from neardup.cli.tracked import list_tracked, write_tracked
    from neardup.tasks.pairs import pairs_files
    from neardup.writers.output_conflicts import refuse_input_as_output

    options["recipe"] = choose_recipe(
        options["recipe"], strip_markup=strip_markup, bits=bits, settings=settings
    )
    result: PairsResult | None = None
    with Watch(quiet=quiet, has_report=True) as watch:
        options["progress"] = watch
        if not tracked:
            result = pairs_files(inputs, output, against=against or None, **options)
        else:
            paths = list_tracked(inputs)
            # What is compared is a copy of these.
            refuse_input_as_output(paths, [output])
            with NamedTemporaryFile(prefix="neardup-", suffix=".jsonl") as file:
                if write_tracked(paths, file, options, watch):
                    of_copy: Any = dict.fromkeys(("format", "encoding", "text_field", "id_field"))
                    if options.get("title_field"):
                        of_copy["title_field"] = "title"
                    options |= of_copy
                    result = pairs_files([file.name], output, against=against or None, **options)
                else:
                    watch.note(Message("There are no documents to compare."))
    if result is not None and not quiet:
        plan = result.plan
        print_summary(result.summary, plan.measure, plan.threshold, plan.max_distance)
    # Those of the tracked files themselves, and those of what was compared.
    if watch.problems or (result is not None and result.summary.problems):
        end_with_problems()
    if fail_on_duplicates and result is not None and result.summary.pairs:
        raise SystemExit(1)
