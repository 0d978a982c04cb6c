"""``neardup explain``: what a recipe makes of a text, and why two are duplicates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.display import one_line
from neardup.base.messages import Message
from neardup.cli.compare import read_texts
from neardup.cli.options import Bits, Settings, choose_recipe
from neardup.cli.terminal import WIDTH, print_rows, print_table, translate
from neardup.exceptions import InputError, ParameterError
from neardup.options import options as o
from neardup.options.groups import ExplainParameters
from neardup.readers.batch import show
from neardup.readers.formats import find_extension
from neardup.recipe import Recipe
from neardup.recipe.stages import BUNDLED, CORPUS
from neardup.recipe.text_inputs import check_tagged

if TYPE_CHECKING:
    from neardup.tasks.explain import ExplainedText, Explanation
    from neardup.tasks.fingerprints import Fingerprint

_TEXT = "A text file (.txt .md .html .docx .pdf); - for standard input; or the text itself."
_SHOWN = 20


def run(
    *,
    a: Annotated[str, o.Argument(_TEXT, metavar="TEXT")],
    b: Annotated[
        str | None, o.Argument("A second text, to compare with the first.", metavar="[OTHER]")
    ],
    encoding: o.Encoding,
    bits: Bits,
    settings: Settings,
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
    from neardup.tasks.explain import explain

    if a == b == "-":
        raise ParameterError(Message("Only one of the two texts can come from standard input."))
    options["recipe"] = recipe = choose_recipe(options["recipe"], bits=bits, settings=settings)
    texts = [_read_text(text, encoding, recipe) for text in (a, b) if text is not None]
    explanation = explain(*texts, **options)
    if json:
        from json import dumps

        print(dumps(explanation.to_dict(), ensure_ascii=False))
        return
    _print(explanation, recipe, None if all else _SHOWN)


def _read_text(value: str, encoding: str | None, recipe: Recipe) -> str:
    if value == "-" or os.path.lexists(value):
        text = read_texts([value], encoding)[0]
    elif find_extension(value) and " " not in value:
        raise InputError(
            Message(
                "{file}: no such file. Name a text file, or give the text itself in quotes.",
                file=show(value),
            )
        )
    else:
        text = value
    name = "standard input" if value == "-" else show(value) if value.strip() else "''"
    if not text.strip():
        raise InputError(
            Message(
                "{text}: must contain text to explain. Got nothing, or only white space.", text=name
            )
        )
    check_tagged(text, recipe, name)
    return text


def _print(explanation: Explanation, recipe: Recipe, limit: int | None) -> None:
    _print_row(Message("recipe"), explanation.recipe_id)
    if explanation.frequencies is not None:
        _print_row("idf", _describe_frequencies(explanation.frequencies, recipe))
    if explanation.b is not None:
        _print_row(Message("verdict"), explanation.verdict)
    for name, text in (("A", explanation.a), ("B", explanation.b)):
        if text is not None:
            if explanation.b is not None:
                print(f"\n{name}")
            _print_text(text, limit)
            if text.fingerprint is not None and recipe.sketch.hash == "news":
                _print_row(
                    Message("source keys"), _format_source_keys(text.fingerprint, text.max_distance)
                )
    if explanation.b is not None:
        _print_differences(explanation, limit)


def _format_source_keys(fingerprint: Fingerprint, distance: int) -> Message:
    """Return the block keys of the news program."""
    if keys := fingerprint.source_blocks(distance):
        return Message("{blocks}  (as the program cuts)", blocks=" ".join(map(str, keys)))
    return Message(
        "none: the fingerprint has {digits} digits, and the program cuts blocks of {width}",
        digits=fingerprint.value.bit_length(),
        width=fingerprint.bits // (distance + 1),
    )


def _describe_frequencies(name: str, recipe: Recipe) -> str:
    """Return where the document frequencies are from."""
    if name != BUNDLED:
        return name
    if recipe.weigh.idf == CORPUS:
        return Message("bundled table; in a collection, counted there")
    return Message("bundled table")


def _print_row(label: str, value: str | None) -> None:
    print_rows([(label, value)], width=WIDTH)


def _format_word(word: str) -> str:
    """Return a word on one line, and one of blanks in quotes."""
    return one_line(word) if word.strip() else ascii(word)


def _print_text(text: ExplainedText, limit: int | None) -> None:
    if text.words:
        words = [
            one_line(f"{_format_word(word)}/{tag}" if tag else _format_word(word))
            for word, tag in text.words
        ]
        shown = " ".join(words if limit is None else words[: 5 * limit])
        if limit is not None and len(words) > 5 * limit:
            shown = Message("{words} ... ({count:,} in all)", words=shown, count=len(words))
        _print_row(Message("words"), shown)
    _print_row(Message("features"), f"{len(text.features):,}")
    if text.fingerprint is None:
        if text.values:
            kept = " ".join(map(str, text.values[:limit]))
            values = Message("{count:,} values: {values}", count=len(text.values), values=kept)
            _print_row(Message("sketch"), values)
        return
    _print_weights(text, limit, digits=-(-text.fingerprint.bits // 4))
    sums = " ".join(map(str, reversed(text.sums)))
    _print_row(Message("sums"), Message("{sums}  (highest first)", sums=sums))
    _print_row(Message("fingerprint"), str(text.fingerprint))
    if text.fingerprint.bits <= 64:
        _print_row(Message("unsigned"), str(text.fingerprint.written("unsigned")))
        _print_row(Message("signed"), str(text.fingerprint.written("signed")))
    digits = str(text.fingerprint.written("bits"))
    _print_row(Message("bits"), Message("{digits}  (highest first)", digits=digits))
    _print_row("", Message("{digits}  (lowest first)", digits=digits[::-1]))
    blocks = Message(
        "{blocks}  (distance {distance}, lowest bits first)",
        blocks=" ".join(map(str, text.fingerprint.blocks(text.max_distance))),
        distance=text.max_distance,
    )
    _print_row(Message("blocks"), blocks)


def _print_weights(text: ExplainedText, limit: int | None, digits: int) -> None:
    """Print the features behind a fingerprint, the heaviest first. A hash has `digits` digits."""
    weighed = list(text.features[:limit])
    rows = []
    columns = [Message("word"), Message("tag"), Message("count"), "tf"]
    if weighed and weighed[0].idf is not None:
        columns.append("idf")
    if weighed and weighed[0].mark is not None:
        columns += [Message("pos"), Message("len"), Message("mark"), Message("title")]
    columns += [Message("score"), Message("weight"), Message("hash")]
    for feature in weighed:
        row = [
            _format_word(feature.word),
            one_line(feature.tag),
            str(feature.occurrences),
            f"{feature.tf:.4f}",
        ]
        if feature.idf is not None:
            row.append(f"{feature.idf:.4f}")
        if feature.mark is not None:
            row += [
                str(feature.part_of_speech),
                f"{feature.length:.2f}",
                str(feature.mark),
                str(feature.title),
            ]
        row += [f"{feature.score:.4f}", f"{feature.weight:,}", f"{feature.hash:0{digits}x}"]
        rows.append(row)
    print_table(columns, rows, left=(0, 1, len(columns) - 1))
    if limit is not None and len(text.features) > limit:
        print(
            translate(
                Message("... and {count:,} lighter ones: --all", count=len(text.features) - limit)
            )
        )


def _print_differences(explanation: Explanation, limit: int | None) -> None:
    shared = " ".join(map(_format_word, explanation.shared[:limit]))
    features = Message("{count:,} features: {words}", count=len(explanation.shared), words=shared)
    print()
    _print_row(Message("shared"), features)
    if not explanation.differing:
        return
    print(translate(Message("differing bits, and the features that decided them")))
    rows = [
        [
            str(differing.bit),
            f"{differing.sum_a:,}",
            f"{differing.sum_b:,}",
            "  ".join(f"{_format_word(word)} {change:+,}" for word, change in differing.decisive),
        ]
        for differing in explanation.differing[:limit]
    ]
    columns = [Message("bit"), Message("sum in A"), Message("sum in B")]
    print_table([*columns, Message("decided by (change of the sum)")], rows, left=(3,))
    if limit is not None and len(explanation.differing) > limit:
        print(
            translate(
                Message("... and {count:,} more: --all", count=len(explanation.differing) - limit)
            )
        )
