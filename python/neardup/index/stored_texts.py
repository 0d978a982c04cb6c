"""The kept documents of an index, as the other collection of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import ParameterError
from neardup.index.schema import documents, documents_with_texts
from neardup.index.values import KEPT
from neardup.readers.batch import BATCH_BYTES, BATCH_RECORDS, Batch, regroup

if TYPE_CHECKING:
    from neardup.base.progress import Progress
    from neardup.index.engine import Engine

#: Documents that are fetched together.
_TOGETHER = 1000


class StoredTexts:
    """The documents that an index keeps, read as often as wanted like the sources of a run.

    Each pass reads one snapshot: what is added meanwhile is not in it.
    """

    def __init__(self, engine: Engine, parameter: str) -> None:
        self._engine = engine
        if self._engine.settings.store != "text":
            location = self._engine.location
            raise ParameterError(
                Message(
                    "{parameter:named} must be an index that stores texts. Got {index}, "
                    "which stores no texts, instead.",
                    code="no_texts_stored",
                    parameter=parameter,
                    index=location,
                )
            )

    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
        """Read the documents in the order in which they were added; see `Sources.batches`."""
        return regroup(self._chunks(bool(titles)), BATCH_BYTES, BATCH_RECORDS)

    def _chunks(self, titles: bool) -> Iterator[Batch]:
        kept = documents_with_texts.where(documents.c.state == KEPT).order_by(documents.c.number)
        with self._engine.reading() as session:
            for part in session.stream(kept, _TOGETHER):
                rows = session.sound(part)
                texts = pa.array([session.text(row) for row in rows], pa.large_string())
                named = pa.array([row["title"] for row in rows], pa.large_string())
                yield Batch(
                    texts=texts,
                    ids=pa.array([row["id"] for row in rows], pa.large_string()),
                    titles=named if titles else None,
                    bytes_read=texts.nbytes,
                )

    def found(self) -> dict[str, Any]:
        """Return what a resumed run needs to know; nothing."""
        return {}

    def recall(self, found: dict[str, Any]) -> None:
        """Take what an earlier run `found`."""

    def report_to(self, progress: Progress) -> int:
        """Report no problems: a damaged document ends the run."""
        del progress
        return 0
