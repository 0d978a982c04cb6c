"""``neardup compare``: how similar two texts are."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from neardup.base.messages import Message
from neardup.base.progress import Clock, peak_memory
from neardup.cli.options import Bits, Settings, StripMarkup, choose_recipe
from neardup.cli.source_programs import format_source
from neardup.cli.terminal import NONE, WIDTH, print_message, print_problem, print_rows, translate
from neardup.exceptions import InputError, ParameterError
from neardup.options import options as o
from neardup.options.groups import CompareParameters
from neardup.options.signatures import complete_options
from neardup.readers.batch import show
from neardup.recipe.measures import measure_words
from neardup.recipe.text_inputs import check_tagged

if TYPE_CHECKING:
    from neardup.tasks.comparison import Comparison, Evidence

_FILE = "A text file (.txt .md .html .docx .pdf), or - for standard input."


def run(
    *,
    given: set[str],
    a: Annotated[str, o.Argument(_FILE, metavar="A")],
    b: Annotated[str, o.Argument(_FILE, metavar="B")],
    output: Annotated[
        Path | None,
        o.Argument(
            "File for the edit similarity, with two decimals; for the similarity by the "
            "recipe's measure, if a recipe or a bound is given. Replaces an existing file.",
            metavar="[OUT]",
        ),
    ],
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    encoding: o.Encoding,
    json: Annotated[bool, o.Option("Print all measures as JSON.", o.OUTPUT)],
    format: Annotated[
        Literal["source"] | None,
        o.Option(
            "source: print the output of the original program of the recipe bkdr, news or "
            "keywords.",
            o.OUTPUT,
        ),
    ],
    report: o.Report,
    **options: Unpack[CompareParameters],
) -> None:
    """Print the similarity of two texts.

    Examples:
        neardup compare old.txt new.txt
        neardup compare old.txt new.txt --passages
        neardup compare old.txt new.txt --recipe characters --json
    """
    from dataclasses import asdict
    from json import dumps

    from neardup.writers import OutputSet

    if a == b == "-":
        raise ParameterError(Message("Only one of the two texts can come from standard input."))
    from neardup.tasks.compare import compare, compare_texts

    _check_paths(a, b)
    deciding = ("recipe", "ignore", "bits", "measure", "threshold", "max_distance")
    by_recipe = not given.isdisjoint(deciding)
    options["recipe"] = recipe = choose_recipe(
        options["recipe"], strip_markup=strip_markup, bits=bits, settings=settings
    )
    clock = Clock()
    wanted = {"output": output, "report": report}
    with OutputSet([a, b, *recipe.files], texts=wanted, force=True) as outputs:
        texts = read_texts([a, b], encoding)
        for path, text in zip((a, b), texts, strict=True):
            check_tagged(text, recipe, path)
        clock.lap("read")
        comparison = compare_texts(texts[0], texts[1], complete_options(compare, options), clock)
        answer = comparison.similarity if by_recipe else comparison.edit_similarity
        if output is not None:
            outputs.files["output"].write(f"{answer:.2f}\n".encode())
        if report is not None:
            used: dict[str, object]
            used = {"seconds": clock.seconds(), "peak_memory": peak_memory()}
            used |= {"stages": clock.stages, "stage_memory": clock.stage_memory}
            line = dumps(asdict(comparison) | used, ensure_ascii=False)
            outputs.files["report"].write(line.encode() + b"\n")
    if json:
        print(dumps(asdict(comparison), ensure_ascii=False))
        return
    if format == "source":
        named = tuple(zip((a, b), texts, strict=True))
        lines = format_source(
            comparison, recipe, named, threshold=options["threshold"], answer=answer
        )
        print(*lines, sep="\n")
        return
    _print(comparison)
    if comparison.passages is not None:
        from neardup.cli.passages import print_passages

        print_passages(comparison.passages, comparison.differences or ())


def _check_paths(a: str, b: str) -> None:
    """Refuse texts given as file names."""
    for path in (a, b):
        if path != "-" and not os.path.lexists(path):
            raise InputError(
                Message(
                    "{file}: no such file. To compare two texts, in bash: neardup compare <(echo "
                    "'TEXT A') <(echo 'TEXT B')",
                    file=show(path),
                )
            )


def _print(comparison: Comparison) -> None:
    if comparison.measure != "equal_bits":
        # 100 % means that no edit is needed.
        limit = 100 if comparison.edit_similarity == 1 else 99.99
        same = min(100 * comparison.edit_similarity, limit)
        print(translate(Message("{percent:.2f} % the same, counted by edits.", percent=same)))
    print(translate(comparison.verdict))
    print()
    print_rows(_list_measures(comparison), width=WIDTH)


def _list_measures(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the measures of two texts, their evidence and the recipe, as rows."""
    by, evidence = measure_words(comparison.measure), comparison.evidence
    similarity = Message("{value:.4f}  by {measure}", value=comparison.similarity, measure=by)
    both = Message(
        "{a:.4f}  of A in B, {b:.4f} of B in A",
        a=comparison.containment_a,
        b=comparison.containment_b,
    )
    rows: list[tuple[str, str]] = [
        (Message("similarity"), similarity),
        (
            Message("resemblance"),
            Message(
                "{value:.4f}  of {length}-character shingles",
                value=comparison.resemblance,
                length=evidence.shingle,
            ),
        ),
        (
            Message("weighted"),
            Message(
                "{value:.4f}  resemblance; text that many documents share counts less",
                value=evidence.weighted_resemblance,
            ),
        ),
        (Message("containment"), both),
        (
            Message("edits"),
            Message(
                "{value:.4f}  1 - edits / length of the longer", value=comparison.edit_similarity
            ),
        ),
        (
            Message("word edits"),
            Message(
                "{value:.4f}  the same by words, or by characters of scripts without spaces",
                value=evidence.aligned_similarity,
            ),
        ),
        (
            Message("aligned"),
            Message("{value:.4f}  of the shorter text, in the same order", value=evidence.aligned),
        ),
        (Message("core"), _describe_core(evidence)),
        (Message("numbers"), _describe_numbers(evidence)),
    ]
    if comparison.bits is not None:
        bits = NONE
        if comparison.distance is not None:
            bits = Message(
                "{distance} of {bits} bits", distance=comparison.distance, bits=comparison.bits
            )
        rows.append((Message("distance"), bits))
    return [*rows, (Message("recipe"), comparison.recipe_id)]


def _describe_core(evidence: Evidence) -> Message:
    """Return where the texts are the same, and in how many places they differ there."""
    core = Message.counted(
        "{a:.0%} of A, {b:.0%} of B, with {count} difference",
        "{a:.0%} of A, {b:.0%} of B, with {count} differences",
        count=evidence.gaps,
        a=evidence.core_a,
        b=evidence.core_b,
    )
    if evidence.recurring > 1:
        core = Message(
            "{core}; {recurring} of them repeat another", core=core, recurring=evidence.recurring
        )
    if evidence.at_end:
        core = Message("{core}; at the end of both", core=core)
    return core


def _describe_numbers(evidence: Evidence) -> Message:
    """Return how the numbers of two texts compare, and what that takes from the similarity."""
    numbers = Message(
        "{agree} agree, {differ} differ",
        agree=evidence.numbers_agree,
        differ=evidence.numbers_differ,
    )
    if evidence.numbers_replaced:
        numbers = Message(
            "{numbers}, {count} of them replaced",
            numbers=numbers,
            count=evidence.numbers_replaced,
        )
    if evidence.number_penalty:
        numbers = Message(
            "{numbers}: penalty {penalty:.4f}", numbers=numbers, penalty=evidence.number_penalty
        )
    return numbers


def read_texts(paths: Sequence[str], encoding: str | None) -> list[str]:
    """Read files of text, or standard input for ``-``; notes on them go to standard error."""
    from neardup.readers import read_record
    from neardup.readers.encodings import Encodings
    from neardup.readers.streams import ReopenableFile, read_stored

    files = (partial(ReopenableFile, path) for path in paths if os.path.isfile(path))
    encodings = Encodings(encoding, files)
    texts = []
    for path in paths:
        data = sys.stdin.buffer.read() if path == "-" else read_stored(path)
        # Read as `dedup` reads a record, so that both agree on two texts.
        record = read_record(data, path, encodings=encodings)
        for note in record.notes:
            print_message(Message("{file}: {said:inside}", file=path, said=note))
        for problem in record.problems:
            print_problem(problem.message)
        texts.append(record.text)
    return texts
