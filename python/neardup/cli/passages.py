"""Passages on a terminal: one text above the other, what differs in colour."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from neardup.papers.align import SharedPassage

__all__ = ["print_passages"]

#: Code points of a passage that are shown of each text.
_SHOWN = 400


def print_passages(a: str, b: str, passages: Sequence[SharedPassage]) -> None:
    """Print the passages that two texts have in common."""
    is_terminal = sys.stdout.isatty()
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
        blocks = SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
        ours = [(kind == "equal", here[begin:end]) for kind, begin, end, _, _ in blocks]
        theirs = [(kind == "equal", there[begin:end]) for kind, _, _, begin, end in blocks]
        for name, parts, length in (
            ("A", ours, one.end - one.begin),
            ("B", theirs, one.source_end - one.source_begin),
        ):
            more = "…" if length > _SHOWN else ""
            typer.echo(f"  {name}  {''.join(_shown(parts, is_terminal))}{more}")


def _shown(parts: Sequence[tuple[bool, str]], is_terminal: bool) -> Iterator[str]:
    for is_equal, text in parts:
        # Line breaks and control characters of a text have no place here.
        plain = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)
        if is_terminal and plain:
            plain = typer.style(plain, fg="green" if is_equal else "red", underline=not is_equal)
        yield plain
