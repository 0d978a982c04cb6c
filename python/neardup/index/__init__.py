"""The persistent index: has this been seen before?

==============  ======================================================
``index``       the public class: opens, checks, writes out
``ingest``      its methods that add, and a batch decided and stored
``query``       its methods that ask
``retention``   its methods that remove, expire and decide again
``engine``      an open index: database, settings, what is ready
``decide``      the rule of `dedup` among the documents of the store
``background``  what the texts of the index have in common
``sketches``    sketches of texts and of stored documents
``export``      an index as files of records, or all of it; ``restore`` reads that
``integrity``   whether an index agrees with itself; ``repair`` corrects it
``passages``    what a paper check looks documents up by
``results``     what is answered
``settings``    recipe, threshold and the like, stored and compared
``values``      what both databases can hold: ids, times, fields
``schema``      the tables; ``store`` has the statements
``backends``    connections and transactions of SQLite and PostgreSQL
==============  ======================================================

What is imported with this package loads neither SQLAlchemy nor Arrow: the methods of `Index`
load the rest when they are called.
"""

from neardup.index.index import Index
from neardup.index.results import (
    Added,
    Cluster,
    Decision,
    Document,
    Event,
    Explanation,
    Match,
    NewDocument,
    Removed,
    Stats,
)

__all__ = [
    "Added",
    "Cluster",
    "Decision",
    "Document",
    "Event",
    "Explanation",
    "Index",
    "Match",
    "NewDocument",
    "Removed",
    "Stats",
]
