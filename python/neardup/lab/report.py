"""Shared parts of the reports of all experiments: tables, files and their folder.

A report is Markdown, with the tables as CSV and the figures as SVG and PNG beside it in one
folder. The files appear together or not at all.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from neardup.base.messages import Message, system_words
from neardup.exceptions import OutputError
from neardup.lab.figures import Figures, render

__all__ = [
    "Tables",
    "check_output",
    "file_names",
    "files_of",
    "image",
    "markdown_table",
    "open_folder",
    "plain_table",
]

#: Header and rows by the name of a file, without ``.csv``.
Tables = Mapping[str, tuple[Sequence[str], Iterable[Sequence[object]]]]

#: Extensions of result files and other outputs; a folder with one of them is probably a mistake.
_FILES = (".md", ".txt", ".html", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".gz", ".zst")

Write = Callable[[Mapping[str, bytes]], None]


def check_output(folder: Path) -> None:
    """Raise if a path is probably not meant as a folder.

    Raises
    ------
    OutputError
        If the path is ``-``, an existing file, or has a file's ending and is not
        an existing folder.
    """
    if str(folder) == "-":
        raise OutputError(Message("lab.standard_output_is_no_folder"))
    if folder.is_dir():
        return
    if os.path.lexists(folder):
        raise OutputError(Message("lab.file_is_no_folder", folder=str(folder)))
    if folder.name.lower().endswith(_FILES):
        raise OutputError(
            Message(
                "lab.name_of_file_is_no_folder",
                folder=str(folder),
                example=str(folder.with_suffix("")),
            )
        )


@contextlib.contextmanager
def open_folder(folder: Path | None, names: Iterable[str], *, force: bool) -> Iterator[Write]:
    """Open all files of a folder before the results are computed.

    Parameters
    ----------
    folder : Path or None
        Created if it is missing, and removed again if an error ends the block.
        None ignores what is written.
    names : iterable of str
        The files.
    force : bool
        Replace files that exist.

    Yields
    ------
    callable
        Takes the contents by name, once. The files get their names at the end of
        the block, all of them or none.

    Raises
    ------
    OutputError
        If `folder` is not a folder or cannot be written to, or one of the files
        exists and `force` is false.
    """
    from neardup.writers import OutputSet

    if folder is None:
        yield lambda _: None
        return
    check_output(folder)
    names = list(names)
    taken = [name for name in names if (folder / name).exists()]
    if taken and not force:
        raise OutputError(Message("lab.exists", file=str(folder / taken[0])))
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                Message("lab.cannot_be_created", folder=str(folder), reason=system_words(error))
            ) from error
        with OutputSet() as outputs:
            opened = {name: outputs.open_text(folder / name, force=force) for name in names}

            def write(files: Mapping[str, bytes]) -> None:
                for name, output in opened.items():
                    output.write(files[name])

            yield write
    except BaseException:
        # Only folders that this call created, and only if nothing else is in them by now.
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def file_names(tables: Iterable[str], figures: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all files of a report."""
    drawn = (f"{name}.{kind}" for name in figures for kind in ("svg", "png"))
    return ("report.md", *(f"{name}.csv" for name in tables), *drawn)


def files_of(text: str, tables: Tables, figures: Figures) -> dict[str, bytes]:
    """Return a report, its tables and its figures by file name.

    Parameters
    ----------
    text : str
        The report as Markdown.
    tables : mapping
        CSV is UTF-8 with a header line and line feeds.
    figures : mapping
        See :data:`neardup.lab.figures.Figures`.
    """
    files = {"report.md": text.encode()}
    for name, (header, rows) in tables.items():
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        files[f"{name}.csv"] = lines.getvalue().encode()
    return files | render(figures)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for a terminal: columns as wide as needed, numbers to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def image(name: str, title: str) -> str:
    """Return a figure of the folder in Markdown."""
    return f"![{title}]({name}.svg)"
