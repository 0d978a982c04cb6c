"""The cases of the published comparison: originals by topic, their copies, distractors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.base.lazy import pa
from neardup.lab.datasets.collection import DISTRACTORS, Collection, Documents, Places
from neardup.lab.datasets.draws import make_generator
from neardup.lab.datasets.edit_model import EditModel
from neardup.lab.datasets.reposts import RepostModel
from neardup.lab.scores import Flags

REPOSTS = "reposts"


@dataclass(frozen=True)
class Cases:
    """Documents of a collection, and the original of each copy.

    Documents are in the order of a seeded shuffle, so that the first N of them are a fair sample.
    `topic` is the place of each one's topic in `topics`, -1 for distractors; `base` is its own
    place, and for a copy the place of its original. In `documents` a copy is its original; edits
    draw from `pool`, by `seed`.
    """

    topics: tuple[str, ...]
    topic: Places
    base: Places
    documents: Documents
    pool: tuple[str, ...]
    seed: int

    @property
    def untouched(self) -> Flags:
        """Whether each document is unchanged: an original or a distractor."""
        return np.equal(self.base, np.arange(len(self.base)))

    @property
    def true_pairs(self) -> int:
        """Number of pairs of a copy and its original."""
        return int((~self.untouched).sum())

    def take_first(self, count: int) -> Places:
        """Return `count` places in order; at most one original is without its copy."""
        return np.sort(np.argsort(self.base, kind="stable")[:count])

    def make_table(self, copies: str, rate: float | None = None) -> pa.Table:
        """Return the documents with re-posts or edited copies, each with its original's title."""
        model: EditModel | RepostModel
        if copies == REPOSTS:
            model = RepostModel(seed=self.seed)
        else:
            model = EditModel(self.pool, seed=self.seed, rate=rate)
        texts = list(self.documents.texts)
        for place in np.flatnonzero(~self.untouched).tolist():
            texts[place] = model.copy(texts[place], self.documents.ids[place])
        return self.documents.to_table(texts)


def make_cases(collection: Collection, *, seed: int = 0) -> Cases:
    """Return the cases of a collection.

    Each topic is cut in two halves by a seeded shuffle. ``n // 2`` of n documents are originals.
    One copy of each takes the place of the other half, whose texts are what edits draw their
    material from.
    """
    rows: list[tuple[str, str | None, str]] = []
    topic: list[int] = []
    base: list[int] = []
    pool: list[str] = []

    def add(name: str, documents: Documents, places: Sequence[int], number: int) -> None:
        rows.extend(
            (f"{name}/{documents.ids[place]}", documents.titles[place], documents.texts[place])
            for place in places
        )
        topic.extend([number] * len(places))

    for number, (name, documents) in enumerate(collection.topics.items()):
        half = len(documents) // 2
        order = make_generator(f"{seed}\nhalves {name}").permutation(len(documents)).tolist()
        begin = len(rows)
        for _ in ("originals", "copies"):
            base.extend(range(begin, begin + half))
            add(name, documents, order[:half], number)
        pool.extend(documents.texts[place] for place in order[half:])
    base.extend(range(len(rows), len(rows) + len(collection.distractors)))
    add(DISTRACTORS, collection.distractors, range(len(collection.distractors)), -1)

    shuffled = make_generator(f"{seed}\norder test").permutation(len(rows))
    place_of = np.empty_like(shuffled)
    place_of[shuffled] = np.arange(len(shuffled))
    return Cases(
        topics=tuple(collection.topics),
        topic=np.array(topic, np.int64)[shuffled],
        base=place_of[np.array(base, np.int64)[shuffled]].astype(np.int64),
        documents=Documents.from_rows(rows[place] for place in shuffled.tolist()),
        pool=tuple(pool),
        # Even: the draws of the copies that the accuracy page quotes.
        seed=2 * seed,
    )
