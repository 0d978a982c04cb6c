"""Collections of documents by topic, read from files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.base.lazy import pa
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import InputError
from neardup.readers import open_sources
from neardup.readers.batch import list_texts
from neardup.readers.formats import COMPRESSED

#: Of documents in a collection.
Places = npt.NDArray[np.int64]

#: Name of the file with documents of no topic.
DISTRACTORS = "distractors"
#: Topic in rows over all documents; no topic may have this name.
OVERALL = "all"


@dataclass(frozen=True)
class Documents:
    """Some documents, in file order."""

    ids: tuple[str, ...]
    titles: tuple[str | None, ...]
    texts: tuple[str, ...]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str | None, str]]) -> Documents:
        """Return documents of rows of id, title and text."""
        ids, titles, texts = tuple(zip(*rows, strict=True)) or ((), (), ())
        return cls(ids, titles, texts)

    def __len__(self) -> int:
        return len(self.ids)

    def to_table(self, texts: Sequence[str] | None = None) -> pa.Table:
        """Return the documents, perhaps with other texts; the id of each one is its place."""
        columns = {
            "id": map(str, range(len(self))),
            "title": self.titles,
            "text": self.texts if texts is None else texts,
        }
        return pa.table({name: pa.array(c, pa.large_string()) for name, c in columns.items()})


def parse_places(ids: pa.ChunkedArray[Any]) -> Places:
    """Return the places that ids of `Documents.to_table` are."""
    import pyarrow.compute as pc

    places: Places = pc.cast(ids, pa.int64()).to_numpy()
    return places


@dataclass(frozen=True)
class Collection:
    """The texts of an experiment."""

    topics: dict[str, Documents]
    distractors: Documents


def read_collection(folder: str | Path, progress: Progress) -> Collection:
    """Return the collection in a folder."""
    where = Path(folder)
    if not where.exists():
        raise InputError(
            Message("{file}: no such file or directory.", code="no_such_file", file=str(where))
        )
    if not where.is_dir():
        raise InputError(
            Message(
                "{folder}: must be a folder of topic files. Got a file instead.", folder=str(where)
            )
        )
    extensions = [f".jsonl{extension}" for extension in ("", *COMPRESSED)]
    files: dict[str, list[Path]] = {}
    for path in sorted(where.iterdir()):
        for extension in extensions:
            if path.name.endswith(extension):
                files.setdefault(path.name.removesuffix(extension), []).append(path)
    topics = {name: read_documents(paths, progress)[0] for name, paths in files.items()}
    distractors = topics.pop(DISTRACTORS, Documents((), (), ()))
    if not topics:
        raise InputError(
            Message(
                "{folder}: must have a topic file such as finance.jsonl. Got none instead.",
                folder=str(where),
            )
        )
    if OVERALL in topics:
        raise InputError(
            Message(
                "{file}: must not be named '{name}': the results use this name for "
                "all topics together. Rename the file.",
                file=str(files[OVERALL][0]),
                name=OVERALL,
            )
        )
    for name, documents in topics.items():
        if len(documents) < 2:
            raise InputError(
                Message(
                    "{file}: must have at least two documents with text. Got {found} instead.",
                    file=str(files[name][0]),
                    found=len(documents),
                )
            )
    return Collection(topics, distractors)


def read_documents(
    inputs: Sequence[str | Path], progress: Progress, **reader: Any
) -> tuple[Documents, int]:
    """Return the documents of files that have a text, and the number of problems met.

    `reader` are parameters of `open_sources`.
    """
    sources = open_sources(inputs, **reader)
    rows: list[tuple[str, str | None, str]] = []
    problems = 0
    for batch in sources.batches(titles=True):
        problems += sum(problem.count for problem in batch.problems)
        for problem in batch.problems:
            progress.problem(problem)
        texts = batch.texts.to_pylist()
        titles = [None] * len(texts) if batch.titles is None else batch.titles.to_pylist()
        of_batch = zip(list_texts(batch.ids), titles, texts, strict=True)
        rows += ((id, title, text) for id, title, text in of_batch if text is not None)
    problems += sources.report_to(progress)
    return Documents.from_rows(rows), problems
