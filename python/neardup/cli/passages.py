"""Passages on a terminal: one text above the other, what differs in colour."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from neardup.papers.align import SharedPassage

__all__ = ["print_passages"]

#: Code points of a passage that are shown of each text.
_SHOWN = 400


def print_passages(a: str, b: str, passages: Sequence[SharedPassage]) -> None:
    """Print the passages that two texts have in common."""
    from neardup.papers.align import aligner
    from neardup.papers.edits import edited, folding

    is_terminal = sys.stdout.isatty()
    fold = folding(variants=aligner()[1] is not None)
    count = len(passages)
    typer.echo(f"passages     {count or 'none'}")
    for number, one in enumerate(passages, 1):
        here = a[one.begin : one.end][:_SHOWN]
        there = b[one.source_begin : one.source_end][:_SHOWN]
        head = (
            f"{number}  A {one.begin}-{one.end}  B {one.source_begin}-{one.source_end}"
            f"  similarity {one.similarity:.2f}"
        )
        typer.echo()
        typer.echo(typer.style(head, bold=True) if is_terminal else head)
        in_a, in_b = edited(here, there, fold)
        for name, text, spans, length in (
            ("A", here, in_a, one.end - one.begin),
            ("B", there, in_b, one.source_end - one.source_begin),
        ):
            more = "…" if length > _SHOWN else ""
            typer.echo(f"  {name}  {''.join(_shown(text, spans, is_terminal))}{more}")


def _shown(text: str, edits: Sequence[tuple[int, int]], is_terminal: bool) -> Iterator[str]:
    ends = [0, *(place for span in edits for place in span), len(text)]
    for at, (begin, end) in enumerate(pairwise(ends)):
        # Line breaks and control characters of a text have no place here.
        plain = "".join(
            c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text[begin:end]
        )
        if is_terminal and plain:
            is_edit = at % 2 == 1
            plain = typer.style(plain, fg="red" if is_edit else "green", underline=is_edit)
        yield plain
