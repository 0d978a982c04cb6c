"""A batch to sketch: its texts, their units by the user's segmenter, its problems."""

from __future__ import annotations

from neardup.base.lazy import _core, pa
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, find_place, show
from neardup.recipe import Recipe
from neardup.recipe.segmenters import encoded_units, load_segmenter


def readable(
    batch: Batch, recipe: Recipe, core: _core.Recipe, *, ends: bool = True
) -> tuple[pa.LargeStringArray, pa.LargeStringArray | None, list[Problem]]:
    """Return the texts of a batch, their units, and all problems.

    Units are None unless the recipe has a callable segmenter. A text that it fails on `ends` the
    run by an InputError; otherwise the text is null, and has a problem.
    """
    texts = batch.texts
    if recipe.callable_name is None:
        return texts, None, batch.problems
    import pyarrow.compute as pc

    segmenter = load_segmenter(recipe.callable_name)
    units: list[str | None] = []
    problems = list(batch.problems)
    for row, text in enumerate(texts.to_pylist()):
        encoded = None
        if text is not None:
            try:
                encoded = encoded_units(segmenter, core.normalize(text))
            except InputError as error:
                place = find_place(batch.runs, row)
                if ends:
                    raise _locate_error(place, error) from error
                problems.append(_problem(place, error))
        units.append(encoded)
    column = pa.array(units, pa.large_string())
    return pc.if_else(column.is_null(), pa.scalar(None, pa.large_string()), texts), column, problems


def _locate_error(place: tuple[str, int | None], error: InputError) -> InputError:
    """Return the error of a segmenter with the record that it failed on."""
    source, record = place
    if record is None or not source:
        return error
    return InputError(
        Message(
            "{source}: record {record}: {error:inside}",
            code=error.code,
            source=source,
            record=record,
            error=error.message,
        )
    )


def _problem(place: tuple[str, int | None], error: InputError) -> Problem:
    reason = Message("must be a text that the segmenter accepts", code=error.code)
    cause = error.values["reason"]
    return Problem(*place, None, reason, cause if isinstance(cause, Message) else show(cause))


def with_first_lines(
    titles: pa.LargeStringArray | None, texts: pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return titles, with the first line of the text for a record without one."""
    given = [None] * len(texts) if titles is None else titles.to_pylist()
    filled = [
        first_line(text) if title is None else title
        for title, text in zip(given, texts.to_pylist(), strict=True)
    ]
    return pa.array(filled, pa.large_string())


def first_line(text: str | None) -> str | None:
    """Return the first non-blank line of a text."""
    if text is None:
        return None
    return next((line.strip() for line in text.splitlines() if line.strip()), None)
