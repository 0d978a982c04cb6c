"""Results of a check: rates, sources, sections and passages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from neardup.pages.words import W_

#: Kinds of wording: text that sources share, and that is not copied.
WORDING = ("furniture", "common", "shared")

#: Kinds of text that is set aside. ``given`` is excluded text, which is not counted, and
#: wording is no copied text; the other kinds count in the total rate, but not in the rate
#: without quotations.
EXCLUDED = ("quotation", "references", "contents", "given", *WORDING)

#: Kinds of findings that may hide copied text, in words; pictures are counted, too.
HIDING = {
    "look_alikes": W_("Letters of another script that look like letters of the word: {count}"),
    "invisible": W_("Invisible characters within words: {count}"),
    "reordered_text": W_("Letters in another order than they are shown: {count}"),
    "hidden_text": W_("Characters of hidden or invisible text: {count}"),
    "white_text": W_("Characters in white, or in the colour of their ground: {count}"),
    "tiny_text": W_("Characters of at most 2 points: {count}"),
}


@dataclass(frozen=True)
class Piece:
    """A stretch of the paper, and the stretch of the source that it repeats.

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
    """A part of the paper that occurs in a source.

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
        Its counted characters of the paper: see `Report.characters`.
    pieces : tuple of Piece
        The pieces of the passage, in the order of the paper; more than one if
        sentences were moved or text was inserted.
    source_text : str
        The source's text of the passage, with some text around it.
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
    """A document of the library that has passages in common with the paper.

    Parameters
    ----------
    id : str
        Its id in the library.
    title : str or None
    characters : int
        Counted characters of the paper that occur in it.
    rate : float
        `characters` over those of the paper, in [0, 1].
    cover : float or None
        Share of the source's letters and digits that the paper has, in [0, 1]; None if
        the source was removed from its index during the check.
    unique_characters : int
        Counted characters of the paper that occur in it and in no other source.
    similarity : float or None
        Edit similarity of the two whole texts, in [0, 1]; None if it was not
        computed, since it is computed for the largest sources only.
    length : int
        Length of the source's text, in code points.
    passages : int
        Number of passages in common with the paper. The report may show fewer: see
        :class:`neardup.papers.ReportLimits`.
    author, year, journal : str or None, default=None
        From the fields of a document in an index, or from a table of the library.
    """

    id: str
    title: str | None
    characters: int
    rate: float
    cover: float | None
    unique_characters: int
    similarity: float | None
    length: int
    passages: int
    author: str | None = None
    year: str | None = None
    journal: str | None = None


@dataclass(frozen=True)
class Section:
    """A part of the paper under one heading, subsections included.

    Parameters
    ----------
    title : str
        The heading; empty for the text before the first heading, and for the footnotes
        of a Word document.
    level : int
        Depth of the heading, from 1; 0 for the text before the first heading. Footnotes
        have 1.
    begin, end : int
        Half-open span of the paper's text, in code points. It ends where the next
        section of the same or a higher level begins: top-level sections follow each
        other without gaps, and their characters add up to the paper's.
    characters : int
        Counted characters.
    copied : int
        Counted characters that occur in a source.
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
class ExcludedSpan:
    """A part of the paper that is set aside.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points.
    kind : {'quotation', 'references', 'contents', 'given', 'furniture', 'common', 'shared'}
        Text in quotation marks, the list of references, the table of contents, text that
        occurs in an excluded file, or text that sources share and that is not a copy: site
        furniture, common wording, and what many documents of the library share. Where common
        wording is part of a passage, it is copied text and not set aside.
    documents : int or None, default=None
        How many documents of the library have shared text; None for other kinds.
    """

    begin: int
    end: int
    kind: str
    documents: int | None = None


@dataclass(frozen=True)
class Place:
    """A place in the paper.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points. It is empty for what is not in the
        text: a picture, or hidden text.
    page : int or None
        The page, from 1; None if the format has no pages.
    text : str, default=""
        The beginning of hidden text that is not in the paper's text.
    """

    begin: int
    end: int
    page: int | None
    text: str = ""


@dataclass(frozen=True)
class Finding:
    """Something that may hide copied text. It is undone before the comparison.

    Parameters
    ----------
    kind : str
        'look_alikes': letters of another script that look like letters of the word; 'invisible':
        invisible characters within words; 'reordered_text': letters that directional marks show in
        another order than the file has them; 'hidden_text', 'white_text', 'tiny_text': text of a
        Word document or PDF that is hidden, white, or at most 2 points high; and 'pictures', in
        which text is not read. The report has reordered text as it is shown.
    count : int
        Number of letters, characters or pictures.
    places : tuple of Place
        The first 1,000, in the order of the paper: words with look-alikes, and stretches.
    """

    kind: str
    count: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class CountedRuns:
    """The paper cut into runs with the same sources, from which all rates can be counted again.

    Parameters
    ----------
    begins : tuple of int
        Where each run begins, in code points; the last number is the length of the paper.
    characters : tuple of int
        Counted characters of each run; negative in quotations, references and contents.
    sources : tuple of tuple of tuple of int
        For each source of the report the runs that occur in it, as half-open spans of positions in
        `characters`; the last entry is of all sources that the report does not list.
    """

    begins: tuple[int, ...]
    characters: tuple[int, ...]
    sources: tuple[tuple[tuple[int, int], ...], ...]

    def locate(self, spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Return the runs within spans of the paper, whose bounds are bounds of runs."""
        return tuple(
            (bisect_left(self.begins, begin), bisect_left(self.begins, end)) for begin, end in spans
        )


@dataclass(frozen=True)
class Rates:
    """Rates of a paper, each in [0, 1] and a share of the same number of characters.

    Parameters
    ----------
    total : float
        Share of text that occurs in any source (总文字复制比).
    without_quotations : float
        The same without quotations, references and contents (去除引用文献复制比).
    largest_source : float
        Share of text that occurs in the largest single source
        (单篇最大文字复制比).
    """

    total: float
    without_quotations: float
    largest_source: float
