"""The documents that are compared, in the order in which they are decided."""

from __future__ import annotations

from typing import Any

from neardup.base.lazy import NDArray, np
from neardup.base.priority import fields_of, priority_order
from neardup.readers import Batch
from neardup.run.document_set import DocumentSet
from neardup.run.lengths import have_bounds, leave_alone, sides_of
from neardup.run.run_options import RunOptions


class Order:
    """The fields of the documents read so far that decide the order."""

    def __init__(self, options: RunOptions) -> None:
        self._options, self._priority = options, options.priority
        self._lengths: list[NDArray[np.int64]] = []
        self._values: dict[str, list[Any]] = {name: [] for name in fields_of(options.priority)}
        #: By batches, which documents are too short (-1) or too long (1) to be compared.
        self._sides: list[NDArray[np.int8]] = []

    def add_sketched(self, count: int) -> None:
        """Add sketched documents of another collection, which are compared at any length."""
        self._sides.append(np.zeros(count, np.int8))

    def add_other(self, batch: Batch) -> None:
        """Add documents of another collection, which come first."""
        if have_bounds(self._options):
            self._sides.append(sides_of(batch.texts, self._options))

    def add(self, batch: Batch) -> None:
        """Add documents of the input."""
        self.add_other(batch)
        if "longest" in self._priority.split(","):
            import pyarrow.compute as pc  # slow to import

            characters: Any = pc.utf8_length(batch.texts)
            self._lengths.append(characters.fill_null(0).to_numpy(zero_copy_only=False))
        for name, column in self._values.items():
            column.extend(batch.values(name))

    def of(self, collected: DocumentSet) -> NDArray[np.uint32] | memoryview:
        """Return the readable documents that are compared, in their order."""
        if self._priority == "first" and not have_bounds(self._options):
            return memoryview(collected.corpus.readable()).cast("I")
        is_readable, against = collected.corpus.features() >= 0, collected.against
        own = priority_order(self._priority, is_readable[against:], self._lengths, self._values)
        first = np.flatnonzero(is_readable[:against]).astype(np.uint32)
        order = np.concatenate([first, own + np.uint32(against)])
        if have_bounds(self._options):
            sides = np.concatenate([np.zeros(0, np.int8), *self._sides])
            order = leave_alone(collected, order, sides)
        return order
