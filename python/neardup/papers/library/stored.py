"""A persistent index as a library. It stores the sketches of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from neardup.base.progress import Progress
from neardup.papers.alignment import get_aligner
from neardup.papers.library.interface import DESCRIBING, Library, LibraryDocument, split_positions

if TYPE_CHECKING:
    from neardup.index import Index

#: Changes whenever the shingles of a text change.
_FORMAT = 3


class IndexLibrary(Library):
    """A persistent index, which stores the sketches of its documents."""

    def __init__(self, index: Index, workers: int, progress: Progress, *, owned: bool) -> None:
        import pyarrow as pa

        from neardup.index.shingles import collect_shingles

        engine = index._engine
        super().__init__(engine.location, workers)
        self._index, self._engine, self._owned = index, engine, owned
        core = get_aligner()

        def sketch(texts: list[str]) -> list[bytes]:
            return core.sketches(pa.array(texts, pa.large_string()), workers=workers)

        shingles = collect_shingles(
            engine, str(_FORMAT), sketch, workers=workers, progress=progress
        )
        self._numbers, self._core = shingles.numbers, shingles.library
        self._documents = len(self._numbers)

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        from neardup.index.shingles import read_texts

        for some in split_positions(positions):
            numbers: list[int] = self._numbers[some].tolist()
            rows = read_texts(self._engine, numbers)
            for position, number in zip(some, numbers, strict=True):
                # One that was removed meanwhile is no source any more.
                if number in rows:
                    row, text, extra = rows[number]
                    fields = {
                        name: _format_value(extra[name]) for name in DESCRIBING if extra.get(name)
                    }
                    yield LibraryDocument(position, row["id"], row["title"], text, fields)

    def close(self) -> None:
        if self._owned:
            self._index.close()


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
