"""Several libraries as one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from neardup.base.lazy import _core
from neardup.papers.library.interface import Library, LibraryDocument, split_positions


class CombinedLibrary(Library):
    """Several libraries as one, in order."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self._begins = [0, *accumulate(map(len, libraries))]
        self._libraries = libraries
        super().__init__(
            " + ".join(library.name for library in libraries),
            libraries[0].workers,
            documents=self._begins[-1],
            notes=[note for library in libraries for note in library.notes],
            problems=sum(library.problems for library in libraries),
            blank=all(library.blank for library in libraries),
            papers=libraries[-1].papers,
        )

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        candidates = [
            (begin + position, count)
            for begin, library in zip(self._begins, self._libraries, strict=False)
            for position, count in library.candidates(paper, least=least, limit=limit)
        ]
        candidates.sort(key=lambda candidate: (-candidate[1], candidate[0]))
        return candidates[:limit]

    def shingle_counts(self, paper: _core.Paper) -> list[tuple[int, int]]:
        """Return the documents of all libraries but the papers, which are not a library."""
        return [
            count
            for library in self._libraries
            if not library.papers
            for count in library.shingle_counts(paper)
        ]

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        for some in split_positions(positions):
            fetched: dict[int, LibraryDocument] = {}
            for begin, library in zip(self._begins, self._libraries, strict=False):
                inside = [
                    position - begin for position in some if 0 <= position - begin < len(library)
                ]
                for document in library.documents(inside):
                    position = begin + document.position
                    fetched[position] = replace(document, position=position)
            yield from (fetched[position] for position in some if position in fetched)

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
        return {
            begin + position
            for begin, library in zip(self._begins, self._libraries, strict=False)
            for position in library.positions_of(path)
        }

    def close(self) -> None:
        for library in self._libraries:
            library.close()


def combine_libraries(libraries: Sequence[Library]) -> Library:
    """Return several libraries as one; closing it closes them."""
    return libraries[0] if len(libraries) == 1 else CombinedLibrary(libraries)
