"""The persistent index: has this been seen before?

`Index` opens or makes one, in a file or a PostgreSQL database. Inside:

==============  ======================================================
``index``       the public class; its methods in ``additions``, ``questions``,
                ``removals`` and ``copies``; all else is behind it
``engine``      an open index: database, settings, what is ready
``results``     what is answered
``coming``      what callers and readers hand in; ``loading`` of collections
``adding``      a batch decided and stored in one transaction
``together``    documents of several callers in one transaction
``decide``      the rule among the documents of the store
``asking``      queries, explanations, clusters, sizes
``removing``    removal, expiry, decisions made again
``values``      what both databases can hold: ids, times, fields
``background``  what the texts of the index have in common
``settings``    recipe, threshold and the like, stored and compared
``dump``        a whole index as lines of JSON
``restoring``   an index made of such lines
``export``      the kept documents and the decisions as files of records
``passages``    what a paper check looks documents up by
``store``       every SQL statement but those of the four before; the most
                frequent compiled in ``statements``, lists in ``bulk``
``schema``      the tables
``database``    connections and transactions; the two kinds in ``sqlite`` and
                ``postgresql`` behind ``place``, their errors in ``failures``
==============  ======================================================
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
