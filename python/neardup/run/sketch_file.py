"""Arrow IPC files of documents with their sketches, which a later run continues with.

A row for each document, in input order: ``id``; ``features``, null if it could not be read;
``identity``, 16 bytes of equal texts; ``sketch``, see docs/formats.md; ``text``, normalized;
with groups also ``group``, a hash. The metadata has the recipe's id. Shingles are counted again,
from the texts.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, cast

from neardup.base.lazy import NDArray, np, pa
from neardup.base.messages import Message
from neardup.exceptions import InputError, NeardupError
from neardup.readers.addresses import is_address, names_several_at, open_address
from neardup.readers.collection import Collection
from neardup.readers.formats import ARROW_FILE, SKETCHES, detect_by_name
from neardup.readers.streams import ReopenableFile
from neardup.recipe import Recipe
from neardup.run.document_set import DocumentSet

#: What a collection is compared with.
Others: TypeAlias = "Collection | SketchFiles | None"

#: The version of the files that later runs read, and its key in the metadata.
_VERSION, _VERSION_KEY = "1", SKETCHES.decode()

#: Bytes of a file that are read for its schema.
_HEAD = 1 << 16

#: Documents of a record batch: some megabytes with the longest sketches.
_BATCH = 1 << 13


def write_sketches(
    open_writer: Callable[[pa.Schema], AbstractContextManager[Any]],
    collected: DocumentSet,
    shingle: int | None,
) -> None:
    """Write the documents of a finished corpus, one batch in memory at a time.

    Shingles of `shingle` characters are counted, or none.
    """
    schema = schema_of(collected, shingle)
    with open_writer(schema) as writer:
        for ids, groups, begin in cut(collected):
            writer.write_batch(rows_of(collected, schema, ids, groups, begin))


def schema_of(collected: DocumentSet, shingle: int | None) -> pa.Schema:
    """Return the columns and the metadata of a file of sketches."""
    fields: dict[str, pa.DataType] = {
        "id": pa.large_string(),
        "identity": pa.binary(16),
        "features": pa.uint32(),
        "sketch": pa.large_binary(),
        "text": pa.large_string(),
    }
    if collected.groups:
        fields["group"] = pa.uint64()
    metadata: dict[bytes | str, bytes | str] = {
        _VERSION_KEY: _VERSION,
        "recipe": collected.recipe_id(),
        "recipe_name": collected.recipe.name,
        "shingle": "" if shingle is None else str(shingle),
    }
    return pa.schema(fields, metadata=metadata)


def cut(collected: DocumentSet) -> Iterator[tuple[Any, NDArray[np.uint64] | None, int]]:
    """Yield ids and groups of the documents of a finished corpus in batches, and their places."""
    ids = collected.ids.column()
    groups = np.concatenate(collected.groups) if collected.groups else None
    for begin in range(0, len(ids), _BATCH):
        end = begin + _BATCH
        of_batch = None if groups is None else groups[begin:end]
        yield ids[begin:end].combine_chunks(), of_batch, begin


def rows_of(
    collected: DocumentSet,
    schema: pa.Schema,
    ids: Any,
    groups: NDArray[np.uint64] | None,
    begin: int,
) -> pa.RecordBatch:
    """Return the rows of some consecutive documents of a corpus, from `begin` on."""
    corpus, end = collected.corpus, begin + len(ids)
    parts = [*corpus.rows(begin, end), corpus.texts(begin, end)]
    columns: list[Any] = [ids, *map(pa.array, parts)]
    if groups is not None:
        columns.append(pa.array(groups))
    return pa.record_batch(columns, schema=schema)


def is_sketch_file(path: str) -> bool:
    """Return whether a path names an Arrow file of sketches, rather than of documents."""
    try:
        if is_address(path):
            if names_several_at(path):
                return False
            with open_address(path) as (file, _):
                head = file.read(_HEAD)
        # A pipe can be read only once.
        elif not os.path.isfile(path):
            return False
        else:
            with open(path, "rb") as file:
                head = file.read(_HEAD)
    except (OSError, NeardupError):
        # The error is that of whoever reads it.
        return False
    if not head.startswith(ARROW_FILE):
        return False
    # The schema with its metadata is at the beginning, where a damaged file may have lost it.
    return SKETCHES in head or detect_by_name(path).format != "arrow"


class SketchFiles:
    """Files of documents with their sketches: another collection, or what an earlier run read."""

    has_fields = False

    def __init__(self, paths: Sequence[str]) -> None:
        self._files = [ReopenableFile(path) for path in paths]

    def titles(self, wanted: Sequence[int]) -> list[str | None]:
        """Return that no document has a title: the files have sketches and texts only."""
        return [None] * len(wanted)

    def check(self, recipe: Recipe, shingle: int | None) -> None:
        """Raise InputError unless all files have sketches of this recipe."""
        for file in self._files:
            self._check(file, recipe, shingle)

    def _check(self, source: ReopenableFile, recipe: Recipe, shingle: int | None) -> None:
        path = source.name
        try:
            with source.open() as raw, pa.PythonFile(cast(io.IOBase, raw)) as file:
                metadata = pa.ipc.open_file(file).schema.metadata or {}
        except (OSError, pa.ArrowException) as error:
            raise _damage_error(path, error) from error
        if metadata.get(SKETCHES) != _VERSION.encode():
            raise InputError(
                Message(
                    "{file}: must be a file that this version of neardup sketch has "
                    "written. Make it again from the documents.",
                    code="other_version",
                    file=path,
                )
            )
        try:
            names = ("recipe", "shingle", "recipe_name")
            id, counted, name = (metadata[name.encode()].decode() for name in names)
        except (KeyError, UnicodeDecodeError) as error:
            raise _damage_error(path, error) from error
        if name != recipe.name:
            raise InputError(
                Message(
                    "{file}: must have sketches of the recipe {recipe}, not of {found}. Name that "
                    "recipe, or make the sketches again.",
                    file=path,
                    found=name,
                    recipe=recipe.name,
                )
            )
        wanted = "" if shingle is None else str(shingle)
        if (id, counted) != (recipe.id, wanted):
            differing = (id, recipe.id) if id != recipe.id else (counted or "-", wanted or "-")
            raise InputError(
                Message(
                    "{file}: must have sketches with the settings of this run, {wanted}, not "
                    "{found}. Make them again.",
                    file=path,
                    found=differing[0],
                    wanted=differing[1],
                )
            )

    def put_into(self, collected: DocumentSet) -> Iterator[pa.RecordBatch]:
        """Add the documents to a corpus that is not finished, and yield their batches."""
        corpus = collected.corpus
        for source in self._files:
            try:
                with source.open() as raw, pa.PythonFile(cast(io.IOBase, raw)) as file:
                    reader: Any = pa.ipc.open_file(file)
                    for number in range(reader.num_record_batches):
                        batch = reader.get_batch(number)
                        # Places of text that point anywhere would be followed.
                        batch.validate(full=True)
                        names = ("identity", "features", "sketch", "text")
                        corpus.restore(*(batch[name] for name in names), normalized=True)
                        # Copies, since a part of a batch would hold all of it in memory.
                        collected.ids.append(pa.concat_arrays([batch["id"]]))
                        if "group" in batch.schema.names:
                            collected.groups.append(batch["group"].to_numpy().copy())
                        yield batch
            except (OSError, KeyError, IndexError, InputError, pa.ArrowException) as error:
                raise _damage_error(source.name, error) from error


def _damage_error(path: str, error: Exception) -> InputError:
    return InputError(
        Message(
            "{file}: must be a whole file of neardup sketch, but is damaged ({reason}). Make it "
            "again from the documents.",
            code="damaged_file",
            file=path,
            reason=str(error),
        )
    )
