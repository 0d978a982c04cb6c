"""The dropped documents of a run as columns; a table is made where one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import TYPE_CHECKING, Any

from neardup.base.arrays import numbers_array
from neardup.base.lazy import NDArray, _core, np, pa
from neardup.readers.batch import in_pyarrow
from neardup.recipe.decisions import Decisions
from neardup.run.document_set import DocumentSet
from neardup.writers.rows import list_kinds, make_removed_table

if TYPE_CHECKING:
    from collections.abc import Sequence


class Removals:
    """The dropped documents, in input order; it holds neither texts nor sketches.

    Parameters
    ----------
    measure : str
        The measure of all similarities.
    has_against : bool
        Whether there is another collection.
    """

    def __init__(
        self, collected: DocumentSet, decided: Decisions, measure: str, *, has_against: bool
    ) -> None:
        documents, kept_for, similarity, distance, identical, sizes = decided.all.removals()
        self.documents = memoryview(documents).cast("q")
        self.kept_for = memoryview(kept_for).cast("q")
        self.similarity = memoryview(similarity).cast("d")
        self.distance = memoryview(distance).cast("i")
        self.identical = memoryview(identical)
        self.cluster_sizes = memoryview(sizes).cast("q")
        parts = collected.ids.parts()
        self.ids = _core.rows_of(parts, self.documents)
        self.kept_ids = _core.rows_of(parts, self.kept_for)
        self._measure, self._first, self._has_against = measure, collected.against, has_against
        self.repeated_ids = _count_repeated_ids(collected) if documents else 0
        #: Columns of titles, if the records have some.
        self.titles: Mapping[str, Any] = {}

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def others(self) -> memoryview:
        """The documents with another text than the kept one."""
        from array import array

        differs = (not same for same in self.identical)
        return memoryview(array("q", compress(self.documents, differs)))

    def least_similar(self, count: int) -> list[int]:
        """Return the rows of the lowest similarities below 1, the lowest first."""
        return _core.least_similar(self.similarity, count)

    def brief(self, row: int) -> dict[str, Any]:
        """Return the ids and the similarity of a row."""
        values = {"id": self.ids[row], "kept_id": self.kept_ids[row]}
        return {**values, "similarity": self.similarity[row]}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the dropped and the kept documents with what was found of them, in NumPy."""
        return {
            "number": np.asarray(self.documents),
            "kept": np.asarray(self.kept_for),
            "similarity": np.asarray(self.similarity),
            "distance": np.asarray(self.distance),
            "identical": np.asarray(self.identical).view(np.bool_),
        }

    def table(self) -> pa.Table:
        """Return a row for each dropped document, with the id of its kept document."""
        documents, kept_for, similarity, distance, identical = self.arrays().values()
        is_against = kept_for < self._first
        optional = {
            **self.titles,
            "cluster_size": numbers_array(np.asarray(self.cluster_sizes)),
            "kind": list_kinds(identical, similarity),
        }
        if self._has_against:
            optional["kept_from"] = [
                "against" if other else "input" for other in is_against.tolist()
            ]
        if self.repeated_ids:
            # The records of each collection are counted from 1.
            optional["record"] = documents - self._first + 1
            optional["kept_record"] = kept_for - np.where(is_against, 0, self._first) + 1
        return make_removed_table(
            in_pyarrow(self.ids),
            in_pyarrow(self.kept_ids),
            numbers_array(similarity),
            numbers_array(distance, distance < 0),
            self._measure,
            optional,
        )


def _count_repeated_ids(collected: DocumentSet) -> int:
    """Return how many records have the id of another record of the same collection."""
    first, repeated = collected.against, 0
    sides: list[Sequence[Any]] = [collected.ids.parts()]
    if first:
        column = collected.ids.column()
        sides = [column.slice(0, first).chunks, column.slice(first).chunks]
    for parts in sides:
        repeated += sum(map(len, parts)) - _core.count_distinct(parts)
    return repeated
