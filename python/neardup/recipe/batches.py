"""What of a batch can be sketched: its texts, their units by the user's segmenter, its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, place_of, show
from neardup.recipe import Recipe
from neardup.recipe.segmenters import encoded_units, load_segmenter

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup import _core


def readable(
    batch: Batch, recipe: Recipe, core: _core.Recipe
) -> tuple[pa.LargeStringArray, pa.LargeStringArray | None, list[Problem]]:
    """Return the texts of a batch, their units, and all problems.

    A text that cannot be sketched is null. Units are None unless the recipe has a callable
    segmenter.
    """
    texts = batch.texts
    if recipe.callable_name is None:
        return texts, None, batch.problems
    import pyarrow as pa
    import pyarrow.compute as pc

    units, failed = _segmented(recipe.callable_name, core, batch, texts)
    texts = pc.if_else(units.is_null(), pa.scalar(None, pa.large_string()), texts)
    return texts, units, [*batch.problems, *failed]


def _segmented(
    name: str, core: _core.Recipe, batch: Batch, texts: pa.LargeStringArray
) -> tuple[pa.LargeStringArray, list[Problem]]:
    """Return the units by the user's callable, null for a text that it fails on, and problems."""
    import pyarrow as pa

    segmenter = load_segmenter(name)
    units: list[str | None] = []
    problems = []
    for row, text in enumerate(texts.to_pylist()):
        encoded = None
        if text is not None:
            try:
                encoded = encoded_units(segmenter, core.normalize(text))
            except InputError as error:
                reason = Message(
                    "must be a text that the segmenter accepts", code="segmenter_failed"
                )
                cause = error.values["reason"]
                content = cause if isinstance(cause, Message) else show(cause)
                problems.append(Problem(*place_of(batch.runs, row), None, reason, content))
        units.append(encoded)
    return pa.array(units, pa.large_string()), problems


def with_first_lines(
    titles: pa.LargeStringArray | None, texts: pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return titles, with the first line of the text for a record without one."""
    import pyarrow as pa

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
