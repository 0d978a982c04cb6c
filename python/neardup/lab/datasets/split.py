"""The documents of an experiment: originals by topic, their copies, distractors.

Each topic's documents are cut in two halves by a seeded shuffle. On the
*test* split the first half are originals; on the *development* split the
second half are. The other half does not take part: one copy of each original
takes its place, and its texts are what edits draw their material from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup._engine.messages import Message
from neardup._engine.validation import check_choice, check_whole
from neardup.exceptions import InputError
from neardup.lab.datasets.edit_model import EditModel
from neardup.lab.datasets.reposts import RepostModel

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup._engine.ingest import Progress

__all__ = [
    "COPIES",
    "DISTRACTORS",
    "OVERALL",
    "REPOSTS",
    "Collection",
    "Documents",
    "Split",
    "make_split",
    "read_collection",
    "read_documents",
]

#: Name of the file whose documents belong to no topic.
DISTRACTORS = "distractors"
#: What rows over all documents have for a topic; no topic can be called so.
OVERALL = "all"
_EXTENSIONS = (".jsonl", ".jsonl.gz", ".jsonl.zst")

REPOSTS = "reposts"
#: How copies can be made.
COPIES = (REPOSTS, "edits")

#: Which half of a topic are the originals.
SPLITS = ("test", "development")


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
    """The texts that a trial is made of.

    Parameters
    ----------
    topics : dict of str to Documents
        By topic, in the order of the names.
    distractors : Documents
        Documents of no topic; may be none.
    """

    topics: dict[str, Documents]
    distractors: Documents


@dataclass(frozen=True)
class Split:
    """One arrangement of a collection: which documents are copies of which.

    Documents stand in a seeded shuffle, so that the first so many of them are
    a fair sample.

    Parameters
    ----------
    topics : tuple of str
        Names of the topics.
    topic : ndarray of shape (n_documents,), dtype int64
        Place of each document's topic in `topics`; -1 for distractors.
    base : ndarray of shape (n_documents,), dtype int64
        For a copy the place of its original, for all others their own place.
    documents : Documents
        Each document as it came; for a copy its original.
    pool : tuple of str
        Texts that edits draw from; none of them is a document here.
    seed : int
        Of the edits.
    """

    topics: tuple[str, ...]
    topic: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]
    documents: Documents
    pool: tuple[str, ...]
    seed: int

    @property
    def untouched(self) -> npt.NDArray[np.bool_]:
        """Whether each document is as it came: an original or a distractor."""
        own: npt.NDArray[np.bool_] = self.base == np.arange(len(self.base))
        return own

    def first(self, count: int) -> npt.NDArray[np.int64]:
        """Return the places of `count` documents among which copies have their originals.

        Parameters
        ----------
        count : int
            At least 0, at most all documents.

        Returns
        -------
        ndarray of shape (count,), dtype int64
            In increasing order. At most one original is without its copy.
        """
        return np.sort(np.argsort(self.base, kind="stable")[:count])

    def table(self, copies: str, rate: float | None = None) -> pa.Table:
        """Return the documents with their copies.

        Parameters
        ----------
        copies : {"reposts", "edits"}
            Made by :class:`neardup.lab.RepostModel` or by
            :class:`neardup.lab.EditModel`.
        rate : float or None, default=None
            See :class:`neardup.lab.EditModel`; of edits only.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (string: the document's place), ``title`` and
            ``text``. A copy keeps the title of its original.
        """
        import pyarrow as pa

        model: EditModel | RepostModel
        if check_choice(copies, "copies", COPIES) == REPOSTS:
            model = RepostModel(seed=self.seed)
        else:
            model = EditModel(self.pool, seed=self.seed, rate=rate)
        texts = list(self.documents.texts)
        for at in np.flatnonzero(~self.untouched).tolist():
            texts[at] = model.copy(texts[at], self.documents.ids[at]).text
        return pa.table(
            {
                "id": pa.array(map(str, range(len(texts))), pa.large_string()),
                "title": pa.array(self.documents.titles, pa.large_string()),
                "text": pa.array(texts, pa.large_string()),
            }
        )


def read_collection(folder: str | Path, *, progress: Progress | None = None) -> Collection:
    """Return the collection in a folder.

    Parameters
    ----------
    folder : str or Path
        Its files ``*.jsonl``, plain or compressed (.gz, .zst), with the fields
        ``id``, ``title`` and ``text``; each but ``distractors`` is a topic of
        the file's name.
    progress : Progress or None, default=None
        Told of records without a usable text, which are left out.

    Returns
    -------
    Collection

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


def make_split(collection: Collection, split: str, *, seed: int = 0) -> Split:
    """Return one of the two splits of a collection.

    Parameters
    ----------
    collection : Collection
    split : {"test", "development"}
        The two share no original and no draw; distractors are the same.
    seed : int, default=0
        At least 0.

    Returns
    -------
    Split
        Of a topic with n documents, ``n // 2`` are originals and as many are
        copies.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    """
    check_whole(seed, "seed", 0)
    second = check_choice(split, "split", SPLITS) == SPLITS[1]
    ids: list[str] = []
    titles: list[str | None] = []
    texts: list[str] = []
    topic: list[int] = []
    base: list[int] = []
    pool: list[str] = []

    def add(name: str, documents: Documents, chosen: Sequence[int], place: int) -> None:
        ids.extend(f"{name}/{documents.ids[at]}" for at in chosen)
        titles.extend(documents.titles[at] for at in chosen)
        texts.extend(documents.texts[at] for at in chosen)
        topic.extend([place] * len(chosen))

    for place, (name, documents) in enumerate(collection.topics.items()):
        half = len(documents) // 2
        order = _generator(seed, f"halves {name}").permutation(len(documents)).tolist()
        chosen, others = order[:half], order[half:]
        if second:
            chosen, others = others[-half:], order[: len(documents) - half]
        begin = len(ids)
        for _ in ("originals", "copies"):
            base.extend(range(begin, begin + half))
            add(name, documents, chosen, place)
        pool.extend(documents.texts[at] for at in others)
    base.extend(range(len(ids), len(ids) + len(collection.distractors)))
    add(DISTRACTORS, collection.distractors, range(len(collection.distractors)), -1)

    order = _generator(seed, f"order {split}").permutation(len(ids))
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    listed = order.tolist()
    return Split(
        topics=tuple(collection.topics),
        topic=np.array(topic, np.int64)[order],
        base=place_of[np.array(base, np.int64)[order]].astype(np.int64),
        documents=Documents(
            tuple(ids[at] for at in listed),
            tuple(titles[at] for at in listed),
            tuple(texts[at] for at in listed),
        ),
        pool=tuple(pool),
        seed=2 * seed + second,
    )


def read_documents(
    inputs: Sequence[str | Path],
    *,
    format: str | None = None,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> tuple[Documents, int]:
    """Return the documents of files that have a text, and the number of problems met.

    Parameters
    ----------
    inputs, format, text, id, title
        As in :func:`neardup.dedup_files`.
    progress : Progress or None, default=None
        Told of each problem.

    Returns
    -------
    (Documents, int)

    Raises
    ------
    InputError
        If an input cannot be read.
    """
    from neardup._engine.ingest import Progress
    from neardup.readers import open_sources

    sources = open_sources(inputs, format=format, text_field=text, id_field=id, title_field=title)
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
        for its_id, its_title, its_text in zip(batch.ids, named, found, strict=True):
            if its_text is not None:
                ids.append(its_id)
                titles.append(its_title)
                texts.append(its_text)
    problems += sources.report_to(progress)
    return Documents(tuple(ids), tuple(titles), tuple(texts)), problems


def _generator(seed: int, key: str) -> np.random.Generator:
    digest = hashlib.blake2b(f"{seed}\n{key}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
