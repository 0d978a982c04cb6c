"""The questions that all libraries answer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from neardup.base.lazy import _core

#: Fields that describe a source in a report, beside its title.
DESCRIBING = ("author", "year", "journal")

#: Texts that are fetched together.
_TOGETHER = 64


@dataclass(frozen=True)
class LibraryDocument:
    """A document of a library.

    Parameters
    ----------
    position : int
        Position in the library, from 0.
    id : str
    title : str or None
    text : str
    fields : dict of str to str
        Those of `DESCRIBING` that an index stores with it.
    """

    position: int
    id: str
    title: str | None
    text: str
    fields: dict[str, str] = field(default_factory=dict)


class Library(ABC):
    """Documents that papers are compared with. Made by :func:`open_library`.

    Attributes
    ----------
    name : str
        The name, as given.
    notes : list of str
        Notes on the reading of its files.
    problems : int
        Number of documents that could not be read.
    blank : bool
        Whether it is known that no document has letters or digits.
    papers : int
        Number of its last documents that are papers, which are compared with each other.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        *,
        documents: int = 0,
        notes: Sequence[str] = (),
        problems: int = 0,
        blank: bool = False,
        papers: int = 0,
    ) -> None:
        self.name = name
        self.workers = workers
        self.notes = list(notes)
        self.problems = problems
        self.blank = blank
        self.papers = papers
        self._documents = documents
        self._core: _core.Library | None = None

    def facts(self) -> dict[str, Any]:
        """Return what another view of this library is made with."""
        names = ("name", "workers", "notes", "problems", "blank", "papers")
        return {name: getattr(self, name) for name in names} | {"documents": len(self)}

    def __len__(self) -> int:
        return self._documents

    @property
    def readable(self) -> int:
        """Number of documents that could be read."""
        return len(self) - self.problems

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        """Return the positions of documents that may have a passage in common with a paper.

        Each is with its number of shared shingles, the largest number first.
        """
        return [] if self._core is None else self._core.sources(paper, least=least, limit=limit)

    def shingle_counts(self, paper: _core.Paper) -> list[tuple[int, int]]:
        """Return places of a paper, each with how many documents have the shingle there."""
        return [] if self._core is None else self._core.counts(paper)

    @abstractmethod
    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        """Yield documents, in the order of `positions`."""

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
        """Return the positions of a file in the library."""
        del path
        return set()

    def close(self) -> None:  # noqa: B027 - a view of a library has nothing to close
        """Close the library."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def split_positions(positions: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the positions of the texts that are fetched together."""
    for begin in range(0, len(positions), _TOGETHER):
        yield positions[begin : begin + _TOGETHER]
