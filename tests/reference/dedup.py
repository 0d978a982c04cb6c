"""cluster and keep: the one rule for what is a duplicate, by trying all pairs.

Documents stand in priority order. A document is dropped if and only if its
similarity to a document before it that is kept is at least the threshold; it
points at the most similar such document, at the earliest if they tie. Documents of another
collection come first and are all kept.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Removal:
    """A dropped document, the kept one that stands for it, and how similar they are."""

    document: int
    kept: int
    similarity: float


def dedup(count, similarity, threshold, order=None, against=()):
    """Return (kept, removals) of `count` documents, both in input order.

    `similarity(a, b)` compares two documents by number; `order` lists the
    documents by priority, input order by default; those of `against` are of
    another collection, and not in `order`.

    >>> table = {(0, 3): 0.8, (1, 3): 0.9, (2, 3): 0.9}
    >>> dedup(4, lambda a, b: table.get((min(a, b), max(a, b)), 0.1), 0.8)[1]
    [Removal(document=3, kept=1, similarity=0.9)]
    """
    kept, removals = list(against), []
    for document in range(count) if order is None else order:
        compared = [(similarity(document, keeper), keeper) for keeper in kept]
        similar = [(value, keeper) for value, keeper in compared if value >= threshold]
        if similar:
            best = max(value for value, _ in similar)
            keeper = next(keeper for value, keeper in similar if value == best)
            removals.append(Removal(document, keeper, best))
        else:
            kept.append(document)
    return sorted(kept), sorted(removals, key=lambda removal: removal.document)
