"""Libraries: the documents that a paper is compared with.

Winnowed shingles of files are in memory, about two bytes per Chinese character, those of an index
in files beside it. Texts are on disk, and only those of candidates are fetched.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from neardup.base.messages import N_, Message
from neardup.base.progress import Progress, check_progress, share_of
from neardup.base.validation import FormatName, check_workers, is_index, paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.papers.align import aligner

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup import _core
    from neardup.index import Index
    from neardup.index.engine import Engine

#: Fields that describe a source in a report, beside its title.
DESCRIBING = ("author", "year", "journal")

#: Texts that are fetched together.
_TOGETHER = 64

#: Largest number of unreadable files that a note names.
_NAMED = 3

#: Changes whenever the shingles of a text change.
_FORMAT = 3


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

    def __init__(self, name: str, workers: int) -> None:
        self.name = name
        self.notes: list[str] = []
        self.problems = 0
        self.blank = False
        self.papers = 0
        self.workers = workers
        self._core: _core.Library | None = None
        self._documents = 0

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

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        """Yield documents, in the order of `positions`."""
        for begin in range(0, len(positions), _TOGETHER):
            yield from self._fetched(positions[begin : begin + _TOGETHER])

    @abstractmethod
    def _fetched(self, positions: Sequence[int]) -> list[LibraryDocument]: ...

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
        """Return the positions of a file in the library."""
        del path
        return set()

    @abstractmethod
    def close(self) -> None:
        """Close the library."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Texts(Library):
    """Texts, sketched when the library is opened."""

    def __init__(self, name: str, workers: int) -> None:
        super().__init__(name, workers)
        import tempfile

        import zstandard

        self.blank = True
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115
        self._unpack = zstandard.ZstdDecompressor().decompress
        self._places: list[tuple[int, int]] = []
        self._ids: list[str] = []
        self._titles: list[str | None] = []
        self._files: list[str | None] = []
        self._sketches: list[bytes] = []
        self._pack = zstandard.ZstdCompressor(level=1).compress

    def _add(
        self,
        texts: pa.LargeStringArray,
        ids: Sequence[str],
        titles: Sequence[str | None],
        files: Sequence[str | None],
    ) -> None:
        core = aligner()
        self._sketches += core.sketches(texts, workers=self.workers)
        self._ids += ids
        self._titles += titles
        self._files += files
        for text in texts.to_pylist():
            self.blank = self.blank and not any(map(str.isalnum, text or ""))
            packed = self._pack((text or "").encode())
            self._places.append((self._spool.tell(), len(packed)))
            self._spool.write(packed)

    def _file(self) -> None:
        """File the sketches of all texts."""
        import numpy as np

        from neardup import _core

        filed, fence = _core.file_sketches(self._sketches, workers=self.workers)
        self._documents = len(self._sketches)
        self._sketches = []
        self._core = _core.Library([(filed, fence, np.arange(self._documents, dtype=np.uint32))])

    def _fetched(self, positions: Sequence[int]) -> list[LibraryDocument]:
        documents = []
        for position in positions:
            begin, length = self._places[position]
            self._spool.seek(begin)
            text = self._unpack(self._spool.read(length)).decode()
            document = LibraryDocument(position, self._ids[position], self._titles[position], text)
            documents.append(document)
        return documents

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
        from neardup.readers.archives import archive_of

        # A record of a table is no file, and equal names may be in different folders.
        try:
            name = os.path.basename(path)
            return {
                position
                for position, file in enumerate(self._files)
                if file is not None
                and os.path.basename(file) == name
                and (
                    os.path.samefile(file, path)
                    if os.path.exists(file)
                    else file == path and archive_of(file) is not None
                )
            }
        except OSError:
            return set()

    def close(self) -> None:
        self._spool.close()


class _Files(_Texts):
    """Files and folders, read when the library is opened."""

    def __init__(
        self,
        inputs: Sequence[str | Path],
        workers: int,
        progress: Progress,
        **reading: Any,
    ) -> None:
        super().__init__(", ".join(os.fspath(path) for path in inputs), workers)
        try:
            self._read(inputs, progress, **reading)
        except BaseException:
            self.close()
            raise

    def _read(self, inputs: Sequence[str | Path], progress: Progress, **reading: Any) -> None:
        from neardup.readers import open_sources
        from neardup.readers.batch import strings
        from neardup.readers.grouped import Grouped

        unreadable: list[str] = []
        lost = Grouped()
        sources = open_sources(inputs, **reading, only_text_in_folders=True)
        progress.stage("library", None, share_of(sources))
        for batch in sources.batches(titles=True):
            for row, problem in batch.row_problems:
                progress.problem(problem)
                if row < len(batch) and batch.texts[row].is_valid:
                    lost.add(problem)
                    continue
                self.problems += problem.count
                unreadable += [problem.source] if problem.source not in unreadable[-1:] else []
            titles = [None] * len(batch) if batch.titles is None else batch.titles.to_pylist()
            files: list[str | None] = [None] * len(batch)
            for row, source, _ in batch.runs:
                files[row] = source
            self._add(batch.texts, strings(batch.ids), titles, files)
            progress.advance(len(batch), batch.bytes_read)
        lines = (line for line, _ in lost.lines())
        self.notes += [*lines, *(p.message for p in sources.problems), *sources.notes]
        if self.problems:
            names = ", ".join(unreadable[:_NAMED]) + (", ..." if len(unreadable) > _NAMED else "")
            self.notes.append(
                Message.counted(
                    "1 document of the library could not be read: {names}.",
                    "{count:,} documents of the library could not be read: {names}.",
                    count=self.problems,
                    names=names,
                )
            )
        self._file()


class _Stored(Library):
    """A persistent index, which stores the sketches of its documents."""

    def __init__(self, index: Index, workers: int, progress: Progress, *, owned: bool) -> None:
        import pyarrow as pa

        from neardup.index.shingles import stored_shingles

        engine = index._engine
        super().__init__(engine.location, workers)
        self._index, self._engine, self._owned = index, engine, owned
        core = aligner()

        def sketch(texts: list[str]) -> list[bytes]:
            return core.sketches(pa.array(texts, pa.large_string()), workers=workers)

        shingles = stored_shingles(engine, str(_FORMAT), sketch, workers=workers, progress=progress)
        self._numbers, self._core = shingles.numbers, shingles.library
        self._documents = len(self._numbers)

    def _fetched(self, positions: Sequence[int]) -> list[LibraryDocument]:
        from neardup.index.shingles import texts_of

        engine: Engine = self._engine
        numbers: list[int] = self._numbers[positions].tolist()
        rows = texts_of(engine, numbers)
        # One that was removed meanwhile is no source any more.
        return [
            LibraryDocument(position, row["id"], row["title"], text, described)
            for position, number in zip(positions, numbers, strict=True)
            if number in rows
            for row, text, extra in [rows[number]]
            for described in [{name: _shown(extra[name]) for name in DESCRIBING if extra.get(name)}]
        ]

    def close(self) -> None:
        if self._owned:
            self._index.close()


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class _Several(Library):
    """Several libraries as one, in order."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        super().__init__(" + ".join(library.name for library in libraries), libraries[0].workers)
        self._libraries = libraries
        self._begins = [0, *accumulate(map(len, libraries))]
        self.notes = [note for library in libraries for note in library.notes]
        self.problems = sum(library.problems for library in libraries)
        self.blank = all(library.blank for library in libraries)
        self.papers = libraries[-1].papers

    def __len__(self) -> int:
        return self._begins[-1]

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        candidates = [
            (begin + position, count)
            for begin, library in zip(self._begins, self._libraries, strict=False)
            for position, count in library.candidates(paper, least=least, limit=limit)
        ]
        candidates.sort(key=lambda candidate: (-candidate[1], candidate[0]))
        return candidates[:limit]

    def shingle_counts(self, paper: _core.Paper) -> list[tuple[int, int]]:
        """Return those of all libraries but the papers, which are no library."""
        return [
            count
            for library in self._libraries
            if not library.papers
            for count in library.shingle_counts(paper)
        ]

    def _fetched(self, positions: Sequence[int]) -> list[LibraryDocument]:
        fetched: dict[int, LibraryDocument] = {}
        for begin, library in zip(self._begins, self._libraries, strict=False):
            mine = [
                position - begin for position in positions if 0 <= position - begin < len(library)
            ]
            for document in library.documents(mine):
                position = begin + document.position
                fetched[position] = replace(document, position=position)
        return [fetched[position] for position in positions if position in fetched]

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
        return {
            begin + position
            for begin, library in zip(self._begins, self._libraries, strict=False)
            for position in library.positions_of(path)
        }

    def close(self) -> None:
        for library in self._libraries:
            library.close()


def joined(libraries: Sequence[Library]) -> Library:
    """Return several libraries as one; closing it closes them."""
    return libraries[0] if len(libraries) == 1 else _Several(libraries)


def library_of(papers: Sequence[tuple[str, str, str | None, str]], workers: int) -> Library:
    """Return the library of papers: of the id, name, file, if there is one, and text of each."""
    import pyarrow as pa

    library = _Texts("papers", workers)
    ids, names, files, texts = zip(*papers, strict=True) if papers else ((), (), (), ())
    library._add(pa.array(texts, pa.large_string()), ids, names, files)
    library._file()
    library.papers = len(papers)
    return library


def open_library(
    library: str | Path | Sequence[str | Path] | Index | Library,
    *,
    format: FormatName | None = None,
    encoding: str | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Library:
    """Open the documents that papers are compared with.

    Parameters
    ----------
    library : str, Path, list of str or Path, Index or Library
        Files in every format that :func:`neardup.readers.open_sources` reads, and folders of
        text files; or a persistent index, open or by its location (a file made by
        :class:`neardup.Index`, or ``postgresql://...``). An open library is returned
        unchanged.
    format : {'text'} or None, default=None
        Format of files whose extension is unknown, such as source code. By default they are
        refused, and skipped in folders.
    encoding : str or None, default=None
        Encoding of text files, tables and JSON lines, such as gb18030. By default detected.
    workers : int, default=0
        Threads; 0 means one for each processor.
    progress : Progress or None, default=None
        Receives the progress.

    Returns
    -------
    Library
        A context manager.

    Raises
    ------
    ParameterError
        If `library` is of another type, or an index that stores no texts.
    InputError
        If a file or folder is missing or cannot be read.

    See Also
    --------
    check : compares one paper with a library.

    Notes
    -----
    Files are read and sketched each time, and take about two bytes of memory per Chinese
    character. An index stores the sketches of its documents: only new documents are sketched.
    With an index in SQLite, sorted sketches are in files beside it, two bytes of disk space per
    character, and a check reads only what it looks up; with PostgreSQL they are in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = pathlib.Path(folder.name, "a.txt").write_text("The ferry sails at nine.")
    >>> with open_library(folder.name) as library:
    ...     len(library)
    1
    >>> folder.cleanup()
    """
    from neardup.index import Index
    from neardup.readers.addresses import is_address
    from neardup.readers.formats import check_text_format

    check_text_format(format)
    workers = check_workers(workers)
    progress = check_progress(progress)
    if isinstance(library, Library):
        return library
    if isinstance(library, Index):
        return _Stored(library, workers, progress, owned=False)
    paths = paths_of(library, "library", N_("a path, a list of paths or an Index"))
    if len(paths) == 1 and is_index(paths[0]):
        index = Index(paths[0], must_exist=True, workers=workers)
        try:
            return _Stored(index, workers, progress, owned=True)
        except BaseException:
            index.close()
            raise
    for path in paths:
        if is_index(path):
            raise ParameterError(
                Message(
                    "The library must be one index, or files. Got the index {index} among "
                    "others instead. Add the files to the index: neardup index add.",
                    index=path,
                )
            )
        is_here = os.fspath(path) != "-" and not is_address(os.fspath(path))
        if is_here and not os.path.exists(path):
            raise InputError(
                Message("{file}: no such file or folder.", code="no_such_file", file=path)
            )
    return _Files(paths, workers, progress, format=format, encoding=encoding)
