"""The cases of an evaluation: labelled pairs at their places in a collection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.lab.datasets.collection import Documents
from neardup.lab.datasets.labels import Truth
from neardup.lab.metrics import Flags, Numbers

__all__ = ["Pairs", "components", "contradictions", "folds_of", "located", "sharing_documents"]


@dataclass(frozen=True)
class Pairs:
    """Labelled pairs of documents of a whole collection: `a` and `b` are their places in it."""

    documents: Documents
    a: Numbers
    b: Numbers

    def __len__(self) -> int:
        return len(self.a)

    def compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the documents that occur, and each pair as two places among them."""
        places, inverse = np.unique(np.concatenate([self.a, self.b]), return_inverse=True)
        a, b = np.split(inverse, 2)
        return places.tolist(), list(zip(a.tolist(), b.tolist(), strict=True))


def located(truth: Truth, documents: Documents) -> Pairs:
    """Return the labelled pairs with the places of their documents."""
    from neardup.readers.batch import show

    wanted = {id for pair in truth.pairs for id in (pair.id_a, pair.id_b)}
    place_of: dict[str, int] = {}
    several = set()
    for place, id in enumerate(documents.ids):
        if id in wanted and place_of.setdefault(id, place) != place:
            several.add(id)
    for pair in truth.pairs:
        for id in (pair.id_a, pair.id_b):
            where = {"file": truth.source, "line": pair.line}
            if id not in place_of:
                raise InputError(
                    Message(
                        "{file}: line {line}: must name documents of the input that have a "
                        "text. Got the unknown id '{id}' instead. Check whether these are the "
                        "labels of this input, or name the field of its ids with "
                        "{given[id_field]}.",
                        **where,
                        id=show(id),
                    )
                )
            if id in several:
                raise InputError(
                    Message(
                        "{file}: line {line}: must name documents of the input. Got the id "
                        "'{id}', which several documents have, instead. Name a field of "
                        "unique ids with {given[id_field]}.",
                        **where,
                        id=show(id),
                    )
                )
    a, b = ([place_of[getattr(p, name)] for p in truth.pairs] for name in ("id_a", "id_b"))
    return Pairs(documents, np.array(a, np.int64), np.array(b, np.int64))


def components(pairs: Pairs, is_joined: Flags) -> tuple[Numbers, Numbers]:
    """Return for the two documents of each pair the number of their component.

    Documents that some pairs join, directly or over others, are one component.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places, compared = pairs.compared()
    a, b = np.array(compared, np.int64).reshape(-1, 2).T
    joined = coo_array(
        (np.ones(int(is_joined.sum())), (a[is_joined], b[is_joined])), (len(places), len(places))
    )
    numbers = connected_components(joined, directed=False)[1].astype(np.int64)
    return numbers[a], numbers[b]


def contradictions(pairs: Pairs, is_true: Flags) -> int:
    """Return how many pairs are labelled as no duplicates and joined by labelled duplicates."""
    a, b = components(pairs, is_true)
    return int((a == b)[~is_true].sum())


def sharing_documents(pairs: Pairs) -> Numbers:
    """Return a number for each pair, from 0: pairs that share documents have the same one.

    If more than half of the pairs hang together, there is too little left to learn from
    without them, or to resample: then each pair has its own number.
    """
    of_pairs, _ = components(pairs, np.ones(len(pairs), np.bool_))
    if 2 * np.bincount(of_pairs).max() > len(pairs):
        return np.arange(len(pairs))
    return of_pairs


def folds_of(truth: Truth, units: Numbers) -> tuple[Numbers, str]:
    """Return which pairs are left out together: a ``group``, ``shared`` documents or a ``pair``."""
    names, numbers = np.unique([pair.group for pair in truth.pairs], return_inverse=True)
    if len(names) > 1:
        return numbers.astype(np.int64), "group"
    documents = {id for pair in truth.pairs for id in (pair.id_a, pair.id_b)}
    is_alone = len(np.unique(units)) == len(units) and len(documents) < 2 * len(units)
    return units, "pair" if is_alone else "shared"
