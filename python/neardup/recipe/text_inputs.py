"""Texts passed by callers: checks, preparation and sketches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from neardup.base.arrays import texts_array
from neardup.base.lazy import _core, pa
from neardup.base.messages import Message
from neardup.base.validation import bad, check_workers
from neardup.exceptions import InputError
from neardup.recipe import Normalize, Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.segmenters import encoded_units, load_segmenter
from neardup.recipe.stages import TAGGED

#: A recipe whose first stage strips markup and does nothing else.
_STRIPPING = Recipe(
    name="markup",
    normalize=Normalize(
        nfkc=False,
        lowercase=False,
        whitespace="keep",
        drop_invisible=False,
        strip_markup=True,
        punctuation="keep",
        ends="keep",
        numbers="keep",
    ),
)

#: Texts passed to the core together: few enough to reuse memory.
_TOGETHER = 1024


def sketch_texts(
    texts: Iterable[str], titles: Iterable[str | None] | None, recipe: Recipe, workers: int
) -> _core.Corpus:
    """Return a corpus with the sketches of texts, without the texts."""
    core = compiled(recipe)
    corpus = _core.Corpus(core, keeps_texts=False, shingle=None, workers=check_workers(workers))
    items = _list_texts(texts, "texts")
    title_list = None if titles is None else _list_texts(titles, "titles")
    if title_list is not None and len(title_list) != len(items):
        raise bad("titles", "one title per text, {count} of them", title_list, count=len(items))
    segmenter = load_segmenter(recipe.callable_name) if recipe.callable_name else None
    for begin in range(0, len(items), _TOGETHER):
        group = items[begin : begin + _TOGETHER]
        column = _make_column(group, "texts", begin, missing=False)
        title_column = units = None
        if title_list is not None:
            some_titles = title_list[begin : begin + _TOGETHER]
            title_column = _make_column(some_titles, "titles", begin, missing=True)
        if segmenter is not None:
            segmented = [encoded_units(segmenter, core.normalize(text)) for text in group]
            units = texts_array(segmented)
        corpus.push(column, titles=title_column, units=units)
    corpus.finish()
    return corpus


def _make_column(values: list[Any], name: str, first: int, *, missing: bool) -> pa.LargeStringArray:
    """Return texts as an Arrow array; the error for another value names its position."""
    kinds = set(map(type, values)) - ({type(None)} if missing else set())
    if kinds <= {str}:
        try:
            return texts_array(values)
        except UnicodeEncodeError:
            pass  # reported below, with the position
    for position, value in enumerate(values):
        if value is not None or not missing:
            checked_text(value, f"{name}[{first + position}]")
    return texts_array(values)


def _list_texts(values: Iterable[Any], name: str) -> list[Any]:
    # A str is an iterable of str, but never intended.
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise bad(name, "a list of text", values)
    return list(values)


def checked_text(text: str, name: str) -> str:
    """Return `text` if it is a str that UTF-8 can encode."""
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError(
            Message("{parameter}: expected text, found {value}.", parameter=name, value=kind)
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            Message(
                "{parameter}: expected Unicode text, found the lone surrogate "
                "U+{surrogate} at character {at}. Decode the source again, or drop it "
                "with text.encode(errors='replace').",
                code="lone_surrogate",
                parameter=name,
                surrogate=f"{ord(text[error.start]):04X}",
                at=error.start,
            )
        ) from None
    return text


def check_tagged(text: str, recipe: Recipe, name: str) -> None:
    """Raise InputError if a recipe reads words with tags, and a text has none."""
    if recipe.segment.units not in TAGGED or "/" in text:
        return
    if not text.strip():
        raise InputError(Message("{parameter}: must contain text. It is empty.", parameter=name))
    raise InputError(
        Message(
            "{parameter}: has no words with tags (渡轮/n 停靠/v), which the recipe '{recipe}' "
            "needs. Segment the text, or choose a recipe for plain text, such as classic.",
            code="no_tagged_words",
            parameter=name,
            recipe=recipe.name,
        )
    )


def prepare_text(core: _core.Recipe, recipe: Recipe, text: str) -> tuple[str, str]:
    """Return the normalized text, and the input of the core's segmenter."""
    normalized = core.normalize(text)
    if recipe.callable_name is None:
        return normalized, normalized
    return normalized, encoded_units(load_segmenter(recipe.callable_name), normalized)


def without_markup(text: str) -> str:
    """Return a text without HTML tags, with entities decoded, and otherwise as it is.

    Examples
    --------
    >>> without_markup("<p>Ｆish &amp; chips</p>")
    '\\nＦish & chips\\n'
    """
    return compiled(_STRIPPING).normalize(text)
