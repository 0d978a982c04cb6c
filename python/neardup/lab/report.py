"""Reports of experiments: as plain text, as Markdown, and the folder of their files."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neardup.base.display import one_line, plain_table
from neardup.base.extras import require
from neardup.base.files import make_folder
from neardup.base.messages import N_, Message, in_language
from neardup.base.validation import check_path
from neardup.exceptions import OutputError
from neardup.writers import Output, OutputSet
from neardup.writers.cells import write_spreadsheet


@dataclass(frozen=True)
class Table:
    """A table of a report; its first `text` columns are text, the others are figures."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: int = 1


#: A part of a report: sentences, or a table.
Part = Sequence[str] | Table

_MARKDOWN = re.compile(r"([\\`*_<>|\[\]#])")


def format_plain(parts: Iterable[Part], language: str = "en") -> str:
    """Return a report for a terminal; messages in it are translated."""

    def show_line(text: str) -> str:
        return one_line(in_language(text, language))

    shown = []
    for part in parts:
        if isinstance(part, Table):
            rows = [list(map(show_line, row)) for row in part.rows]
            header = list(map(show_line, part.header))
            shown.append(plain_table(header, rows, left=range(part.text)))
        else:
            shown.append("\n".join(map(show_line, part)))
    return "\n\n".join(shown)


def format_markdown(title: str, introduction: str, parts: Iterable[Part], *images: str) -> bytes:
    """Return a report as Markdown, with figures of the same folder at its end."""
    shown = [f"# {title}", introduction]
    for part in parts:
        if isinstance(part, Table):
            figures = len(part.header) - part.text
            lines = [part.header, ["---"] * part.text + ["---:"] * figures, *part.rows]
            shown.append("\n".join(f"| {' | '.join(map(_escape, cells))} |" for cells in lines))
        else:
            shown.append("\n".join(f"- {_escape(sentence)}" for sentence in part))
    shown += [f"![{title}]({image})" for image in images]
    return ("\n\n".join(shown) + "\n").encode()


def _escape(text: str) -> str:
    """Return a text so that nothing in it is taken for Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def format_csv(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Return rows of equal columns as CSV for a spreadsheet; a number has six digits at most."""
    return write_spreadsheet([rows[0], *(map(_format_cell, row.values()) for row in rows)])


def _format_cell(value: object) -> object:
    """Return what a cell of CSV shows: 0 or 1 for a flag, nothing for no value."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else value


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

        `inputs` are the files that are read; none may be replaced. A folder that is
        created here is removed again if an error ends the block.
        """
        if output is None:
            yield cls(None, {})
            return
        folder = Path(check_path(output, "output"))
        require(N_("Figures"), "lab", "matplotlib")
        if str(folder) == "-":
            raise OutputError(
                Message(
                    "-: must be a folder, not standard output. Leave {given[output]} out to get "
                    "only the table."
                )
            )
        files = {name: folder / name for name in names}
        outputs = OutputSet(inputs, texts=files, force=force)
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            make_folder(folder)
            with outputs:
                yield cls(folder, outputs.files)
        except BaseException:
            # Only folders that this call created, and only if nothing else is in them by now.
            for path in missing:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write the contents of all files, by their names."""
        for name, file in self._files.items():
            file.write(contents[name])
