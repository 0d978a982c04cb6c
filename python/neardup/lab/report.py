"""A report of an experiment with its tables and figures, written to one folder."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from neardup.base.extras import require
from neardup.base.messages import N_, Message, system_words
from neardup.base.validation import check_path
from neardup.exceptions import OutputError
from neardup.lab.figures import Figures, render

__all__ = [
    "Report",
    "Tables",
    "by_column",
    "file_names",
    "image",
    "markdown_table",
    "run_experiment",
]

#: Header and rows by the name of a file, without ``.csv``.
Tables = Mapping[str, tuple[Sequence[str], Iterable[Sequence[object]]]]

_Result = TypeVar("_Result")
_Cell = TypeVar("_Cell")


@dataclass(frozen=True)
class Report:
    """What is written about a result: Markdown, tables, figures, and other files by name."""

    markdown: str
    tables: Tables
    figures: Figures
    others: Mapping[str, bytes] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        """Return the content of each file by its name; CSV is UTF-8 with line feeds."""
        files = {"report.md": self.markdown.encode(), **self.others}
        for name, (header, rows) in self.tables.items():
            lines = io.StringIO()
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
            files[f"{name}.csv"] = lines.getvalue().encode()
        return files | render(self.figures)


def file_names(
    tables: Iterable[str], figures: Iterable[str], others: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the names of all files of a report."""
    drawn = (f"{name}.{kind}" for name in figures for kind in ("svg", "png"))
    return ("report.md", *(f"{name}.csv" for name in tables), *drawn, *others)


def run_experiment(
    output: str | Path | None,
    names: Iterable[str],
    measure: Callable[[Path | None], _Result],
    report: Callable[[_Result], Report],
    *,
    inputs: Iterable[str | Path],
    force: bool,
) -> _Result:
    """Return what `measure` returns for a folder, and write the report about it there.

    The files called `names` are opened before anything is measured; `inputs` are the files that it
    reads. None for `output` writes
    nothing. A folder that is created here is removed again if an error ends the experiment.
    """
    from neardup.writers import OutputSet

    if output is None:
        return measure(None)
    folder = Path(check_path(output, "output"))
    require(N_("Figures"), "lab", "matplotlib")
    if str(folder) == "-":
        raise OutputError(
            Message(
                "-: must be a folder. Got standard output instead. The table is printed in any "
                "case; leave {given[output]} out to get only the table."
            )
        )
    files = [folder / name for name in names]
    outputs = OutputSet(inputs, files)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
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
        with outputs:
            opened = {path.name: outputs.open_text(path, force=force) for path in files}
            result = measure(folder)
            contents = report(result).files()
            for name, file in opened.items():
                file.write(contents[name])
        return result
    except BaseException:
        # Only folders that this call created, and only if nothing else is in them by now.
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


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
