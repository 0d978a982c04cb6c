"""The report of a check: all results, as values, JSON or a page."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from neardup.base import __version__
from neardup.base.display import ReprMixin
from neardup.base.lazy import orjson
from neardup.base.messages import Message, in_language
from neardup.base.validation import bad, check_path
from neardup.pages import marking
from neardup.pages.marking import Marks, Run
from neardup.pages.templating import detect_language, render, replace_unseen
from neardup.pages.words import Words
from neardup.papers import report_parts as parts
from neardup.papers.cover import Cover
from neardup.papers.evidence import collect_evidence
from neardup.papers.results import (
    EXCLUDED,
    HIDING,
    WORDING,
    CountedRuns,
    ExcludedSpan,
    Finding,
    Passage,
    Rates,
    Section,
    Source,
)
from neardup.papers.verdict import NO_VERDICT, VERDICTS, NoVerdict, Thresholds, Verdict
from neardup.writers import write_file

#: Version of the keys of a report in JSON.
VERSION = 2

#: Sources that the representation of a report names.
_SHOWN = 5

#: Hex digits of the number of a report.
_NUMBER = 16

#: The note on a file of the library follows the file's name.
_OF_FILES = ("{file}: {said:inside}", "{file}: {said:inside} {count:,} in all ({places}).")


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
    rates : Rates or None
        None if nothing was compared: the library or the paper has no text to compare.
    similarity : float or None
        Edit similarity of the paper and the most similar source; None without sources.
    sources : tuple of Source
        The sources, the largest first.
    sections : tuple of Section
        In the order of the paper.
    passages : tuple of Passage
        In the order of the paper; passages of different sources may overlap. Limited by
        :class:`neardup.papers.ReportLimits`: each source has the number of all its passages.
    asides : tuple of ExcludedSpan
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
    cover : Cover
        Whose paper it is; from a check, what the document itself states.
    thresholds : Thresholds or None
        Thresholds of the verdict. A check sets none: ``dataclasses.replace(report,
        thresholds=Thresholds(pass_below=0.15, reject_above=0.3))``.
    without_sources : tuple of str
        Ids of the sources that the caller left out, and that the paper has text of.
    findings : tuple of Finding
        What may hide copied text, by kind, and the number of pictures.
    unread : float
        Share of the paper that could not be read, in [0, 1]: damaged pages, and text in no
        language.
    no_verdict : {'nothing_compared', 'unread', 'short', 'pictures'} or None
        Why the paper has no verdict: nothing was compared; 5 % of it or more could not be read; it
        has fewer than 200 counted characters; or most of its pages are pictures. None if it has
        one.
    shared : int
        Counted characters that many documents of the library share, which are not copied.
    runs : CountedRuns or None
        What the page counts again when its reader sets something aside; not in JSON, and None
        for a page on which nothing can be set aside.
    """

    paper: str
    text: str = field(repr=False)
    characters: int
    copied: int
    rates: Rates | None
    similarity: float | None
    sources: tuple[Source, ...] = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    asides: tuple[ExcludedSpan, ...] = field(repr=False)
    pages: tuple[int, ...] = field(repr=False)
    library: str
    library_documents: int
    settings: dict[str, int | float | str | bool]
    notes: tuple[str, ...]
    cover: Cover = field(default_factory=Cover)
    thresholds: Thresholds | None = None
    without_sources: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    unread: float = 0.0
    no_verdict: NoVerdict | None = None
    shared: int = 0
    runs: CountedRuns | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the paper; None without thresholds, or where `no_verdict` says why."""
        if self.thresholds is None or self.rates is None or self.no_verdict is not None:
            return None
        return self.thresholds.verdict(self.rates.total)

    @property
    def rank(self) -> tuple[float, str]:
        """Sorts reports by total rate, the highest first, and those without rates last."""
        return (1.0 if self.rates is None else -self.rates.total), self.paper

    @property
    def number(self) -> str:
        """The number of the report: a digest of all of it, equal for equal reports.

        The day of the check does not belong to a report.
        """
        digest = hashlib.sha256(json.dumps(self._to_values(), sort_keys=True).encode()).hexdigest()
        return "-".join(digest[begin : begin + 4] for begin in range(0, _NUMBER, 4)).upper()

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "paper", self.paper
        for name in ("total", "without_quotations", "largest_source"):
            yield name, "none" if self.rates is None else f"{getattr(self.rates, name):.1%}"
        yield "characters", self.characters
        yield "library", f"{self.library}, {self.library_documents:,} documents"
        for number, source in enumerate(self.sources[:_SHOWN]):
            yield "" if number else "sources", f"{source.rate:.1%} {source.title or source.id}"

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        language: str = "zh",
        date: datetime.date | None = None,
        force: bool = False,
    ) -> str:
        """Return the report as one self-contained HTML page, and write it.

        Only the beginning is shown of a passage that is entirely within passages of larger
        sources; `to_dict` has all of it. Linear in the text and the evidence: 100,000
        characters with 400 passages make about 1 MB in less than half a second.

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
        page = _render_page(self, language, date)
        if path is not None:
            _write(path, page, force=force)
        return page

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values.

        The keys are in ``docs/formats.md``.

        Examples
        --------
        >>> report = Report(
        ...     "a.txt", "雪", 1, 0, Rates(0.0, 0.0, 0.0), None,
        ...     (), (), (), (), (), "papers", 0, {}, (),
        ... )
        >>> report.to_dict()["rates"]
        {'total': 0.0, 'without_quotations': 0.0, 'largest_source': 0.0}
        """
        return {"version": VERSION, "number": self.number, **self._to_values()}

    def _to_values(self) -> dict[str, Any]:
        """Return the report as JSON values, without its number."""
        values: dict[str, Any] = _to_json(self)
        made = {"neardup": __version__, "sha256": hash_text(self.text)}
        return made | values | {"verdict": _to_json(self.verdict)}

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
        text = orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2).decode() + "\n"
        if path is not None:
            _write(path, text, force=force)
        return text


def shorten_report(report: Report) -> Report:
    """Return a report without text and evidence, for tables of many: papers may be large."""
    return replace(report, text="", passages=(), asides=(), sections=(), pages=(), runs=None)


def _write(path: str | Path, text: str, *, force: bool) -> None:
    write_file(check_path(path, "path"), text.encode(), force=force)


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, which identifies it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _to_json(value: Any) -> Any:
    if is_dataclass(value):
        return {
            field.name: _to_json(getattr(value, field.name))
            for field in fields(value)
            if field.compare
        }
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, str):
        # A note also has a code and values.
        return str(value)
    return dict(value) if isinstance(value, dict) else value


def select_notes(notes: Iterable[str]) -> list[str]:
    """Return the notes that are for the reader of a report.

    Notes on encodings are shown only if the encoding was guessed: others would raise
    unfounded doubts.
    """
    return [note for note in notes if _is_shown(note)]


def _is_shown(note: str) -> bool:
    if isinstance(note, Message) and note.template in _OF_FILES:
        note = note.values["said"]
    if not isinstance(note, Message) or "certainty" not in note.values:
        return True
    return bool(note.values["certainty"].template == "guessed")


def translate_verdict(report: Report, language: str) -> tuple[str, str] | None:
    """Return the result of a verdict and its sentence in a language; None without verdict."""
    verdict = report.verdict
    return None if verdict is None else (verdict.result, in_language(verdict.sentence, language))


def name_outcome(report: Report, words: Words) -> str | None:
    """Return what a table says of the verdict on a paper; None without thresholds."""
    if report.no_verdict is not None:
        return words(NO_VERDICT[report.no_verdict].mark)
    return None if report.verdict is None else words(VERDICTS[report.verdict.result])


def explain_outcome(report: Report, words: Words) -> str | None:
    """Return the verdict on a paper as a sentence, or why it has none; None without thresholds."""
    if report.no_verdict is not None:
        return words(NO_VERDICT[report.no_verdict].sentence)
    verdict = translate_verdict(report, words.language)
    return None if verdict is None else verdict[1]


def check_date(date: Any) -> str | None:
    """Return a date as a page shows it, None for None; raise ParameterError for another type."""
    if date is None:
        return None
    if not isinstance(date, datetime.date):
        raise bad("date", "a date or None", date)
    return f"{date:%Y-%m-%d}"


def mark_paper(report: Report) -> Marks:
    """Return the paper cut into runs, with all that the page shows on it."""
    return marking.mark(
        report.text,
        [
            marking.MarkedPassage(
                passage.begin,
                passage.end,
                passage.source,
                [(piece.begin, piece.end) for piece in passage.pieces],
            )
            for passage in report.passages
        ],
        sections=[
            marking.Heading(section.begin, max(section.level, 1) if section.title else 0)
            for section in report.sections
        ],
        asides=[
            marking.MarkedAside(aside.begin, aside.end, aside.kind, EXCLUDED.index(aside.kind))
            for aside in report.asides
        ],
        pages=report.pages,
    )


def _render_page(report: Report, language: str, date: datetime.date | None) -> str:
    words = Words(language)
    shown_date = check_date(date)
    marks = mark_paper(report)
    return render(
        "report.html",
        words,
        files=("report.css", "report.js"),
        report=report,
        date=shown_date,
        notes=[in_language(note, language) for note in select_notes(report.notes)],
        verdict=translate_verdict(report, language),
        version=__version__,
        sha256=hash_text(report.text),
        marks=marks,
        gaps=parts.has_gaps(report.text, marks),
        footnotes={
            number for number, part in enumerate(report.sections) if part.level and not part.title
        },
        evidence=collect_evidence(
            report.text,
            report.passages,
            [source.length for source in report.sources],
            report.pages,
            marks,
        ),
        strip=parts.make_strip(marks, report.passages, len(report.text)),
        strip_asides=[
            parts.make_tick(aside.begin, aside.end, len(report.text)) for aside in report.asides
        ],
        asides=parts.group_asides(report.text, report.asides, report.pages),
        hiding=parts.list_hiding(report.text, report.findings),
        hiding_words=HIDING,
        no_verdict=NO_VERDICT,
        pictures=sum(finding.count for finding in report.findings if finding.kind == "pictures"),
        wording=WORDING,
        given=any(aside.kind == "given" for aside in report.asides),
        first_of=parts.find_first_passages(report.passages, marks),
        shown_of=Counter(passage.source for passage in report.passages),
        found=sum(source.passages for source in report.sources),
        # An empty section has no place in the text.
        in_text={block.section for block in marks.blocks},
        lazy=parts.choose_lazy_parts(len(report.text), len(report.passages)),
        counts=_dump_counts(report, language),
        paper_language=detect_language(report.text),
        numbers=parts.format_numbers,
        others=partial(_count_other_sources, report),
        tags_of=parts.make_tagger([passage.source for passage in report.passages]),
        title=partial(_describe_passage, report, words),
    )


def _describe_passage(report: Report, words: Words, number: int) -> str:
    source = report.passages[number].source
    name = replace_unseen(report.sources[source].title or report.sources[source].id)
    return words(
        "Source {number}: {title} (passage {passage})",
        number=source + 1,
        title=name,
        passage=number + 1,
    )


def _count_other_sources(report: Report, run: Run) -> int:
    """Return the number of other sources that have the text of a run."""
    return len({report.passages[number].source for number in run.passages}) - 1


def _dump_counts(report: Report, language: str) -> str | None:
    """Return what the page counts again; None if nothing can be set aside on it."""
    if report.runs is None or report.rates is None:
        return None
    # The page gives no verdict where the report has none.
    thresholds = (report.verdict and report.thresholds) or Thresholds()
    return parts.dump_counts(report.runs, thresholds, report.passages, report.sections, language)
