"""``neardup idf``: count and save document frequencies."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.base.messages import Message
from neardup.cli.options import Inputs, Quiet, Settings, StripMarkup, choose_recipe, declare_file
from neardup.cli.terminal import end_with_problems, print_line
from neardup.cli.watch import Watch
from neardup.options import options as o
from neardup.options.groups import IdfParameters
from neardup.options.reader_parameters import reader_parameters


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        declare_file(
            "File for the table; compressed if the name ends in .gz, .zst, .xz or .bz2.", "-o"
        ),
    ],
    format: o.Format,
    encoding: o.Encoding,
    force: o.Force,
    strip_markup: StripMarkup,
    settings: Settings,
    quiet: Quiet,
    **options: Unpack[IdfParameters],
) -> None:
    """Count how many documents contain each word, for recipes with `idf = "FILE"`.

    Examples:
        neardup idf articles.jsonl -o words.idf
        neardup idf articles.jsonl -o words.idf.gz --recipe keywords
    """
    from neardup.readers import open_sources
    from neardup.tasks.idf import count_idf
    from neardup.writers import OutputSet

    recipe = options["recipe"] = choose_recipe(
        options["recipe"], strip_markup=strip_markup, settings=settings
    )
    read, texts = [*inputs, *recipe.files], {"output": output}
    with Watch(quiet=quiet) as watch, OutputSet(read, texts=texts, force=force) as outputs:
        sources = open_sources(
            inputs, format=format, encoding=encoding, **reader_parameters(options)
        )
        options["progress"] = watch
        table = count_idf(sources, **options)
        sources.report_to(watch)
        outputs.files["output"].write(table.to_bytes())
    if not quiet:
        counts = Message.counted(
            "{count:,} document, {words:,} words",
            "{count:,} documents, {words:,} words",
            count=table.documents,
            words=len(table.counts),
        )
        print_line(counts)
    if watch.problems:
        end_with_problems()
