"""``neardup idf``: count and save document frequencies."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems
from neardup.cli.terminal import say, tell_line
from neardup.options.groups import IdfParameters

NAME = "idf"
NEEDS_ARGUMENTS = True
EXAMPLES = (
    "neardup idf articles.jsonl -o words.idf",
    "neardup idf articles.jsonl -o words.idf.gz --recipe keywords",
)


def run(
    *,
    inputs: o.Inputs,
    output: Annotated[
        str,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the table; compressed if the name ends in .gz or .zst.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    format: o.Format,
    force: o.Force,
    strip_markup: o.StripMarkup = False,
    quiet: o.Quiet = False,
    **options: Unpack[IdfParameters],
) -> None:
    """Count how many documents contain each word, for recipes with `idf = "FILE"`."""
    from neardup.cli.watch import Watch
    from neardup.idf import count_idf
    from neardup.readers import open_sources
    from neardup.writers import OutputSet

    with Watch(quiet=quiet) as watch, OutputSet() as outputs:
        file = outputs.open_text(output, force=force)
        sources = open_sources(
            inputs,
            format=format,
            text_field=options["text_field"],
            max_text=options["max_text"],
            output_paths=[output],
        )
        options["recipe"] = o.recipe_of(options["recipe"], strip_markup)
        options["progress"] = watch
        table = count_idf(sources, **options)
        sources.report_to(watch)
        file.write(table.to_bytes())
    if not quiet:
        said = Message("cli.counted_words", count=table.documents, words=len(table.counts))
        tell_line(say(said))
    if watch.problems:
        end_with_problems()
