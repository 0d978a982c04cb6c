"""A folder of results, whose files appear together or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from neardup.exceptions import OutputError

__all__ = ["check_free", "write_files"]


def check_free(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Raise if results would replace files, or the folder cannot be one.

    Parameters
    ----------
    folder : Path
    names : iterable of str
        Files that will be written.
    force : bool
        Replace what is there.

    Raises
    ------
    OutputError
        If the folder is a file; without `force` if a file of one of the names is
        there. For asking before minutes of work, not after.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: must be a folder. Got a file instead.")
    taken = [name for name in names if (folder / name).exists()]
    if taken and not force:
        raise OutputError(
            f"{folder / taken[0]}: exists already. Choose another folder, or replace the results "
            "in it with force=True (--force)."
        )


def write_files(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write files into a folder; all of them or none.

    Parameters
    ----------
    folder : Path
        Made if it is missing.
    files : mapping of str to bytes
        By name.
    force : bool
        Replace what is there.

    Raises
    ------
    OutputError
        If a file cannot be written; none was changed then.
    """
    from neardup.writers import OutputSet

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created: {error.strerror}.") from error
    with OutputSet() as outputs:
        for name, data in files.items():
            outputs.open_text(folder / name, force=force).write(data)
