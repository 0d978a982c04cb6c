"""Collections of documents by topic, read from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.exceptions import InputError

if TYPE_CHECKING:
    from neardup.base.progress import Progress

__all__ = [
    "DISTRACTORS",
    "OVERALL",
    "Collection",
    "Documents",
    "read_collection",
    "read_documents",
]

#: Name of the file with documents of no topic.
DISTRACTORS = "distractors"
#: Topic in rows over all documents; no topic may have this name.
OVERALL = "all"
_EXTENSIONS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True)
class Documents:
    """Some documents, in file order.

    Parameters
    ----------
    ids, titles, texts : tuple of length n_documents
        Titles are None where a document has none.
    """

    ids: tuple[str, ...]
    titles: tuple[str | None, ...]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Collection:
    """The texts of an experiment.

    Parameters
    ----------
    topics : dict of str to Documents
        By topic, in the order of the names.
    distractors : Documents
        Documents of no topic; may be none.
    """

    topics: dict[str, Documents]
    distractors: Documents


def read_collection(folder: str | Path, *, progress: Progress | None = None) -> Collection:
    """Return the collection in a folder.

    Parameters
    ----------
    folder : str or Path
        Its files ``*.jsonl``, plain or compressed (.gz, .zst), with the fields
        ``id``, ``title`` and ``text``; each but ``distractors`` is a topic of
        the file's name.
    progress : Progress or None, default=None
        Reports records without a usable text, which are left out.

    Raises
    ------
    InputError
        If there is no topic, or a topic has less than two documents.
    """
    where = Path(folder)
    if not where.is_dir():
        raise InputError(Message("lab.no_topic_folder", folder=str(where)))
    files: dict[str, Path] = {}
    for path in sorted(where.iterdir()):
        name = next((path.name[: -len(e)] for e in _EXTENSIONS if path.name.endswith(e)), "")
        if name in files:
            raise InputError(Message("lab.second_file_of_topic", file=str(path)))
        if name:
            files[name] = path
    topics = {
        name: read_documents([path], progress=progress)[0]
        for name, path in files.items()
        if name != DISTRACTORS
    }
    if not topics:
        raise InputError(Message("lab.no_topic_file", folder=str(where)))
    if OVERALL in topics:
        raise InputError(Message("lab.reserved_topic", file=str(files[OVERALL]), name=OVERALL))
    for name, documents in topics.items():
        if len(documents) < 2:
            raise InputError(
                Message("lab.few_documents", file=str(files[name]), found=len(documents))
            )
    distractors = Documents((), (), ())
    if DISTRACTORS in files:
        distractors, _ = read_documents([files[DISTRACTORS]], progress=progress)
    return Collection(topics, distractors)


def read_documents(
    inputs: Sequence[str | Path],
    *,
    format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    title_field: str | None = None,
    progress: Progress | None = None,
) -> tuple[Documents, int]:
    """Return the documents of files that have a text, and the number of problems met.

    Parameters
    ----------
    inputs, format, text_field, id_field, title_field
        As in :func:`neardup.dedup_files`.
    progress : Progress or None, default=None
        Reports each problem.

    Raises
    ------
    InputError
        If an input cannot be read.
    """
    from neardup.base.progress import Progress
    from neardup.readers import open_sources
    from neardup.readers.batch import strings

    sources = open_sources(
        inputs, format=format, text_field=text_field, id_field=id_field, title_field=title_field
    )
    ids: list[str] = []
    titles: list[str | None] = []
    texts: list[str] = []
    problems = 0
    progress = progress or Progress()
    for batch in sources.batches(titles=True):
        problems += len(batch.problems)
        for problem in batch.problems:
            progress.problem(problem)
        found = batch.texts.to_pylist()
        named = [None] * len(found) if batch.titles is None else batch.titles.to_pylist()
        for its_id, its_title, its_text in zip(strings(batch.ids), named, found, strict=True):
            if its_text is not None:
                ids.append(its_id)
                titles.append(its_title)
                texts.append(its_text)
    problems += sources.report_to(progress)
    return Documents(tuple(ids), tuple(titles), tuple(texts)), problems
