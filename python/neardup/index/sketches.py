"""Sketches of texts and of stored documents, in corpora of the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import _core
from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError, InputError
from neardup.index.store.rows import damaged, remedy
from neardup.recipe.assets import compiled

if TYPE_CHECKING:
    from neardup.index.settings import Settings

__all__ = ["empty_corpus", "restore"]


def empty_corpus(settings: Settings, *, workers: int) -> _core.Corpus:
    """Return an empty corpus; corpora made from it share its threads."""
    return _core.Corpus(compiled(settings.recipe), keeps_texts=False, shingle=None, workers=workers)


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
        raise IndexFormatError(
            Message(
                "index.sketches_are_damaged",
                location=location,
                reason=error.args[0],
                remedy=remedy(location),
            )
        ) from error


def _restore(corpus: _core.Corpus, rows: Sequence[Any], texts: pa.LargeStringArray | None) -> None:
    corpus.restore(
        pa.nulls(len(rows), pa.large_string()) if texts is None else texts,
        [row["identity"] for row in rows],
        [row["features"] for row in rows],
        [row["sketch"] for row in rows],
    )
