"""Opens libraries: files, folders or an index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.locations import is_index
from neardup.base.messages import N_, Message
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import check_workers, paths_of
from neardup.exceptions import InputError, ParameterError
from neardup.papers.library.interface import Library
from neardup.papers.library.stored import IndexLibrary
from neardup.papers.library.text_files import FileLibrary
from neardup.readers.addresses import is_address
from neardup.readers.formats import FormatName, check_text_format

if TYPE_CHECKING:
    from neardup.index import Index


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
    Files are read and sketched each time, and take about two bytes of memory per Chinese character.
    An index stores the sketches of its documents: only new documents are sketched. With an index in
    SQLite, sorted sketches are in files next to it, two bytes of disk space per character. A check
    reads only what it looks up. With PostgreSQL, the sketches are in memory.

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

    check_text_format(format)
    workers = check_workers(workers)
    progress = check_progress(progress)
    if isinstance(library, Library):
        return library
    if isinstance(library, Index):
        return IndexLibrary(library, workers, progress, owned=False)
    paths = paths_of(library, "library", N_("a path, a list of paths or an Index"))
    if len(paths) == 1 and is_index(paths[0]):
        index = Index(paths[0], must_exist=True, workers=workers)
        try:
            return IndexLibrary(index, workers, progress, owned=True)
        except BaseException:
            index.close()
            raise
    for path in paths:
        if is_index(path):
            raise ParameterError(
                Message(
                    "The library must be one index, or files, not the index {index} among "
                    "others. Add the files to the index: neardup index add.",
                    index=path,
                )
            )
        is_here = os.fspath(path) != "-" and not is_address(os.fspath(path))
        if is_here and not os.path.exists(path):
            raise InputError(
                Message("{file}: no such file or folder.", code="no_such_file", file=path)
            )
    return FileLibrary(paths, workers, progress, format=format, encoding=encoding)
