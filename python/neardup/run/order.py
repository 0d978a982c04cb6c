"""The documents that are compared, in the order in which they are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.base.priority import fields_of, priority_order

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.readers import Batch
    from neardup.run.collected import Collected


class Order:
    """What the order depends on, of the documents read so far."""

    def __init__(self, priority: str, min_length: int | None) -> None:
        self._priority = priority
        self._least = min_length
        self._lengths: list[NDArray[np.int64]] = []
        self._values: dict[str, list[Any]] = {name: [] for name in fields_of(priority)}
        #: By batches, which documents are too short to be compared.
        self._is_short: list[NDArray[np.bool_]] = []

    def add_sketched(self, count: int) -> None:
        """Add sketched documents of another collection: short ones are compared too."""
        import numpy as np

        self._is_short.append(np.zeros(count, np.bool_))

    def add_other(self, batch: Batch) -> None:
        """Add documents of another collection, which come first."""
        if self._least is not None:
            self._is_short.append(_are_shorter(batch.texts, self._least))

    def add(self, batch: Batch) -> None:
        """Add documents of the input."""
        self.add_other(batch)
        if "longest" in self._priority.split(","):
            import pyarrow.compute as pc  # slow to import

            characters: Any = pc.utf8_length(batch.texts)
            self._lengths.append(characters.fill_null(0).to_numpy(zero_copy_only=False))
        for name, column in self._values.items():
            column.extend(batch.values(name))

    def of(self, collected: Collected) -> NDArray[np.uint32]:
        """Return the readable documents that are compared, in their order."""
        import numpy as np

        is_readable, against = collected.corpus.features() >= 0, collected.against
        own = priority_order(self._priority, is_readable[against:], self._lengths, self._values)
        first = np.flatnonzero(is_readable[:against]).astype(np.uint32)
        order = np.concatenate([first, own + np.uint32(against)])
        if self._least is not None:
            order = order[~np.concatenate([np.zeros(0, np.bool_), *self._is_short])[order]]
        return order


def _are_shorter(texts: pa.LargeStringArray, least: int) -> NDArray[np.bool_]:
    """Return which texts have fewer letters and digits."""
    import pyarrow.compute as pc

    letters: Any = pc.replace_substring_regex(texts, r"[^\pL\pN]+", "")
    lengths: Any = pc.fill_null(pc.utf8_length(letters), 0)
    shorter: NDArray[np.bool_] = lengths.to_numpy(zero_copy_only=False) < least
    return shorter
