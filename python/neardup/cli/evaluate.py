"""``neardup evaluate``: measure methods and thresholds where the truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.base.messages import Language, Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems, typer_command
from neardup.cli.terminal import tell
from neardup.cli.usage import Command, Group, epilog_of

NAME = "evaluate"

app = typer.Typer(
    name=NAME,
    cls=Group,
    help="Measure methods and thresholds where the truth is known.",
    no_args_is_help=True,
)

Folder = Annotated[
    Path | None,
    flags.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Folder for the report, tables and figures; created if it is missing. By default "
        "only the table is printed.",
        rich_help_panel="Output",
        show_default=False,
    ),
]


def pairs(
    *,
    inputs: o.Inputs,
    truth: Annotated[
        Path,
        flags.Option(
            "--truth",
            metavar="FILE",
            help="The labelled pairs: .tsv or .csv with the columns id_a, id_b, label. The labels "
            "near-duplicate, duplicate, 1, true, yes mean duplicate; all others do not. With "
            "a column group, such as the source, whole groups are left out to judge the best "
            "setting.",
            rich_help_panel="Input",
            show_default=False,
        ),
    ],
    output: Folder = None,
    text_field: o.TextField,
    id_field: o.IdField,
    title_field: o.TitleField,
    format: o.Format,
    recipes: Annotated[
        str | None,
        flags.Option(
            "--recipes",
            metavar="NAME,...",
            help="Recipes to compare: names from `neardup recipes` or .toml files, with commas "
            "between them. By default all that read plain text.",
            rich_help_panel="Text",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int,
        flags.Option(
            "--seed", help="Seed of the resamples of the intervals.", rich_help_panel="Run"
        ),
    ] = 0,
    json: Annotated[
        bool,
        flags.Option(
            "--json",
            help="Print everything as JSON: the verdict, settings, measures, and each pair with "
            "its evidence.",
            rich_help_panel="Output",
        ),
    ] = False,
    language: Annotated[
        Language,
        flags.Option(
            "--language", help="Language of errors.html: zh or en.", rich_help_panel="Output"
        ),
    ] = "zh",
    force: o.Force,
    workers: o.Workers,
    quiet: o.Quiet = False,
) -> None:
    """Find the setting that fits your labelled pairs, and check the default.

    INPUT is the whole collection that the labelled pairs are from. Every recipe
    is tried at every bound. The best setting is judged on pairs that did not
    choose it, so its F1 can be compared with that of the default. The verdict
    goes to standard output; the folder gets the report, and errors.html with the
    worst errors side by side.
    """
    from neardup.cli.watch import Watch
    from neardup.lab import evaluate_pairs
    from neardup.lab.experiments.labelled_pairs.report import as_json, terminal

    with Watch(quiet=quiet) as watch:
        result = evaluate_pairs(
            inputs,
            truth,
            output,
            format=format,
            text_field=text_field,
            id_field=id_field,
            title_field=title_field,
            recipes=_listed(recipes),
            seed=seed,
            language=language,
            workers=workers,
            force=force,
            progress=watch,
        )
    if json:
        typer.echo(as_json(result), nl=False)
    elif not quiet:
        typer.echo(terminal(result))
        _say_where(output)
        if output is not None:
            tell(Message("cli.errors_are", file=str(output / "errors.html")))
    if result.problems:
        end_with_problems()


def published(
    *,
    data: Annotated[
        Path,
        flags.Argument(
            metavar="DATA",
            help="Folder of topic files such as finance.jsonl, each also .gz or .zst; the "
            "documents of distractors.jsonl belong to no topic.",
            show_default=False,
        ),
    ],
    output: Folder = None,
    copies: Annotated[
        str,
        flags.Option(
            "--copies",
            help="How copies are made: reposts adds a line at the head, the tail or both; edits "
            "changes characters, words and sentences.",
            rich_help_panel="Input",
        ),
    ] = "reposts",
    methods: Annotated[
        str | None,
        flags.Option(
            "--methods",
            metavar="NAME,...",
            help="Methods to compare at their best cut-offs, with commas between them. By default "
            "all. The paper's own methods are measured in any case.",
            rich_help_panel="Text",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        flags.Option(
            "--rate",
            help="With --copies edits: share of each copy's characters that edits touch, from 0 "
            "to 0.5. By default drawn for each copy from 0.02 to 0.10.",
            rich_help_panel="Input",
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        flags.Option(
            "--sizes",
            metavar="NUMBER,...",
            help="Numbers of documents to time, with commas between them. By default 1000, 2500 "
            "and 5000; all documents are timed in any case.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int,
        flags.Option("--seed", help="Seed of halves, order and copies.", rich_help_panel="Run"),
    ] = 0,
    force: o.Force,
    workers: o.Workers,
    quiet: o.Quiet = False,
) -> None:
    """Repeat the published comparison of methods on texts of your own.

    Copies are made of half of each topic's documents, and every method has to
    find them: first the paper's methods at distance 3, with documents counted by
    topic; then all methods at their own and best cut-offs, with pairs counted.
    The tables go to standard output, the report with its figures to the folder.
    """
    from neardup.cli.watch import Watch
    from neardup.lab import published as run
    from neardup.lab.experiments.zhang_he_2020.report import terminal

    with Watch(quiet=quiet) as watch:
        result = run(
            data,
            output,
            copies=copies,
            seed=seed,
            rate=rate,
            methods=_listed(methods),
            sizes=_numbers(sizes, "sizes"),
            workers=workers,
            force=force,
            progress=watch,
        )
    if not quiet:
        typer.echo(terminal(result))
        _say_where(output)
    if watch.problems:
        end_with_problems()


for _command, _examples in (
    (
        pairs,
        (
            "neardup evaluate pairs articles.jsonl --truth labels.tsv",
            "neardup evaluate pairs articles.jsonl --truth labels.tsv -o results/ --language en",
        ),
    ),
    (
        published,
        (
            "neardup evaluate published topics/ -o results/",
            "neardup evaluate published topics/ --copies edits --methods classic,general",
        ),
    ),
):
    app.command(
        name=_command.__name__, cls=Command, no_args_is_help=True, epilog=epilog_of(_examples)
    )(typer_command(_command))


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _numbers(values: str | None, name: str) -> list[int] | None:
    from neardup.base.validation import bad

    listed = _listed(values)
    if listed is None:
        return None
    try:
        return [int(value) for value in listed]
    except ValueError:
        raise bad(name, "cli.numbers_with_commas", values) from None


def _say_where(output: Path | None) -> None:
    if output is not None:
        tell(Message("cli.report_is", file=str(output / "report.md")))
