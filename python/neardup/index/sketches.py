"""Sketches of texts and of stored documents, in corpora of the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import _core
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.index.store.rows import damage, damaged
from neardup.recipe.assets import compiled

if TYPE_CHECKING:
    from neardup.index.settings import Settings

__all__ = ["empty_corpus", "restore"]


def empty_corpus(settings: Settings, *, workers: int, shingle: int | None = None) -> _core.Corpus:
    """Return an empty corpus, which may count shingles; corpora made from it share threads."""
    recipe = compiled(settings.recipe)
    return _core.Corpus(recipe, keeps_texts=False, shingle=shingle, workers=workers)


def restore(
    corpus: _core.Corpus,
    rows: Sequence[Any],
    location: str,
    texts: pa.LargeStringArray | None = None,
) -> None:
    """Add stored documents with their stored sketches to a corpus."""
    try:
        _restore(corpus, rows, texts)
    except InputError as error:
        for row in rows:
            try:
                _restore(corpus.emptied(keeps_texts=False), [row], None)
            except InputError as reason:
                must = Message("index.sketch_of_recipe")
                document = Message("index.row_document", number=row["number"])
                raise damaged(location, document, "sketch", must, row["sketch"]) from reason
        raise damage("index.sketches_are_damaged", location, reason=error.args[0]) from error


def _restore(corpus: _core.Corpus, rows: Sequence[Any], texts: pa.LargeStringArray | None) -> None:
    corpus.restore(
        pa.nulls(len(rows), pa.large_string()) if texts is None else texts,
        [row["identity"] for row in rows],
        [row["features"] for row in rows],
        [row["sketch"] for row in rows],
    )
