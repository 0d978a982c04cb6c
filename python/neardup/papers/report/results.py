"""What a check of a paper finds: rates, sources, sections and passages."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "EXCLUDED",
    "Aside",
    "Passage",
    "Piece",
    "Rates",
    "Section",
    "Source",
]

#: Kinds of text that is set aside. What ``given`` marks counts nowhere; the other
#: kinds count in the total rate, and not in the rate without quotations.
EXCLUDED = ("quotation", "references", "contents", "given")


@dataclass(frozen=True)
class Piece:
    """A stretch of the paper and the stretch of the source that it repeats.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points.
    source_begin, source_end : int
        Half-open span of the source's text, in code points.
    """

    begin: int
    end: int
    source_begin: int
    source_end: int


@dataclass(frozen=True)
class Passage:
    """A part of the paper that stands in a source.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points.
    source : int
        Position of the source in ``Report.sources``, from 0.
    source_begin, source_end : int
        Half-open span of the source's text, in code points.
    similarity : float
        Share of the longer of the two texts that no edit touches, in [0, 1];
        letters and digits only.
    characters : int
        Characters of the paper in it that count: see `Report.characters`.
    pieces : tuple of Piece
        What the passage is made of, in the order of the paper. More than one
        where sentences were moved, or text was put in between.
    source_text : str
        The source's text of the passage, with some of what stands around it.
    source_text_begin : int
        Where `source_text` begins in the source's text, in code points.
    """

    begin: int
    end: int
    source: int
    source_begin: int
    source_end: int
    similarity: float
    characters: int
    pieces: tuple[Piece, ...]
    source_text: str = field(repr=False)
    source_text_begin: int


@dataclass(frozen=True)
class Source:
    """A document of the library of which the paper repeats something.

    Parameters
    ----------
    id : str
        What the library calls it.
    title : str or None
    characters : int
        Characters of the paper that stand in it.
    rate : float
        `characters` over those of the paper, in [0, 1].
    only_here : int
        Characters of the paper that stand in it and in no other source.
    similarity : float or None
        Edit similarity of the two whole texts, in [0, 1]; None where it was not
        computed, because the paper repeats too little of it.
    length : int
        Length of the source's text, in code points.
    passages : int
        Passages in common with the paper. The report may show fewer: see
        :class:`neardup.papers.ReportLimits`.
    """

    id: str
    title: str | None
    characters: int
    rate: float
    only_here: int
    similarity: float | None
    length: int
    passages: int


@dataclass(frozen=True)
class Section:
    """A part of the paper under one heading, with all that stands deeper under it.

    Parameters
    ----------
    title : str
        The heading; empty for what stands before the first one, and for the footnotes
        of a Word document.
    level : int
        Depth of the heading, from 1; 0 for what stands before the first one. Footnotes
        have 1.
    begin, end : int
        Half-open span of the paper's text, in code points. It ends where the next
        section of the same or a higher level begins: sections that are in no other one
        follow each other without gaps, and their characters add up to the paper's.
    characters : int
        Characters that count.
    copied : int
        Those of them that stand in a source.
    rate : float
        `copied` over `characters`, in [0, 1].
    """

    title: str
    level: int
    begin: int
    end: int
    characters: int
    copied: int
    rate: float


@dataclass(frozen=True)
class Aside:
    """A part of the paper that is set aside.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points.
    kind : {'quotation', 'references', 'contents', 'given'}
        Text in quotation marks, the list of references, the table of contents, or
        what stands in a text that was given to be excluded.
    """

    begin: int
    end: int
    kind: str


@dataclass(frozen=True)
class Rates:
    """Shares of a paper, each in [0, 1] and of the same number of characters.

    Parameters
    ----------
    total : float
        What stands in any source (总文字复制比).
    without_quotations : float
        The same without quotations, references and contents (去除引用文献复制比).
    largest_source : float
        What stands in the single source of which the paper repeats most
        (单篇最大文字复制比).
    """

    total: float
    without_quotations: float
    largest_source: float
