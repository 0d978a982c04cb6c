"""The check of a paper: candidates, passages and rates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.validation import bad
from neardup.exceptions import InputError
from neardup.options.groups import CheckParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.pages.excerpts import around
from neardup.papers.align import FourPlaces, aligner, passage_of
from neardup.papers.cover import cover_of
from neardup.papers.hiding import as_shown, reveal, unmask
from neardup.papers.limits import ReportLimits, check_size, shown_passages
from neardup.papers.report import Report
from neardup.papers.results import WORDING, ExcludedSpan, Passage, Rates, Section, Source
from neardup.papers.verdict import no_verdict, unread_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.index import Index
    from neardup.papers.library import Library, LibraryDocument
    from neardup.papers.rates import Marks
    from neardup.readers.file_text import FileText

#: Largest number of documents of the library that are aligned with a paper.
CANDIDATES = 1000

#: Sources that a report always lists; further ones only if they add copied text.
LISTED = 50

#: Largest number of sources that a report lists.
MOST_LISTED = 200

#: Sources whose whole text is compared with the whole paper.
COMPARED = 5

#: Texts of candidates that are aligned together: at most so many, and about so many characters; and
#: those at first.
_TOGETHER, _CHARACTERS, _FIRST = 64, 4_000_000, 4

#: Between two stretches of an excluded text, a stretch with this edit similarity to what that text
#: has there is from it too, if neither is longer. One pair of other texts in a hundred reaches 0.3.
_EDITED, _LONGEST_EDIT = 0.4, 2000

#: A longer text is no path, and neither is one with sentence marks and no extension.
_LONGEST_PATH = 255
_SENTENCES = tuple("。，！？；")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}\Z")


@takes_options
def check(
    paper: str | Path | FileText,
    library: str | Path | Sequence[str | Path] | Index | Library,
    *,
    name: str | None = None,
    exclude: str | Path | FileText | Sequence[str | Path | FileText] = (),
    without_sources: Sequence[str] = (),
    limits: ReportLimits | None = None,
    **options: Unpack[CheckParameters],
) -> Report:
    """Find the parts of a paper that occur in other documents.

    Parameters
    ----------
    paper : str, Path or FileText
        A file (.txt in any common encoding, .md, .pdf, .docx, .html), or a result of
        :func:`neardup.readers.read_file` or :func:`neardup.readers.read_bytes`. For text in
        memory, use ``read_bytes(text.encode(), "essay.txt")``.
    library : str, Path, list of str or Path, Index or Library
        The documents to compare with: see :func:`neardup.papers.open_library`. The paper's
        own file in a folder is left out.
    name : str or None, default=None
        Name of the paper in the report; by default the file's name.
    exclude : str, Path, FileText or list of them, default=()
        Excluded text: what occurs in these files, such as a template or the author's own
        earlier work, is neither copied nor counted.
    without_sources : list of str, default=()
        Sources that are left out, by the ids of their documents in the library: text that only
        they have counts, but is not copied.
    limits : ReportLimits or None, default=None
        Limits on the passages that the report shows; None for the default limits. Rates and
        counts include every passage, and a note tells how many are not shown.
    {options}

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If a file is missing or cannot be read.
    ParameterError
        If a parameter is out of bounds.
    MissingDependencyError
        If a package that reads a format is not installed.

    See Also
    --------
    neardup.papers.check_files : many papers against one library, or each other.
    compare : how similar two texts are.

    Notes
    -----
    Candidates are documents of the library that share winnowed shingles with the paper
    [1]_, at most 1,000. The paper is aligned with each (:func:`neardup.papers.align`). A
    character is copied if it is in a passage of any source. All rates are shares of the
    counted characters, and overlapping passages count once. Look-alike letters of other
    scripts, invisible characters and hidden text are undone first, and are findings of the
    report. Linear in the paper and its candidates.

    References
    ----------
    .. [1] Schleimer, Wilkerson, Aiken. Winnowing: local algorithms for document
       fingerprinting. SIGMOD 2003.

    Examples
    --------
    >>> import neardup, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> source, paper = (pathlib.Path(folder.name, name) for name in ("a.txt", "b.txt"))
    >>> copied = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
    >>> _ = source.write_text("据港务局消息，" + copied)
    >>> _ = paper.write_text("本文研究渡轮。" + copied)
    >>> report = neardup.check(paper, library=source)
    >>> round(report.rates.total, 2), report.sources[0].id == str(source)
    (0.82, True)
    >>> passage = report.passages[0]
    >>> report.text[passage.begin : passage.end] == copied[:-1]
    True
    >>> folder.cleanup()
    """
    given = complete_options(check, options)
    workers, encoding = given["workers"], given["encoding"]
    limits = check_limits(limits)
    if name is not None and not isinstance(name, str):
        raise bad("name", "text or None", name)
    progress = given["progress"]
    read, own_name = read_paper(paper, "paper", encoding)
    check_size(read, name or own_name, given["memory"])
    for problem in read.problems:
        progress.problem(problem)
    excluded = texts_of(exclude, encoding, progress)
    without = check_without(without_sources)
    reading = {name: given[name] for name in ("format", "encoding")}
    with use_library(library, workers, progress, **reading) as documents:
        skip = documents.positions_of(paper) if isinstance(paper, (str, os.PathLike)) else set()
        checking = PaperChecker(
            documents,
            excluded,
            given["min_passage_length"],
            limits,
            workers,
            without,
            count_shared=given["count_shared"],
        )
        report = checking.report(read, name or own_name, skip)
    tell_nothing_compared(report, progress)
    return report


def tell_nothing_compared(report: Report, progress: Progress) -> None:
    """Report a paper that was compared with nothing as a problem."""
    from neardup.readers.batch import code_of  # imported late, for a fast `import neardup.lab`

    if report.no_verdict == "nothing_compared":
        note = next(n for n in report.notes if code_of(n) == report.no_verdict)
        progress.problem(Message("{file}: {said:inside}", file=report.paper, said=note))


def read_paper(
    paper: str | Path | FileText, parameter: str, encoding: str | None
) -> tuple[FileText, str]:
    """Return the text of a file, and its name."""
    from neardup.readers.file_text import FileText, read_file

    if isinstance(paper, FileText):
        return as_shown(paper), "paper"
    if not isinstance(paper, (str, os.PathLike)):
        raise bad(parameter, "a path, or what neardup.readers.read_file returned", paper)
    if isinstance(paper, str) and _is_text(paper):
        raise InputError(
            Message(
                "{parameter:named} must be the path of a file. Got text instead: "
                "{value}... To check text in memory, make a file of it: "
                'neardup.readers.read_bytes(text.encode(), "essay.txt").',
                parameter=parameter,
                value=repr(paper[:20]),
            )
        )
    return as_shown(read_file(paper, encoding=encoding)), os.path.basename(paper)


def _is_text(paper: str) -> bool:
    if len(os.path.basename(paper).encode("utf-8", "replace")) > _LONGEST_PATH or "\n" in paper:
        return not os.path.exists(paper)
    if _EXTENSION.search(paper):
        return False
    return any(mark in paper for mark in _SENTENCES) and not os.path.exists(paper)


def texts_of(
    exclude: str | Path | FileText | Sequence[str | Path | FileText],
    encoding: str | None,
    progress: Progress,
) -> list[str]:
    """Return the texts of excluded files; what of them could not be read is a problem."""
    from neardup.readers.file_text import FileText

    if isinstance(exclude, (str, os.PathLike, FileText)):
        exclude = [exclude]
    if isinstance(exclude, (bytes, dict)) or not isinstance(exclude, Sequence):
        raise bad(
            "exclude",
            "a path, a list of paths, or of what neardup.readers.read_file returned",
            exclude,
        )
    read = [read_paper(file, "exclude", encoding)[0] for file in exclude]
    for problem in (problem for file in read for problem in file.problems):
        progress.problem(problem)
    return [file.text for file in read]


def check_limits(limits: ReportLimits | None) -> ReportLimits:
    """Return limits, by default the default ones; raise ParameterError for another type."""
    if limits is None:
        return ReportLimits()
    if not isinstance(limits, ReportLimits):
        raise bad("limits", "ReportLimits or None", limits)
    return limits


def check_without(sources: Sequence[str]) -> frozenset[str]:
    """Return ids of sources; raise ParameterError unless they are a list of text."""
    is_list = isinstance(sources, Sequence) and not isinstance(sources, (str, bytes))
    if not is_list or not all(isinstance(source, str) for source in sources):
        raise bad("without_sources", "a list of ids", sources)
    return frozenset(sources)


@contextmanager
def use_library(
    library: str | Path | Sequence[str | Path] | Index | Library,
    workers: int,
    progress: Progress,
    **reading: Any,
) -> Iterator[Library]:
    """Yield an open library; close it if it was opened here."""
    from neardup.papers.library import open_library

    opened_library = open_library(library, workers=workers, progress=progress, **reading)
    try:
        yield opened_library
    finally:
        if opened_library is not library:
            opened_library.close()


@dataclass(frozen=True)
class _AlignedDocument:
    """A document with its passages, and the text around each.

    Its text, of `length` code points, is not stored: there may be a thousand documents.
    """

    document: LibraryDocument
    length: int
    passages: list[Passage]
    contexts: list[str | None]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans of the paper that it has."""
        return ((piece.begin, piece.end) for one in self.passages for piece in one.pieces)

    @property
    def is_copy(self) -> bool:
        """Whether the paper has half of its text, or more."""
        pieces = (piece for passage in self.passages for piece in passage.pieces)
        return 2 * sum(piece.source_end - piece.source_begin for piece in pieces) >= self.length


@dataclass(frozen=True)
class _Match:
    """A source: its passages, their spans, and its counted characters."""

    document: LibraryDocument
    length: int
    passages: list[Passage]
    spans: list[tuple[int, int]]
    characters: int


@dataclass(frozen=True)
class PaperChecker:
    """Checks of papers with one library and the same settings."""

    library: Library
    excluded: Sequence[str]
    min_passage_length: int
    limits: ReportLimits
    workers: int
    without_sources: frozenset[str] = frozenset()
    compare_papers: bool = False
    count_shared: bool = False

    def report(self, paper: FileText, name: str, skip: Iterable[int] = ()) -> Report:
        """Compare one paper with the library, except the documents at the `skip` positions."""
        from neardup.papers.rates import Marks
        from neardup.papers.structure import asides, footnotes_begin

        text, findings = reveal(paper)
        core = aligner()
        prepared = core.paper(text)
        by_form = asides(text, quoted=paper.quoted, footnotes=footnotes_begin(paper.headings))
        set_aside = [*by_form, *self._given(core, prepared, text)]
        marks = Marks(text, set_aside, prepared.spans())
        skipped = set(skip)
        matches, wording, left_out = self._sources(core, prepared, text, marks, skipped)
        set_aside = sorted([*set_aside, *wording], key=lambda aside: (aside.begin, aside.end))
        listed = _listed(matches, marks)
        sources, passages = self._listing(text, listed, marks)
        sections = _sections(paper, marks)
        numbers = {match.document.position for match in listed}
        unlisted = [match for match in matches if match.document.position not in numbers]
        documents = self.library.readable - len(skipped)
        lost = (problem.message for problem in paper.problems)
        notes = [*lost, *paper.notes, *self.library.notes]
        has_library = documents > 0 and not self.library.blank
        withheld = no_verdict(paper, marks.total, has_library=has_library)
        reason, note = withheld or (None, None)
        if note is not None:
            notes.append(note)
        # A paper among others is always skipped once, which is no news.
        if len(skipped) > self.compare_papers:
            notes.append(Message("The paper's own file is in the library and was left out."))
        if left_out:
            notes.append(
                Message.counted(
                    "1 source was left out, and no rate counts it: {ids}.",
                    "{count:,} sources were left out, and no rate counts them: {ids}.",
                    count=len(left_out),
                    ids=", ".join(left_out),
                )
            )
        if len(matches) > len(listed):
            notes.append(
                Message.counted(
                    "{count:,} more source is not listed; its passages are counted.",
                    "{count:,} more sources are not listed; their passages are counted.",
                    count=len(matches) - len(listed),
                )
            )
        if hidden := sum(source.passages for source in sources) - len(passages):
            notes.append(
                Message.counted(
                    "1 more passage is neither marked in the text nor shown; the rates include it.",
                    "{count:,} more passages are neither marked in the text nor shown; "
                    "the rates include them.",
                    count=hidden,
                )
            )
        outside = marks.copied & ~marks.set_aside
        copied = int(marks.copied.sum())
        shared = marks.of((aside.begin, aside.end) for aside in set_aside if aside.kind == "shared")
        return Report(
            paper=name,
            text=paper.text,
            characters=marks.total,
            copied=copied,
            rates=None
            if reason == "nothing_compared"
            else Rates(
                total=marks.rate(copied),
                without_quotations=marks.rate(int(outside.sum())),
                largest_source=max((source.rate for source in sources), default=0.0),
            ),
            similarity=max(
                (source.similarity for source in sources if source.similarity is not None),
                default=None,
            ),
            sources=sources,
            sections=sections,
            passages=passages,
            asides=tuple(set_aside),
            pages=tuple(paper.pages),
            library=self.library.name,
            library_documents=documents,
            settings={
                "min_passage_length": self.min_passage_length,
                "candidates": CANDIDATES,
                **asdict(self.limits),
                "count_shared": self.count_shared,
                "excluded_files": len(self.excluded),
            },
            notes=tuple(notes),
            cover=cover_of(paper),
            without_sources=tuple(left_out),
            findings=findings,
            unread=unread_share(paper),
            no_verdict=reason,
            shared=int(shared.sum()),
            runs=marks.runs(
                [
                    *(match.spans for match in listed),
                    [span for match in unlisted for span in match.spans],
                ],
                (bound for part in sections for bound in (part.begin, part.end)),
            ),
        )

    def _given(self, core: _core.Aligner, paper: _core.Paper, text: str) -> list[ExcludedSpan]:
        """Return the parts of the paper that occur in the excluded texts."""
        import pyarrow as pa

        texts = pa.array(self.excluded, pa.large_string())
        by_text = core.passages(paper, texts, least=self.min_passage_length, workers=self.workers)
        return [
            ExcludedSpan(begin, end, "given")
            for template, of_one in zip(self.excluded, by_text, strict=True)
            for begin, end in _of_template(
                text, template, sorted(piece for _, _, pieces in of_one for piece in pieces)
            )
        ]

    def _sources(
        self, core: _core.Aligner, paper: _core.Paper, text: str, marks: Marks, skip: set[int]
    ) -> tuple[list[_Match], list[ExcludedSpan], list[str]]:
        """Align the paper with candidates.

        Return the sources, the largest first, wording, and the ids of sources that are left out.
        """
        from neardup.papers.shared import fill_spans
        from neardup.papers.wording import LONGEST, Wording, weights_of

        most = CANDIDATES + len(self.without_sources)
        candidates = self.library.candidates(
            paper, least=self.min_passage_length, limit=most + len(skip)
        )
        positions = [position for position, _ in candidates if position not in skip][:most]
        aligned = self._aligned(core, paper, text, marks, positions)
        without = self.without_sources
        left_out = [one.document.id for one in aligned if one.document.id in without]
        aligned = [one for one in aligned if one.document.id not in without]
        weights = weights_of(text, marks.counts)
        shared = self._shared(paper, aligned, weights, skip, len(left_out))
        spans = [(stretch.begin, stretch.end) for stretch in shared]
        # A phrase within a copy is copied; more is cut out of it.
        long = [span for span in spans if weights[slice(*span)].sum() > LONGEST]
        if long:
            positions = [one.document.position for one in aligned]
            rest = core.paper(fill_spans(text, long))
            aligned = self._aligned(core, rest, text, marks, positions)
        matches, apart = [], [ExcludedSpan(*span, "shared") for span in long]
        if aligned:
            wording = Wording(
                text,
                weights,
                self.min_passage_length,
                [passage for one in aligned for passage in one.passages],
                [context for one in aligned for context in one.contexts],
                spans,
            )
            documents_left = self.library.readable - len(skip) - len(left_out)
            kinds = iter(wording.kinds(core, documents_left))
        for one in aligned:
            kept = []
            for passage in one.passages:
                kind = next(kinds)
                if kind is None:
                    kept.append(passage)
                else:
                    apart += [
                        ExcludedSpan(piece.begin, piece.end, kind) for piece in passage.pieces
                    ]
            if kept:
                pieces = [(piece.begin, piece.end) for passage in kept for piece in passage.pieces]
                characters = marks.add(pieces)
                matches.append(_Match(one.document, one.length, kept, pieces, characters))
        matches.sort(key=lambda match: (-match.characters, match.document.position))
        return matches, _uncopied(apart, shared, marks), left_out

    def _aligned(
        self,
        core: _core.Aligner,
        paper: _core.Paper,
        text: str,
        marks: Marks,
        positions: Sequence[int],
    ) -> list[_AlignedDocument]:
        """Return the documents at these positions that have passages of the paper."""
        import pyarrow as pa

        aligned = []
        begin, count = 0, _FIRST
        while begin < len(positions):
            documents = list(self.library.documents(positions[begin : begin + count]))
            begin += count
            characters = sum(len(document.text) for document in documents)
            count = min(_TOGETHER, max(1, _CHARACTERS * len(documents) // max(characters, 1)))
            texts = pa.array([document.text for document in documents], pa.large_string())
            of_all = core.passages(
                paper, texts, least=self.min_passage_length, workers=self.workers
            )
            for document, of_one in zip(documents, of_all, strict=True):
                passages = [_passage(text, document, *shared, marks) for shared in of_one]
                passages = [passage for passage in passages if passage.characters]
                if passages:
                    contexts = [_context(document.text, passage) for passage in passages]
                    length = len(document.text)
                    aligned.append(
                        _AlignedDocument(replace(document, text=""), length, passages, contexts)
                    )
        return aligned

    def _shared(
        self,
        paper: _core.Paper,
        aligned: Sequence[_AlignedDocument],
        weights: NDArray[np.int8],
        skip: set[int],
        left_out: int,
    ) -> list[ExcludedSpan]:
        """Return what many documents of the library share; papers are not the library."""
        from neardup.papers.shared import shared_text

        if self.count_shared:
            return []
        library = self.library
        end = len(library) - library.papers
        skipped = sum(position < end for position in skip)
        return shared_text(
            [(one.spans(), one.is_copy) for one in aligned if one.document.position < end],
            weights,
            library.readable - library.papers - skipped - left_out,
            lambda: library.shingle_counts(paper),
        )

    def _listing(
        self, text: str, listed: list[_Match], marks: Marks
    ) -> tuple[tuple[Source, ...], tuple[Passage, ...]]:
        """Return the sources and passages of the report."""
        from neardup import _core
        from neardup.papers.rates import Marks

        shown = shown_passages([match.passages for match in listed], marks.counts, self.limits)
        passages_of = {match.document.position: match.passages for match in listed}
        covers: dict[int, float] = {}
        similarities: dict[int, float] = {}
        # An index has lost a document that was removed meanwhile.
        for document in self.library.documents(list(passages_of)):
            whole = Marks(document.text, ())
            pieces = [
                piece for passage in passages_of[document.position] for piece in passage.pieces
            ]
            copied = whole.of((piece.source_begin, piece.source_end) for piece in pieces)
            covers[document.position] = whole.rate(int(copied.sum()))
            if len(similarities) < COMPARED:
                similarity = _core.edit_similarity(text, unmask(document.text))
                similarities[document.position] = similarity
        sources, passages = [], []
        for number, (match, chosen) in enumerate(zip(listed, shown, strict=True)):
            sources.append(
                Source(
                    id=match.document.id,
                    title=match.document.title,
                    characters=match.characters,
                    rate=marks.rate(match.characters),
                    cover=covers.get(match.document.position),
                    unique_characters=int((marks.of(match.spans) & (marks.sources == 1)).sum()),
                    similarity=similarities.get(match.document.position),
                    length=match.length,
                    passages=len(match.passages),
                    **match.document.fields,
                )
            )
            passages += [replace(passage, source=number) for passage in chosen]
        passages.sort(key=lambda passage: (passage.begin, -passage.end, passage.source))
        return tuple(sources), tuple(passages)


def _of_template(
    text: str, template: str, pieces: Sequence[FourPlaces]
) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a paper that are from an excluded text, also edited ones between them.

    `pieces` are in the order of the paper.
    """
    from neardup import _core

    yield from ((begin, end) for begin, end, _, _ in pieces)
    for (_, begin, _, source_begin), (end, _, source_end, _) in pairwise(pieces):
        longest = max(end - begin, source_end - source_begin)
        if end <= begin or source_end <= source_begin or longest > _LONGEST_EDIT:
            continue
        edited = _core.edit_similarity(text[begin:end], template[source_begin:source_end])
        if edited >= _EDITED:
            yield begin, end


def _context(text: str, passage: Passage) -> str | None:
    """Return the text around a passage in its source; None if the passage is half of it."""
    from neardup.papers.wording import CONTEXT

    begin, end = passage.source_begin, passage.source_end
    if 2 * (end - begin) >= len(text):
        return None
    return f"{text[max(begin - CONTEXT, 0) : begin]}\n{text[end : end + CONTEXT]}"


def _uncopied(
    apart: list[ExcludedSpan], shared: list[ExcludedSpan], marks: Marks
) -> list[ExcludedSpan]:
    """Return the stretches of wording that no passage covers, each kind without overlaps."""
    from neardup.papers.rates import bounds_of, mark_spans

    uncopied = []
    for kind in WORDING:
        spans = ((aside.begin, aside.end) for aside in apart if aside.kind == kind)
        apart_of_kind = mark_spans(len(marks.counts), spans) & ~marks.copied & ~marks.given
        for begin, end in bounds_of(apart_of_kind):
            if not marks.counts[begin:end].any():
                continue
            having = (
                stretch.documents or 0
                for stretch in shared
                if stretch.begin < end and begin < stretch.end
            )
            documents = max(having, default=None) if kind == "shared" else None
            uncopied.append(ExcludedSpan(begin, end, kind, documents))
    return uncopied


def _listed(matches: list[_Match], marks: Marks) -> list[_Match]:
    """Return the sources that a report lists: the largest, and those that add copied text."""
    listed = matches[:LISTED]
    covered = marks.of(span for match in listed for span in match.spans)
    for match in matches[LISTED:]:
        if len(listed) == MOST_LISTED:
            break
        characters = marks.of(match.spans)
        if (characters & ~covered).any():
            listed.append(match)
            covered |= characters
    return listed


def _passage(
    text: str,
    document: LibraryDocument,
    span: FourPlaces,
    similarity: float,
    of_core: list[FourPlaces],
    marks: Marks,
) -> Passage:
    from neardup.papers.rates import mark_spans

    source = document.text
    (begin, end, source_begin, source_end), pieces = passage_of(text, source, span, of_core)
    shown, shown_end = around(source, source_begin, source_end)
    counted = marks.counts[begin:end] & mark_spans(
        end - begin, ((piece.begin - begin, piece.end - begin) for piece in pieces)
    )
    return Passage(
        begin=begin,
        end=end,
        source=document.position,
        source_begin=source_begin,
        source_end=source_end,
        similarity=similarity,
        characters=int(counted.sum()),
        pieces=pieces,
        source_text=source[shown:shown_end],
        source_text_begin=shown,
    )


def _sections(paper: FileText, marks: Marks) -> tuple[Section, ...]:
    """Return the sections with their counts, subsections included."""
    from neardup.papers.structure import sections

    parts = sections(paper.text, paper.headings)
    counted_sections = []
    for number, part in enumerate(parts):
        # The part before the first heading has no subsections.
        ends = (
            later.begin
            for later in parts[number + 1 :]
            if later.level <= part.level or not part.level
        )
        begin, end = part.begin, next(ends, len(paper.text))
        characters = int(marks.counts[begin:end].sum())
        copied = int(marks.copied[begin:end].sum())
        rate = copied / characters if characters else 0.0
        counted_sections.append(
            Section(part.title, part.level, begin, end, characters, copied, rate)
        )
    return tuple(counted_sections)
