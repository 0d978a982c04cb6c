"""``neardup compare``: how similar two texts are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options as o

NAME = "compare"
NEEDS_ARGUMENTS = True


def run(
    a: Annotated[str, typer.Argument(metavar="A", help="A text file, or -.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="A text file, or -.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Argument(
            metavar="[OUT]",
            help="Write the similarity there, with two decimals. Replaces a file that exists.",
            show_default=False,
        ),
    ] = None,
    recipe: o.RecipeName = "general",
    strip_markup: o.StripMarkup = False,
    encoding: Annotated[
        str,
        typer.Option("--encoding", help="Encoding of both files.", rich_help_panel="Input"),
    ] = "utf-8",
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
    found = compare(*texts, recipe=o.recipe_of(recipe, strip_markup))
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
        numbers = f"{found.numbers_agree} agree, {found.numbers_differ} differ"
        if found.contradict:
            numbers += ": more than edits explain"
        typer.echo(f"numbers      {numbers}")
        if found.bits is not None:
            bits = "none" if found.distance is None else f"{found.distance} of {found.bits} bits"
            typer.echo(f"distance     {bits}")
        typer.echo(f"verdict      {verdict}")
        typer.echo(f"recipe       {found.recipe_id}")
    if output is not None:
        _write(output, f"{found.similarity:.2f}\n")


def read_text(path: str, encoding: str) -> str:
    """Read one text file, or standard input for ``-``."""
    from neardup.exceptions import InputError, ParameterError

    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError:
        raise ParameterError(f"The encoding '{encoding}' is not known.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not {encoding} at byte {error.start}. Name the encoding, for example "
            "--encoding gb18030."
        ) from None


def _write(path: Path, text: str) -> None:
    from neardup.writers import OutputSet

    with OutputSet() as outputs:
        outputs.open_text(path, force=True).write(text.encode())
