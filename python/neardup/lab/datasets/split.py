"""The documents of an experiment: originals by topic, their copies, distractors.

Each topic's documents are cut in two halves by a seeded shuffle. On the
*test* split the first half are originals; on the *development* split the
second half are. The other half does not take part: one copy of each original
takes its place, and its texts are what edits draw their material from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup.base.validation import check_choice, check_whole
from neardup.lab.datasets.collection import DISTRACTORS, Collection, Documents
from neardup.lab.datasets.draws import keyed_generator
from neardup.lab.datasets.edit_model import EditModel
from neardup.lab.datasets.reposts import RepostModel

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COPIES",
    "REPOSTS",
    "Split",
    "make_split",
]

REPOSTS = "reposts"
#: How copies can be made.
COPIES = (REPOSTS, "edits")

#: Which half of a topic are the originals.
SPLITS = ("test", "development")


@dataclass(frozen=True)
class Split:
    """One arrangement of a collection: which documents are copies of which.

    Documents are in the order of a seeded shuffle, so that the first N of them are
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
        Each document as it was read; for a copy its original.
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
        """Whether each document is unchanged: an original or a distractor."""
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
        order = keyed_generator(f"{seed}\nhalves {name}").permutation(len(documents)).tolist()
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

    order = keyed_generator(f"{seed}\norder {split}").permutation(len(ids))
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
