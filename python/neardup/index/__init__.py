"""The persistent index: has this been seen before?

==============  ======================================================
``index``       the public class; its methods call the modules below
``ingest``      adds documents: reads, checks, decides and stores batches
``query``       reads documents and clusters
``retention``   removes, expires, keeps and reconsiders documents
``engine``      an open index: database, settings, deciders
``decide``      the rule of `dedup`, applied against the stored documents
``background``  statistics of text that many documents of the index share
``export``      writes records; ``dump`` writes a whole index and restores it
``integrity``   finds damage; ``rebuild`` copies what can be read into a new index
``shingles``    the shingles by which a paper check finds documents, in files
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
