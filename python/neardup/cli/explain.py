"""``neardup explain``: what a recipe makes of a text, and why two are duplicates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.messages import Message
from neardup.base.reprs import one_line
from neardup.cli.options import Encoding
from neardup.options import options as o
from neardup.options.groups import ExplainParameters

if TYPE_CHECKING:
    from neardup.explain import ExplainedText, Explanation

_TEXT = "A text file (.txt .md .html .docx .pdf), - for standard input, or the text itself."
_SHOWN = 20


def run(
    *,
    a: Annotated[str, o.Argument(_TEXT, metavar="TEXT")],
    b: Annotated[
        str | None, o.Argument("A second text, to compare with the first.", metavar="[OTHER]")
    ],
    encoding: Encoding,
    all: Annotated[bool, o.Option("Print every feature, not only the heaviest.", o.OUTPUT)],
    json: Annotated[bool, o.Option("Print as JSON.", o.OUTPUT)],
    **options: Unpack[ExplainParameters],
) -> None:
    """Print the words, weights, votes and bits that a recipe makes of a text.

    Examples:
        neardup explain article.txt --recipe improved
        neardup explain '渡轮/n 停靠/v 码头/n 渡轮/n' --recipe bkdr --all
        neardup explain old.txt new.txt --recipe news --json
    """
    from neardup.exceptions import ParameterError
    from neardup.explain import explain

    if a == b == "-":
        raise ParameterError(Message("Only one of the two texts can come from standard input."))
    texts = [_text(text, encoding) for text in (a, b) if text is not None]
    found = explain(*texts, **options)
    if json:
        from json import dumps

        print(dumps(found.to_dict(), ensure_ascii=False))
        return
    _print(found, None if all else _SHOWN)


def _text(value: str, encoding: str | None) -> str:
    from neardup.cli.compare import read_text
    from neardup.exceptions import InputError
    from neardup.readers.batch import show
    from neardup.readers.formats import extension_of

    if value == "-" or os.path.lexists(value):
        text = read_text(value, encoding)
    elif extension_of(value) and " " not in value:
        raise InputError(
            Message(
                "{file}: no such file. Name a text file, or give the text itself in quotes.",
                file=show(value),
            )
        )
    else:
        text = value
    if not text.strip():
        name = "standard input" if value == "-" else show(value) if value.strip() else "''"
        raise InputError(
            Message(
                "{text}: must contain text to explain. Got nothing, or only white space.", text=name
            )
        )
    return text


def _print(found: Explanation, most: int | None) -> None:
    print(f"recipe       {found.recipe_id}")
    if found.b is not None:
        print(f"verdict      {found.verdict}")
    for name, text in (("A", found.a), ("B", found.b)):
        if text is not None:
            if found.b is not None:
                print(f"\n{name}")
            _print_text(text, most)
    if found.b is not None:
        _print_differences(found, most)


def _print_text(text: ExplainedText, most: int | None) -> None:
    if text.words:
        words = [one_line(f"{word}/{tag}" if tag else word) for word, tag in text.words]
        shown = words if most is None else words[: 5 * most]
        more = "" if len(shown) == len(words) else f" ... ({len(words):,} in all)"
        print(f"words        {' '.join(shown)}{more}")
    print(f"features     {len(text.features):,}")
    if text.fingerprint is None:
        if text.values:
            kept = " ".join(map(str, text.values[:most]))
            print(f"sketch       {len(text.values):,} values: {kept}")
        return
    bits = text.fingerprint.bits
    weighed = list(text.features[:most])
    rows = []
    columns = ["word", "tag", "count", "tf"]
    if weighed and weighed[0].idf is not None:
        columns.append("idf")
    if weighed and weighed[0].mark is not None:
        columns += ["pos", "len", "mark", "title"]
    columns += ["score", "weight", "hash"]
    for one in weighed:
        row = [one_line(one.word), one_line(one.tag), str(one.occurrences), f"{one.tf:.4f}"]
        if one.idf is not None:
            row.append(f"{one.idf:.4f}")
        if one.mark is not None:
            row += [str(one.part_of_speech), f"{one.length:.2f}", str(one.mark), str(one.title)]
        row += [f"{one.score:.4f}", f"{one.weight:,}", f"{one.hash:0{-(-bits // 4)}x}"]
        rows.append(row)
    _table(columns, rows)
    if most is not None and len(text.features) > most:
        print(f"... and {len(text.features) - most:,} lighter ones: --all")
    print(f"sums         {' '.join(map(str, text.sums))}  (bit 0 first)")
    print(f"fingerprint  {text.fingerprint}")
    if bits <= 64:
        print(f"unsigned     {text.fingerprint.written('unsigned')}")
        print(f"signed       {text.fingerprint.written('signed')}")
    digits = str(text.fingerprint.written("bits"))
    print(f"bits         {digits}  (highest first)")
    print(f"             {digits[::-1]}  (lowest first)")
    blocks = " ".join(map(str, text.fingerprint.blocks(text.max_distance)))
    print(f"blocks       {blocks}  (distance {text.max_distance}, lowest bits first)")


def _print_differences(found: Explanation, most: int | None) -> None:
    shared = " ".join(map(one_line, found.shared[:most]))
    print(f"\nshared       {len(found.shared):,} features: {shared}")
    if not found.differing:
        return
    print("differing bits, and the features that decided them")
    rows = [
        [
            str(one.bit),
            f"{one.sum_a:,}",
            f"{one.sum_b:,}",
            "  ".join(f"{one_line(word)} {change:+,}" for word, change in one.decisive),
        ]
        for one in found.differing[:most]
    ]
    _table(["bit", "sum in A", "sum in B", "decided by (change of the sum)"], rows)
    if most is not None and len(found.differing) > most:
        print(f"... and {len(found.differing) - most:,} more: --all")


def _table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table whose columns fit Chinese characters too; words and the last column left."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        cells = []
        for name, width, cell in zip(columns, widths, row, strict=True):
            space = " " * (width - cell_len(cell))
            cells.append(cell + space if name in ("word", "tag", columns[-1]) else space + cell)
        print("  ".join(cells).rstrip())
