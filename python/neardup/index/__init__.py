"""The persistent index: has this been seen before?

==============  ======================================================
``index``       the public class: opens, checks, exports
``ingest``      its methods that add documents; how a batch is decided and stored
``query``       its methods that only read
``retention``   its methods that remove, expire and reconsider documents
``engine``      an open index: database, settings, deciders
``decide``      the rule of `dedup`, applied against the stored documents
``background``  statistics of text that many documents of the index share
``sketches``    sketches of texts and of stored documents
``export``      writes records or a full dump; ``restore`` reads a dump
``integrity``   finds damage in an index; ``repair`` corrects it
``passages``    the shingles by which a paper check finds documents; ``shingle_runs`` sorts them
                into the files of ``shingle_files``
``results``     the types that methods return
``settings``    recipe, threshold and other settings, stored and compared
``values``      what both databases can hold: ids, times, fields
``schema``      the tables; ``store`` has the statements
``backends``    connections and transactions of SQLite and PostgreSQL
==============  ======================================================

Importing this package loads neither SQLAlchemy nor Arrow: the methods of `Index` load them when
they are called.
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
