"""How near an index, which decides as documents arrive, comes to `dedup`."""

import hashlib
import tempfile
from pathlib import Path

import neardup
from accuracy_collections import NAMES, WORKERS, collection
from tables import table


def streams():
    """Return the section on the index."""
    lines = [
        [name, order, *cells(name, places)]
        for name in NAMES
        for order, places in orders(collection(name)).items()
    ]
    heading = ["collection", "order", "documents"]
    heading += ["kept by both", "by the index only", "by `dedup` only"]
    return f"""\
## 11. The index against `dedup`

`dedup` counts which shingles are common in the whole collection, and then decides. An index decides
on each document when it arrives, and counts the documents that it has after 100, 200, 400, ... of
them. Here each collection is added to a new index in three orders and compared with `dedup` of the
same documents in the same order.

{table(heading, lines, text=2)}

With a collection as its given background, an index keeps what `dedup` keeps.
"""


def orders(c):
    """Return the places of a collection's documents in several orders."""
    places = list(range(len(c.documents)))

    def digest(place):
        return hashlib.blake2b(c.documents[place]["id"].encode()).digest()

    return {
        "as in the file": places,
        "reversed": places[::-1],
        "by digest of the id": sorted(places, key=digest),
    }


def cells(name, places):
    """Return how many documents there are, and how many are kept by both or by one only."""
    c = collection(name)
    documents = c.table.take(places)
    batch = neardup.dedup(documents, recipe=c.recipe(), workers=WORKERS).keep
    with tempfile.TemporaryDirectory() as folder:
        location = Path(folder) / "index.db"
        with neardup.Index(location, recipe=c.recipe(), workers=WORKERS) as index:
            added = index.add_many(documents)
    if added.problems:
        raise RuntimeError(f"{name}: {added.problems[0]}")
    both, only_index, only_batch = (
        int(found.sum()) for found in (added.keep & batch, added.keep & ~batch, batch & ~added.keep)
    )
    return [f"{count:,}" for count in (len(places), both, only_index, only_batch)]
