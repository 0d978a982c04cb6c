"""Documents of an input by their numbers: the input is read again, as far as it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.base.arrays import rows_of, texts_array
from neardup.base.lazy import NDArray, np, pa
from neardup.readers import Batch
from neardup.readers.collection import Collection
from neardup.run.removals import Removals
from neardup.run.sketch_file import Others

#: Fields that have the date and the source of a record; the first that it has is taken.
DATES, SOURCES = ("date", "time", "published", "at"), ("source", "site", "publisher")

#: Columns of titles.
_TITLES = ("title", "kept_title")

#: The most code points of a title, a date or a source.
_LONGEST = 200


def titles_of_pairs(
    source: Collection,
    against: Others,
    first: int,
    dropped: NDArray[Any],
    kept: NDArray[Any],
) -> dict[str, Any]:
    """Return the titles of removed and kept documents as columns, if one of them has a title.

    Documents before `first` belong to the other collection.
    """
    documents, places = np.unique(np.concatenate([dropped, kept]), return_inverse=True)
    own = int(np.searchsorted(documents, first))
    titles = [] if against is None else against.titles(documents[:own].tolist())
    titles += source.titles((documents[own:] - first).tolist())
    if not any(titles):
        return {}
    column = pa.chunked_array([texts_array(titles)])
    parts = np.split(places, 2)
    return {n: rows_of(column, rows) for n, rows in zip(_TITLES, parts, strict=True)}


def titles_of_rows(
    source: Collection, against: Others, first: int, removals: Removals, rows: Sequence[int]
) -> dict[int, dict[str, str | None]]:
    """Return the same for some rows, by row."""
    pairs = {row: (removals.documents[row], removals.kept_for[row]) for row in rows}
    documents = sorted({document for pair in pairs.values() for document in pair})
    others = [document for document in documents if document < first]
    own = documents[len(others) :]
    titles: list[str | None] = [] if against is None else against.titles(others)
    titles += source.titles([document - first for document in own])
    title = dict(zip(documents, titles, strict=True))
    if not any(titles):
        return {}
    return {
        row: {name: title[document] for name, document in zip(_TITLES, pair, strict=True)}
        for row, pair in pairs.items()
    }


def describe_documents(
    source: Collection, wanted: Sequence[int], length: int
) -> dict[int, dict[str, Any]]:
    """Return texts, up to a length, with title, date and source, by the documents' numbers."""
    found = {}
    for number, batch, row in source.with_extra((*DATES, *SOURCES)).rows(wanted):
        text = batch.texts[row].as_py() or ""
        found[number] = {
            "text": text[:length],
            "length": len(text),
            "title": None if batch.titles is None else _format_text(batch.titles[row].as_py()),
            "date": _find_first(batch, DATES, row),
            "source": _find_first(batch, SOURCES, row),
        }
    return found


def _find_first(batch: Batch, names: Sequence[str], row: int) -> str | None:
    values = (batch.extra[name][row] for name in names if name in batch.extra)
    return next(filter(None, map(_format_text, values)), None)


def _format_text(value: Any) -> str | None:
    """Return text, a number or a time as one short line, and None for other values."""
    if isinstance(value, bool) or not (
        isinstance(value, (str, int, float)) or hasattr(value, "isoformat")
    ):
        return None
    return " ".join(str(value).split())[:_LONGEST] or None
