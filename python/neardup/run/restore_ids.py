"""Ids of records that are kept whatever they repeat: the file that a review saves."""

from __future__ import annotations

import json
from typing import Any

from neardup.base.files import lines_of, read_whole
from neardup.base.lazy import np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import InputError
from neardup.recipe.decisions import Decisions
from neardup.run.document_set import DocumentSet


def line_of(id: str) -> str:
    """Return an id as a line of the file: as it is, or as a JSON string where that is ambiguous.

    Examples
    --------
    >>> line_of("news-7"), line_of("one\\ntwo"), line_of('"quoted"')
    ('news-7', '"one\\\\ntwo"', '"\\\\"quoted\\\\""')
    """
    is_plain = id.isprintable() and id == id.strip() and id and not id.startswith('"')
    return id if is_plain else json.dumps(id)


def read_ids(path: str) -> frozenset[str]:
    """Return the ids of a file, one on each line; a line may be a JSON string.

    InputError if it cannot be read.
    """
    try:
        text = read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = Message("{file}: must have ids in UTF-8, one on each line.", file=path)
        raise InputError(message) from error
    return frozenset(map(_id_of, filter(None, map(str.strip, lines_of(text)))))


def _id_of(line: str) -> str:
    if line.startswith('"'):
        try:
            value: Any = json.loads(line)
        except json.JSONDecodeError:
            return line
        if isinstance(value, str):
            return value
    return line


def restore(
    wanted: frozenset[str],
    path: str,
    collected: DocumentSet,
    decided: Decisions,
    progress: Progress,
) -> None:
    """Keep the documents of the input with these ids, and report ids that it does not have."""
    import pyarrow.compute as pc  # slow to import

    ids: pa.ChunkedArray[Any] = collected.ids.column().slice(collected.against)
    is_wanted: Any = pc.is_in(ids, value_set=pa.array(sorted(wanted), pa.large_string()))
    rows: Any = pc.indices_nonzero(is_wanted)
    documents = collected.against + rows.to_numpy().astype(np.int64)
    decided.all.keep(documents)
    unknown = sorted(wanted.difference(ids.take(rows).to_pylist()))
    if unknown:
        progress.note(
            Message.counted(
                "{count:,} id of {file} is not in the input: {id}.",
                "{count:,} ids of {file} are not in the input, for example {id}.",
                count=len(unknown),
                file=path,
                id=repr(unknown[0]),
            )
        )
