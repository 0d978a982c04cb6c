"""The report of a check: all results, as values, JSON or a page."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.base.reprs import ReprMixin
from neardup.papers.report.results import Aside, Passage, Rates, Section, Source

__all__ = ["Report"]

#: Sources that the representation of a report names.
_SHOWN = 5


@dataclass(frozen=True, repr=False)
class Report(ReprMixin):
    """The parts of a paper that occur in other documents.

    Parameters
    ----------
    paper : str
        Name of the paper: of its file, or from the caller.
    text : str
        The paper's text; all offsets count its code points.
    characters : int
        Counted characters: letters (a Chinese character is one) and digits, without
        excluded text.
    copied : int
        Counted characters that occur in a source.
    rates : Rates
    similarity : float or None
        Edit similarity of the paper and the most similar source; None without sources.
    sources : tuple of Source
        The sources, the largest first.
    sections : tuple of Section
        In the order of the paper.
    passages : tuple of Passage
        In the order of the paper; passages of different sources may overlap. Limited by
        :class:`neardup.papers.ReportLimits`: each source has the number of all its passages.
    asides : tuple of Aside
        Parts that are set aside, in the order of the paper.
    pages : tuple of int
        Where the pages of the paper's file begin in its text, in code points;
        empty if the format has no pages.
    library : str
        The name of the library.
    library_documents : int
        Number of its documents.
    settings : dict of str to int, float, str or bool
        The settings of the check.
    notes : tuple of str
        Notes for the reader, one sentence in English each; the notes of a check
        are messages, with a code and values.
    """

    paper: str
    text: str = field(repr=False)
    characters: int
    copied: int
    rates: Rates
    similarity: float | None
    sources: tuple[Source, ...] = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    asides: tuple[Aside, ...] = field(repr=False)
    pages: tuple[int, ...] = field(repr=False)
    library: str
    library_documents: int
    settings: dict[str, int | float | str | bool]
    notes: tuple[str, ...]

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "paper", self.paper
        for name in ("total", "without_quotations", "largest_source"):
            yield name, f"{getattr(self.rates, name):.1%}"
        yield "characters", self.characters
        yield "library", f"{self.library}, {self.library_documents:,} documents"
        for at, source in enumerate(self.sources[:_SHOWN]):
            yield "" if at else "sources", f"{source.rate:.1%} {source.title or source.id}"

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        language: str = "zh",
        date: datetime.date | None = None,
        force: bool = False,
    ) -> str:
        """Return the report as one self-contained HTML page, and write it.

        Parameters
        ----------
        path : str, Path or None, default=None
            Where to write it; None for nowhere.
        language : {'zh', 'en'}, default='zh'
            Language of the interface; the paper and its sources are not translated.
        date : date or None, default=None
            Day of the check, printed on the page. Without it, equal reports give equal
            bytes.
        force : bool, default=False
            Whether a file that exists is replaced.

        Returns
        -------
        str

        Raises
        ------
        ParameterError
            If there is no such language, or `date` is not a date.
        OutputError
            If the file exists or cannot be written.
        """
        from neardup.papers.report.html import html_report

        page = html_report(self, language=language, date=date)
        if path is not None:
            _write(path, page, force=force)
        return page

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values.

        The keys are in ``docs/formats.md``.
        """
        from neardup.papers.report.json_report import as_dict

        return as_dict(self)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the report as JSON, with all offsets, and write it.

        Parameters
        ----------
        path : str, Path or None, default=None
            Where to write it; None for nowhere.
        force : bool, default=False
            Whether a file that exists is replaced.

        Returns
        -------
        str

        Raises
        ------
        OutputError
            If the file exists or cannot be written.
        """
        import orjson

        text = orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2).decode() + "\n"
        if path is not None:
            _write(path, text, force=force)
        return text


def _write(path: str | Path, text: str, *, force: bool) -> None:
    from neardup.base.validation import check_path
    from neardup.writers import OutputSet

    with OutputSet() as outputs:
        outputs.open_text(check_path(path, "path"), force=force).write(text.encode())
