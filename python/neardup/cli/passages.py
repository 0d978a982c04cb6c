"""Passages and differences on a terminal: what differs is in colour."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.cli.terminal import NONE, WIDTH, print_rows, translate
from neardup.papers.alignment import count_equated_words

if TYPE_CHECKING:
    from neardup.papers.alignment import Difference, SharedPassage

#: Code points that are shown of each text of a passage, and of a difference.
_SHOWN, _SHOWN_OF_DIFFERENCE = 400, 60
#: Words in other letters that are shown.
_EQUATED = 8


def print_passages(passages: Sequence[SharedPassage], differences: Sequence[Difference]) -> None:
    """Print the passages that two texts have in common, and where the texts differ."""
    is_terminal = sys.stdout.isatty()
    edits = [place for place in differences if not place.moved]
    in_a = [(place.begin, place.end) for place in edits]
    in_b = sorted((place.source_begin, place.source_end) for place in edits)
    print_rows([(Message("passages"), _count(passages))], width=WIDTH)
    for number, passage in enumerate(passages, 1):
        spans = _format_spans(passage)
        head = translate(
            Message(
                "{number}  {spans}  similarity {similarity:.2f}",
                number=number,
                spans=spans,
                similarity=passage.similarity,
            )
        )
        print()
        print(f"\x1b[1m{head}\x1b[0m" if is_terminal else head)
        for name, text, begin, places in (
            ("A", passage.text, passage.begin, in_a),
            ("B", passage.source_text, passage.source_begin, in_b),
        ):
            more = "…" if len(text) > _SHOWN else ""
            shown = "".join(_highlight(text[:_SHOWN], begin, places, is_terminal))
            print(f"  {name}  {shown}{more}")
    print()
    print_rows([(Message("differences"), _count(differences))], width=WIDTH)
    width = max((len(_format_spans(place)) for place in differences), default=0)
    for place in differences:
        print(f"  {_format_spans(place):<{width}}  {_describe(place)}")
    if words := count_equated_words(passages):
        print_rows([(Message("counted as equal"), _list_equated(words))], width=WIDTH)


def _list_equated(words: Mapping[tuple[str, str], int]) -> Message | str:
    shown = ", ".join(f"{word} = {other}" for word, other in list(words)[:_EQUATED])
    if len(words) <= _EQUATED:
        return shown
    return Message("{words}, and {count:,} more", words=shown, count=len(words) - _EQUATED)


def _count(items: Sequence[object]) -> str:
    return str(len(items)) if items else NONE


def _format_spans(place: SharedPassage | Difference) -> str:
    return f"A {place.begin}-{place.end}  B {place.source_begin}-{place.source_end}"


def _describe(place: Difference) -> str:
    words, source_words = (
        _clean(text if len(text) <= _SHOWN_OF_DIFFERENCE else f"{text[:_SHOWN_OF_DIFFERENCE]}…")
        for text in (place.text, place.source_text)
    )
    if place.moved:
        return translate(Message("moved: {words}", words=words))
    if not source_words:
        return translate(Message("only in A: {words}", words=words))
    if words:
        return f"{words} -> {source_words}"
    return translate(Message("only in B: {words}", words=source_words))


def _highlight(
    text: str, begin: int, edits: Sequence[tuple[int, int]], is_terminal: bool
) -> Iterator[str]:
    inside = [
        (max(first - begin, 0), min(last - begin, len(text)))
        for first, last in edits
        if first < begin + len(text) and begin < last
    ]
    ends = [0, *(place for span in inside for place in span), len(text)]
    for number, (first, last) in enumerate(pairwise(ends)):
        plain = _clean(text[first:last])
        if is_terminal and plain:
            is_edit = number % 2 == 1
            plain = f"\x1b[{'31;4' if is_edit else 32}m{plain}\x1b[0m"
        yield plain


def _clean(text: str) -> str:
    """Return a text without line breaks and control characters, which have no place here."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)
