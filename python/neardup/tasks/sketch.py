"""Fingerprints and sketches of files: stages normalize, segment, weigh and sketch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from neardup.base.lazy import np, pa
from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.exceptions import ParameterError
from neardup.options.groups import FingerprintFilesParameters, SketchFilesParameters
from neardup.options.options import Form
from neardup.options.signatures import complete_options, takes_options
from neardup.recipe import CORPUS
from neardup.run.document_set import DocumentSet
from neardup.run.file_run import FileRun
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import write_sketches
from neardup.run.summary import Summary
from neardup.tasks.fingerprints import (
    Fingerprint,
    choose_block_widths,
    join_words,
    load_fingerprinting,
)
from neardup.writers import write_rows


@takes_options
def fingerprint_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    **options: Unpack[FingerprintFilesParameters],
) -> int:
    """Write the fingerprint of each document of files.

    Parameters
    ----------
    inputs : sequence of str or Path
        As for :func:`neardup.dedup_files`.
    output : str or Path
        File or folder for one record per document, in input order: ``id``, ``fingerprint``
        (null without features), ``features`` (their number; null if the record could not be
        read), ``recipe``, and the columns of `blocks`.
    {options}

    Returns
    -------
    int
        Number of problems in the inputs.

    Raises
    ------
    ParameterError, InputError, OutputError
        As for :func:`neardup.dedup_files`.

    Notes
    -----
    A recipe that counts document frequencies counts them in the inputs.
    """
    values = complete_options(fingerprint_files, options)
    chosen = RunOptions({**values, "recipe": load_fingerprinting(values["recipe"])}, compares=False)
    form, bits, blocks = chosen.form, chosen.recipe.sketch.bits, chosen.blocks
    if bits > 64 and form in ("unsigned", "signed"):
        raise bad(
            "form", "hex or bits for {bits} bits: a whole number has at most 64", form, bits=bits
        )
    if blocks is not None:
        # A column of a database holds 63 bits without a sign.
        choose_block_widths(bits, blocks, widest=63, name="blocks")
    with FileRun("fingerprint", chosen, inputs, records={"output": output}) as run:
        collected = run.pipeline.read(run.sources)
        rows = _make_rows(collected, chosen, form, blocks)
        features = collected.corpus.features()
        numbers = np.flatnonzero((features >= 0) | (chosen.on_error != "drop"))
        write_rows(run.outputs.records["output"], rows, _make_schema(form, blocks), numbers)
        run.report_sources()
    return run.pipeline.problem_count


@takes_options
def sketch_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    **options: Unpack[SketchFilesParameters],
) -> Summary:
    """Sketch the documents of files once, for later runs against them.

    Parameters
    ----------
    inputs : sequence of str or Path
        As for :func:`neardup.dedup_files`.
    output : str or Path
        Arrow file with the normalized text, the identity and the sketch of each document, and
        with the counts of their shingles; `against` of :func:`neardup.dedup_files` and
        :func:`neardup.pairs_files` takes it.
    {options}

    Returns
    -------
    Summary

    Raises
    ------
    ParameterError
        If the recipe weighs words by the collection itself; or as for
        :func:`neardup.dedup_files`.
    InputError, OutputError
        As for :func:`neardup.dedup_files`.

    Notes
    -----
    A run against the file decides as a run against the documents. It need not read the documents,
    normalize or sketch them; their shingles are counted again.
    """
    chosen = RunOptions(complete_options(sketch_files, options))
    if chosen.recipe.weigh.idf == CORPUS:
        name = chosen.recipe.name
        raise ParameterError(
            Message(
                "{parameter:named} must weigh each text by itself, but '{value}' has idf = "
                "'corpus'. Count the collection with 'neardup idf', and name that file as the "
                "recipe's idf.",
                parameter="recipe",
                value=name,
            )
        )
    with FileRun("sketch", chosen, inputs, texts={"output": output}) as run:
        pipeline, file = run.pipeline, run.outputs.files["output"]
        collected = pipeline.read(run.sources, saves=True, looks_up=True)
        assert chosen.rule is not None
        write_sketches(file.arrow_file, collected, chosen.rule.counted_shingle)
        pipeline.clock.lap("write")
        summary = pipeline.summary("sketch", collected, kept=len(collected.corpus))
        run.report_sources()
        pipeline.measure(summary)
    return summary


def _make_rows(
    collected: DocumentSet, options: RunOptions, form: Form, blocks: int | None
) -> Iterator[dict[str, Any]]:
    """Yield the record of each document."""
    recipe_id = collected.recipe_id()
    bits = options.recipe.sketch.bits
    names = [] if blocks is None else _name_blocks(blocks)
    rows = zip(
        collected.ids.column().to_pylist(),
        collected.corpus.fingerprints().tolist(),
        collected.corpus.features().tolist(),
        strict=True,
    )
    for name, words, count in rows:
        if count < 0 and options.on_error == "drop":
            continue
        fingerprint = Fingerprint(join_words(words), bits, recipe_id) if count > 0 else None
        row = {
            "id": name,
            "fingerprint": None if fingerprint is None else fingerprint.written(form),
            "features": count if count >= 0 else None,
            "recipe": recipe_id,
        }
        cut = fingerprint.blocks(len(names) - 1) if fingerprint and names else [None] * len(names)
        yield row | dict(zip(names, cut, strict=True))


def _make_schema(form: Form, blocks: int | None) -> pa.Schema:
    digits = {"unsigned": pa.uint64(), "signed": pa.int64()}.get(form, pa.string())
    fields: list[Any] = [
        ("id", pa.string()),
        ("fingerprint", digits),
        ("features", pa.int64()),
        ("recipe", pa.string()),
    ]
    names = [] if blocks is None else _name_blocks(blocks)
    return pa.schema([*fields, *((name, pa.int64()) for name in names)])


def _name_blocks(max_distance: int) -> list[str]:
    return [f"block_{block}" for block in range(max_distance + 1)]
