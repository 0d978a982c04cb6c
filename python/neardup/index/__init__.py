"""The persistent index: has this been seen before?

Importing this package does not load SQLAlchemy: `Index` loads it when an index is opened.
"""

from neardup.index.copies import restore
from neardup.index.index import Index
from neardup.index.results import (
    AddResult,
    Cluster,
    Decision,
    Document,
    Event,
    Explanation,
    Match,
    NewDocument,
    Removal,
    RemovalFilter,
    RemoveResult,
    Stats,
)

__all__ = [
    "AddResult",
    "Cluster",
    "Decision",
    "Document",
    "Event",
    "Explanation",
    "Index",
    "Match",
    "NewDocument",
    "Removal",
    "RemovalFilter",
    "RemoveResult",
    "Stats",
    "restore",
]
