"""Libraries of texts that are read and sketched when they are opened.

Their winnowed shingles are in memory, about two bytes per Chinese character. The texts are in a
temporary file, and only texts of candidates are fetched.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from neardup.base.lazy import _core, np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress, share_of
from neardup.papers.alignment import get_aligner
from neardup.papers.library.interface import Library, LibraryDocument
from neardup.readers import open_sources
from neardup.readers.archives import find_archive
from neardup.readers.batch import list_texts
from neardup.readers.problem_groups import ProblemGroups

#: Largest number of unreadable files that a note names.
_NAMED = 3


class TextLibrary(Library):
    """Texts, sketched when the library is opened."""

    def __init__(self, name: str, workers: int) -> None:
        super().__init__(name, workers, blank=True)
        import zstandard

        self._spool = tempfile.TemporaryFile()  # noqa: SIM115
        self._unpack = zstandard.ZstdDecompressor().decompress
        self._places: list[tuple[int, int]] = []
        self._ids: list[str] = []
        self._titles: list[str | None] = []
        self._files: list[str | None] = []
        self._sketches: list[bytes] = []
        self._pack = zstandard.ZstdCompressor(level=1).compress

    def add(
        self,
        texts: pa.LargeStringArray,
        ids: Sequence[str],
        titles: Sequence[str | None],
        files: Sequence[str | None],
    ) -> None:
        """Add texts; their files are those that `positions_of` knows."""
        core = get_aligner()
        self._sketches += core.sketches(texts, workers=self.workers)
        self._ids += ids
        self._titles += titles
        self._files += files
        for text in texts.to_pylist():
            self.blank = self.blank and not any(map(str.isalnum, text or ""))
            packed = self._pack((text or "").encode())
            self._places.append((self._spool.tell(), len(packed)))
            self._spool.write(packed)

    def file_sketches(self) -> None:
        """File the sketches of all texts."""
        filed, fence = _core.file_sketches(self._sketches, workers=self.workers)
        self._documents = len(self._sketches)
        self._sketches = []
        self._core = _core.Library([(filed, fence, np.arange(self._documents, dtype=np.uint32))])

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        for position in positions:
            begin, length = self._places[position]
            self._spool.seek(begin)
            text = self._unpack(self._spool.read(length)).decode()
            yield LibraryDocument(position, self._ids[position], self._titles[position], text)

    def positions_of(self, path: str | os.PathLike[str]) -> set[int]:
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
                    else file == path and find_archive(file) is not None
                )
            }
        except OSError:
            return set()

    def close(self) -> None:
        self._spool.close()


class FileLibrary(TextLibrary):
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
        unreadable: list[str] = []
        lost = ProblemGroups()
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
            self.add(batch.texts, list_texts(batch.ids), titles, files)
            progress.advance(len(batch), batch.bytes_read)
        lines = (line for line, _ in lost.lines())
        self.notes += [*lines, *(problem.message for problem in sources.problems), *sources.notes]
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
        self.file_sketches()


def make_library(papers: Sequence[tuple[str, str, str | None, str]], workers: int) -> Library:
    """Return the library of papers: of the id, name, file, if there is one, and text of each."""
    library = TextLibrary("papers", workers)
    ids, names, files, texts = zip(*papers, strict=True) if papers else ((), (), (), ())
    library.add(pa.array(texts, pa.large_string()), ids, names, files)
    library.file_sketches()
    library.papers = len(papers)
    return library
