"""``neardup evaluate``: measure methods and thresholds where the truth is known."""

from pathlib import Path
from typing import Annotated, Unpack

from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.cli.options import Inputs, Quiet
from neardup.cli.terminal import end_with_problems, get_language, print_message
from neardup.cli.watch import Watch
from neardup.options import options as o
from neardup.options.groups import EvaluatePairsParameters, PublishedParameters

Folder = Annotated[
    Path | None,
    o.Option(
        "Folder for the report, tables and a figure; created if it is missing. By default "
        "the report is only printed.",
        o.OUTPUT,
        short="-o",
        metavar="FOLDER",
    ),
]


def pairs(
    *,
    inputs: Inputs,
    truth: Annotated[
        Path,
        o.Option(
            "The labelled pairs: .tsv or .csv with the columns id_a, id_b, label. The labels "
            "near-duplicate, duplicate, 1, true, yes mean duplicate; all others do not. With a "
            "column group, such as the source, left-out groups judge the best setting.",
            o.INPUT,
            metavar="FILE",
        ),
    ],
    output: Folder,
    recipes: Annotated[
        str | None,
        o.Option(
            "Recipes to compare: names from `neardup recipes` or .toml files, with commas "
            "between them. By default all that read plain text.",
            o.TEXT,
            metavar="NAME,...",
        ),
    ],
    quiet: Quiet,
    **options: Unpack[EvaluatePairsParameters],
) -> None:
    """Find the setting that fits your labelled pairs, and check the default.

    INPUT is the whole collection that the labelled pairs are from. Every recipe
    is tried at every bound. The best setting is judged on pairs that did not
    choose it. So its F1 is comparable with the F1 of the default. The verdict
    and mistakes go to standard output; the report and its tables go to the folder.

    Examples:
        neardup evaluate pairs articles.jsonl --truth labels.tsv
        neardup evaluate pairs articles.jsonl --truth labels.tsv -o results/
    """
    from neardup.lab import evaluate_pairs
    from neardup.lab.experiments.labelled_pairs.report import list_parts
    from neardup.lab.report import format_plain

    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        result = evaluate_pairs(inputs, truth, output, recipes=_split_names(recipes), **options)
    _print_result(format_plain(list_parts(result), get_language()), output, quiet=quiet)
    if result.problems:
        end_with_problems()


def published(
    *,
    data: Annotated[
        Path,
        o.Argument(
            "Folder of topic files such as finance.jsonl, each also .gz, .zst, .xz or "
            ".bz2; the documents of distractors.jsonl belong to no topic.",
            metavar="DATA",
        ),
    ],
    output: Folder,
    recipes: Annotated[
        str | None,
        o.Option(
            "Recipes to measure with the paper's methods and MinHash, each at its own cut-off: "
            "names from `neardup recipes` or .toml files, with commas between them. By "
            "default general.",
            o.TEXT,
            metavar="NAME,...",
        ),
    ],
    sizes: Annotated[
        str | None,
        o.Option(
            "Numbers of documents to measure, with commas between them. By default 1000, 2500 "
            "and 5000; all documents are measured in any case.",
            metavar="NUMBER,...",
        ),
    ],
    quiet: Quiet,
    **options: Unpack[PublishedParameters],
) -> None:
    """Repeat the published comparison of methods on texts of your own.

    Half of each topic's documents are copied, and every method must find the copies:
    MinHash and the paper's methods at their usual cut-offs, and recipes at
    their own. Documents are counted by topic, as in the paper, and pairs. The report
    goes to standard output; to the folder also all counts and the figure of times.

    Examples:
        neardup evaluate published topics/ -o results/
        neardup evaluate published topics/ --copies edits --recipes classic,general
    """
    from neardup.lab import published as run
    from neardup.lab.experiments.zhang_he_2020.report import list_parts
    from neardup.lab.report import format_plain

    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        numbers = _parse_numbers(sizes, "sizes")
        result = run(data, output, recipes=_split_names(recipes), sizes=numbers, **options)
    _print_result(format_plain(list_parts(result)), output, quiet=quiet)
    if watch.problems:
        end_with_problems()


def _split_names(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _parse_numbers(values: str | None, name: str) -> list[int] | None:
    listed = _split_names(values)
    if listed is None:
        return None
    try:
        return [int(value) for value in listed]
    except ValueError:
        raise bad(name, "whole numbers separated by commas", values) from None


def _print_result(table: str, output: Path | None, *, quiet: bool) -> None:
    """Print a result and the place of its report; a quiet command prints only unwritten results."""
    if output is None or not quiet:
        print(table)
    if output is not None and not quiet:
        print_message(Message("the report is {file}", file=str(output / "report.md")))
