"""The files of an evaluation of labelled pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.lab.experiments.labelled_pairs.errors_page import errors_page
from neardup.lab.experiments.labelled_pairs.figures import FIGURES, figures
from neardup.lab.experiments.labelled_pairs.report import markdown
from neardup.lab.experiments.labelled_pairs.tables import as_json, tables
from neardup.lab.report import file_names
from neardup.lab.report import files_of as all_files

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs import PairsEvaluation

__all__ = ["FILES", "files_of"]

#: Names of all files of the results.
FILES = (*file_names(("measures", "pairs"), FIGURES), "errors.html", "evaluation.json")


def files_of(result: PairsEvaluation, language: str) -> dict[str, bytes]:
    """Return report, tables, figures and the page of errors, by file name."""
    return {
        **all_files(markdown(result), tables(result), figures(result)),
        "errors.html": errors_page(result, language=language).encode(),
        "evaluation.json": as_json(result),
    }
