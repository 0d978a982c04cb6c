"""A corpus that was read, with what a run knows of its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup.recipe import Recipe
from neardup.run.id_spool import Ids

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.readers import Problem


@dataclass
class Collected:
    """A corpus of sketches, and the other data of its records."""

    recipe: Recipe
    corpus: _core.Corpus
    #: Documents of another collection, which come first and are kept in any case.
    against: int = 0
    ids: Ids = field(default_factory=Ids)
    lengths: list[NDArray[np.int64]] = field(default_factory=list)
    values: dict[str, list[Any]] = field(default_factory=dict)
    #: Readable documents, in priority order.
    order: Any = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    bytes_read: int = 0
    #: The counts of all shingles, if they are kept.
    counted: bytes | None = None

    def id_column(self) -> pa.ChunkedArray[Any]:
        """All ids, in input order."""
        return self.ids.column()

    def recipe_id(self) -> str:
        """The recipe's id, with a digest of the frequencies that the corpus gave."""
        digest = self.corpus.frequencies_digest()
        return self.recipe.id if digest is None else f"{self.recipe.id}-{digest:016x}"

    def texts(self, documents: list[int]) -> dict[int, str]:
        """Return the normalized texts of documents, as far as they are kept."""
        found = {one: self.corpus.texts(one, one + 1) for one in documents}
        return {one: text[0].as_py() for one, text in found.items()}

    def features(self) -> NDArray[np.int64]:
        """Number of features of each document; -1 if it could not be read."""
        return self.corpus.features()
