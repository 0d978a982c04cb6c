"""``neardup compare``: how similar two texts are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options as o

NAME = "compare"
NEEDS_ARGUMENTS = True
_FILE = "A file of text (.txt .md .html .docx .pdf), or -."


def run(
    a: Annotated[str, typer.Argument(metavar="A", help=_FILE, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help=_FILE, show_default=False)],
    output: Annotated[
        Path | None,
        typer.Argument(
            metavar="[OUT]",
            help="Write the edit similarity there, with two decimals; if a recipe is named, "
            "the similarity by its measure. Replaces a file that exists.",
            show_default=False,
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            help="How a text becomes a sketch, and what a duplicate is: a name from "
            "`neardup recipes`, or a .toml file. By default general.",
            rich_help_panel="Normalize to sketch",
            show_default=False,
        ),
    ] = None,
    strip_markup: o.StripMarkup = False,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            help="Encoding of both files, which are plain text then. By default detected.",
            rich_help_panel="Input",
            show_default=False,
        ),
    ] = None,
    passages: Annotated[
        bool,
        typer.Option(
            "--passages",
            "-p",
            help="Show the passages of A that stand in B.",
            rich_help_panel="Output",
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print all measures as JSON.", rich_help_panel="Output"),
    ] = False,
) -> None:
    """Print the similarity of two texts."""
    from neardup import compare
    from neardup.exceptions import ParameterError

    if a == b == "-":
        raise ParameterError("Standard input can be one of the two texts, not both.")
    if output is not None and output.exists():
        for path in (a, b):
            if path != "-" and Path(path).exists() and output.samefile(path):
                raise ParameterError(f"The output {output} is also an input. Name another file.")
    texts = read_text(a, encoding), read_text(b, encoding)
    chosen = o.recipe_of(recipe or "general", strip_markup)
    found = compare(*texts, recipe=chosen, passages=passages)
    if json:
        import dataclasses
        from json import dumps

        typer.echo(dumps(dataclasses.asdict(found), ensure_ascii=False))
    else:
        verdict = "duplicates" if found.duplicate else "no duplicates"
        typer.echo(f"similarity   {found.similarity:.4f}  by {found.measure}")
        typer.echo(f"resemblance  {found.resemblance:.4f}  of {found.shingle}-character shingles")
        both = f"{found.containment_a:.4f}  of A in B, {found.containment_b:.4f} of B in A"
        typer.echo(f"containment  {both}")
        typer.echo(f"edits        {found.edit_similarity:.4f}  1 - edits / length of the longer")
        numbers = f"{found.numbers_agree} agree, {found.numbers_differ} differ"
        if found.contradict:
            numbers += ": more than edits explain"
        typer.echo(f"numbers      {numbers}")
        if found.bits is not None:
            bits = "none" if found.distance is None else f"{found.distance} of {found.bits} bits"
            typer.echo(f"distance     {bits}")
        typer.echo(f"verdict      {verdict}")
        typer.echo(f"recipe       {found.recipe_id}")
        if found.passages is not None:
            from neardup.cli.passages import print_passages

            print_passages(*texts, found.passages)
    if output is not None:
        answer = found.edit_similarity if recipe is None else found.similarity
        _write(output, f"{answer:.2f}\n")


def read_text(path: str, encoding: str | None) -> str:
    """Read a file of text, or standard input for ``-``.

    With an encoding its bytes are decoded as they stand. Without one format
    and encoding are detected; what is worth telling goes to standard error.
    """
    from neardup.exceptions import InputError, ParameterError

    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    if encoding is None:
        return _detected(path, data)
    try:
        return data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError:
        raise ParameterError(f"The encoding '{encoding}' is not known.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not {encoding} at byte {error.start}. Name the encoding, for example "
            "--encoding gb18030."
        ) from None


def _detected(path: str, data: bytes) -> str:
    from neardup.readers import read_record
    from neardup.readers.remarks import Remarks

    # As a record of `dedup` is read, so that both say the same of two texts.
    found = read_record(data, path)
    remarks = Remarks()
    remarks.add(path, found.notes)
    for line in remarks.lines():
        typer.echo(f"neardup: {line}", err=True)
    return found.text


def _write(path: Path, text: str) -> None:
    from neardup.writers import OutputSet

    with OutputSet() as outputs:
        outputs.open_text(path, force=True).write(text.encode())
