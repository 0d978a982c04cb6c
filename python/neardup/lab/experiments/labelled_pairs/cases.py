"""The cases of an evaluation: labelled pairs at their places in a collection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.lab.datasets.collection import Documents
from neardup.lab.datasets.labels import Truth
from neardup.lab.scores import Flags, Numbers
from neardup.readers.batch import show


@dataclass(frozen=True)
class Cases:
    """Labelled pairs of documents of a whole collection: `a` and `b` are their places in it."""

    truth: Truth
    documents: Documents
    a: Numbers
    b: Numbers

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the two documents of each pair."""
        return list(zip(self.a.tolist(), self.b.tolist(), strict=True))

    @property
    def is_true(self) -> Flags:
        """Whether each pair is labelled as duplicate."""
        return np.array([pair.duplicate for pair in self.truth.pairs], np.bool_)


def locate_pairs(truth: Truth, documents: Documents) -> Cases:
    """Return the labelled pairs with the places of their documents."""
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
                        "{file}: line {line}: must name documents of the input, not the unknown "
                        "id '{id}'. Check the labels, or name the field of the ids with "
                        "{given[id_field]}.",
                        **where,
                        id=show(id),
                    )
                )
            if id in several:
                raise InputError(
                    Message(
                        "{file}: line {line}: must name one document, and several have the id "
                        "'{id}'. Name a field of unique ids with {given[id_field]}.",
                        **where,
                        id=show(id),
                    )
                )
    a, b = ([place_of[getattr(p, name)] for p in truth.pairs] for name in ("id_a", "id_b"))
    return Cases(truth, documents, np.array(a, np.int64), np.array(b, np.int64))


def _number_components(cases: Cases, is_joined: Flags) -> Numbers:
    """Return the number of each document's component: what some pairs join, also over others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(cases.documents)
    ends = (cases.a[is_joined], cases.b[is_joined])
    joined = coo_array((np.ones(len(ends[0])), ends), (count, count))
    numbers: Numbers = connected_components(joined, directed=False)[1].astype(np.int64)
    return numbers


def count_contradictions(cases: Cases) -> int:
    """Return how many pairs are labelled as no duplicates and joined by labelled duplicates."""
    component = _number_components(cases, cases.is_true)
    return int((component[cases.a] == component[cases.b])[~cases.is_true].sum())


def number_units(cases: Cases) -> Numbers:
    """Return a number for each pair, from 0: pairs that share documents have the same one.

    If more than half of the pairs hang together, too little is left without them to learn or
    resample from. Then each pair has its own number.
    """
    component = _number_components(cases, np.ones(len(cases.a), np.bool_))
    _, units, sizes = np.unique(component[cases.a], return_inverse=True, return_counts=True)
    if 2 * sizes.max() > len(units):
        return np.arange(len(units))
    return units.astype(np.int64)


def choose_folds(truth: Truth, units: Numbers) -> tuple[Numbers, str]:
    """Return which pairs are left out together: a ``group``, ``shared`` documents or a ``pair``."""
    names, numbers = np.unique([pair.group for pair in truth.pairs], return_inverse=True)
    if len(names) > 1:
        return numbers.astype(np.int64), "group"
    documents = {id for pair in truth.pairs for id in (pair.id_a, pair.id_b)}
    is_alone = len(np.unique(units)) == len(units) and len(documents) < 2 * len(units)
    return units, "pair" if is_alone else "shared"
