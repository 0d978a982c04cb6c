"""The draft of a report, which each step of a check adds to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from neardup.base.lazy import _core
from neardup.papers.library import Library, LibraryDocument
from neardup.papers.marks import Marks
from neardup.papers.results import ExcludedSpan, Finding, Passage, Rates, Section, Source
from neardup.papers.settings import CheckSettings, Paper
from neardup.papers.verdict import NoVerdict


@dataclass
class Match:
    """A document with its passages, and the text around each.

    Its text, of `length` code points, is not stored: there may be a thousand documents.
    `characters` are its counted ones, once they are marked.
    """

    document: LibraryDocument
    length: int
    passages: list[Passage]
    contexts: list[str | None]
    characters: int = 0

    def list_spans(self) -> list[tuple[int, int]]:
        """Return the spans of the paper that it has."""
        return [(piece.begin, piece.end) for one in self.passages for piece in one.pieces]

    def list_source_spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans of its text that the paper has."""
        pieces = (piece for passage in self.passages for piece in passage.pieces)
        return ((piece.source_begin, piece.source_end) for piece in pieces)

    @property
    def is_copy(self) -> bool:
        """Whether the paper has half of its text, or more."""
        return 2 * sum(end - begin for begin, end in self.list_source_spans()) >= self.length


@dataclass
class Draft:
    """All that is known of a paper so far. Each group of fields is added by the named step."""

    settings: CheckSettings
    library: Library
    paper: Paper

    # read: the text that is compared, as long as that of the paper.
    text: str
    prepared: _core.Paper
    findings: tuple[Finding, ...]
    asides: list[ExcludedSpan]
    marks: Marks

    # find_sources: positions in the library.
    candidates: list[int] = field(default_factory=list)

    # align, from which set_aside takes passages; mark sorts them, the largest first.
    matches: list[Match] = field(default_factory=list)
    #: Ids of sources that the caller leaves out.
    left_out: list[str] = field(default_factory=list)

    # set_aside: wording, which may be in passages too, and how many documents have shared text.
    wording: list[ExcludedSpan] = field(default_factory=list)
    shared: list[ExcludedSpan] = field(default_factory=list)

    # rate
    listed: list[Match] = field(default_factory=list)
    sources: tuple[Source, ...] = ()
    passages: tuple[Passage, ...] = ()
    sections: tuple[Section, ...] = ()
    rates: Rates | None = None
    no_verdict: NoVerdict | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Number of documents that the paper is compared with."""
        return self.library.readable - len(self.paper.skip)
