"""The folder of a report: Markdown, tables and figures that appear together or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from neardup.base.extras import require
from neardup.base.messages import N_, Message, system_words
from neardup.base.validation import check_path
from neardup.exceptions import OutputError
from neardup.lab.figures import Figures, render

if TYPE_CHECKING:
    from neardup.writers import Output

__all__ = ["ReportFolder", "Tables", "by_column", "file_names", "image", "markdown_table"]

#: Header and rows by the name of a file, without ``.csv``.
Tables = Mapping[str, tuple[Sequence[str], Iterable[Sequence[object]]]]

_Cell = TypeVar("_Cell")


def file_names(tables: Iterable[str], figures: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all files of a report."""
    drawn = (f"{name}.{kind}" for name in figures for kind in ("svg", "png"))
    return ("report.md", *(f"{name}.csv" for name in tables), *drawn)


class ReportFolder:
    """A folder whose files are open and not yet written; without a path it writes nothing."""

    def __init__(self, path: Path | None, files: Mapping[str, Output]) -> None:
        self.path = path
        self._files = files

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        output: str | Path | None,
        names: Iterable[str],
        *,
        inputs: Iterable[str | Path],
        force: bool,
    ) -> Iterator[ReportFolder]:
        """Open the files called `names` in a folder, so that it fails before any work is done.

        `inputs` are the files that are read, of which none may be replaced. A folder that is
        created here is removed again if an error ends the block.
        """
        from neardup.writers import OutputSet

        if output is None:
            yield cls(None, {})
            return
        folder = Path(check_path(output, "output"))
        require(N_("Figures"), "lab", "matplotlib")
        if str(folder) == "-":
            raise OutputError(
                Message(
                    "-: must be a folder. Got standard output instead. The table is printed in "
                    "any case; leave {given[output]} out to get only the table."
                )
            )
        files = {name: folder / name for name in names}
        outputs = OutputSet(inputs, files.values())
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            _create(folder)
            with outputs:
                opened = {
                    name: outputs.open_text(path, force=force) for name, path in files.items()
                }
                yield cls(folder, opened)
        except BaseException:
            # Only folders that this call created, and only if nothing else is in them by now.
            for path in missing:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise

    def write(self, markdown: str, tables: Tables, figures: Figures) -> None:
        """Write the report, its tables as CSV in UTF-8 with line feeds, and its figures."""
        if self.path is None:
            return
        contents = {"report.md": markdown.encode()}
        for name, (header, rows) in tables.items():
            lines = io.StringIO()
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
            contents[f"{name}.csv"] = lines.getvalue().encode()
        contents |= render(figures)
        for name, file in self._files.items():
            file.write(contents[name])


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            Message(
                "{folder}: cannot be created: {reason}.",
                folder=str(folder),
                reason=system_words(error),
            )
        ) from error


def by_column(rows: Sequence[Mapping[str, _Cell]]) -> tuple[list[str], list[list[_Cell]]]:
    """Return header and cells of rows that have the same columns."""
    return list(rows[0]), [list(row.values()) for row in rows]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def image(name: str, title: str) -> str:
    """Return a figure of the folder in Markdown."""
    return f"![{title}]({name}.svg)"
