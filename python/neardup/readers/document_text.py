"""The text of a file of any format, with its headings, pages and notes, as the readers build it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn

from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.exceptions import InputError
from neardup.readers.batch import Problem, make_refusal
from neardup.readers.encodings import Certainty

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
#: Letters of at most this size, in points, are unreadable.
TINY = 2
#: Colours whose parts differ by at most this are hard to tell apart.
_ALIKE = 0x10
#: Characters of text that is left out.
_EXCERPT = 200
#: Ranges of pages that a message names.
_SHOWN = 8
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029|\x85|\x0b|\x0c")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a file is refused.

    Parameters
    ----------
    max_bytes : int
        Size of the file, in bytes, inclusive.
    max_pages : int
        Pages of a PDF, inclusive.
    max_unpacked_bytes : int
        Unpacked size of a compressed file or of the members of a .docx, in bytes,
        inclusive. The XML of a .docx may take a quarter of it.

    Raises
    ------
    ParameterError
        If a limit is not a whole number of at least 1.

    Examples
    --------
    >>> Limits(max_pages=200).max_bytes
    268435456
    """

    max_bytes: int = 256 << 20
    max_pages: int = 5000
    max_unpacked_bytes: int = 512 << 20

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise bad(limit.name, "a whole number of at least {least}", value, least=1)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in a text.

    Parameters
    ----------
    begin, end : int
        Half-open span of the text, in code points, without the line end.
    level : int
        Depth, from 1 to 9.
    """

    begin: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text of a file that a reader of the printed document does not see.

    Parameters
    ----------
    begin, end : int
        Half-open span of the text, in code points; empty if the text is left out.
    kind : {'hidden_text', 'white_text', 'tiny_text'}
        Marked as hidden, or invisible; in the colour of its ground; at most 2 points high. A Word
        document's hidden text and all of a PDF's is left out.
    count : int
        Number of characters, without white space unless the text is left out.
    text : str, default=""
        The beginning of text that is left out, up to 200 characters.
    """

    begin: int
    end: int
    kind: str
    count: int
    text: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text[:_EXCERPT])


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file.

    Parameters
    ----------
    text : str
        Every paragraph but the last ends with a line feed. Tabs are the only other
        control characters.
    format : {'text', 'markdown', 'html', 'docx', 'pdf'}
        The format of the content, independent of the file's name.
    encoding : str or None
        Python's name; None for formats that define it themselves (.docx, .pdf).
    certainty : {'certain', 'likely', 'guessed'}
        How certain the encoding is.
    headings : tuple of Heading
        In text order; empty if the format does not mark them. An empty heading marks the
        beginning of the footnotes.
    pages : tuple of int
        Where each page begins in the text, in code points; empty for formats
        without pages.
    notes : tuple of Message
        Notes for the reader of a report, one sentence each: an encoding other than
        UTF-8, text left out, text that could not be read.
    quoted : tuple of tuple of int
        Text that the file marks as quoted: half-open spans of the text, in code points, in
        text order.
    properties : dict of str to str
        What a Word document or PDF states of itself, of any length; often wrong: ``title``,
        ``author``, ``modified_by``, ``company``, ``program``, ``producer``, ``template``,
        the times ``created`` and ``modified``, and ids, which copies of a file share: ``id``,
        ``origin_id``, ``wps_id`` and ``wps_account``.
    hidden : tuple of HiddenText
        Text of a Word document or PDF that a reader does not see, in text order.
    pictures : tuple of int
        Where the pictures of a Word or PDF document are in the text, in code points: the place
        in the paragraph or the beginning of the page.
    garbled : float
        Share of the characters, without white space, that are in no language, in [0, 1], because a
        font does not say what they are or an encoding is wrong. A note names the pages.
    garbled_spans : tuple of tuple of int
        Which letters are: half-open spans of the text, in code points, in text order.
    problems : tuple of Problem
        Parts of the file that could not be read: the damaged pages of a PDF.
    """

    text: str
    format: str
    encoding: str | None = None
    certainty: Certainty = "certain"
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()
    notes: tuple[Message, ...] = ()
    quoted: tuple[tuple[int, int], ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[HiddenText, ...] = ()
    pictures: tuple[int, ...] = ()
    garbled: float = 0.0
    garbled_spans: tuple[tuple[int, int], ...] = ()
    problems: tuple[Problem, ...] = ()


class UnreadableFileError(InputError):
    """A file without readable text; `problem` gives the reason.

    Example: ``thesis.pdf: must have a text layer. Got 80 pages of pictures
    instead. Recognize the text first, for example: ocrmypdf in.pdf out.pdf``
    """

    def __init__(self, problem: Problem, message: Message | None = None) -> None:
        super().__init__(message or problem.message)
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.args[0])


def refuse(name: str, reason: str, content: str | None, remedy: str = "") -> NoReturn:
    """Raise UnreadableFileError; for the message see `make_refusal`."""
    message = make_refusal(name, reason, content, remedy)
    raise UnreadableFileError(Problem(name, None, None, reason, content, remedy), message) from None


def clean_text(text: str) -> str:
    r"""Return text with all line ends as ``\n`` and without control characters."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


def _map_offsets(text: str, offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield offsets of a text, which are in order, each with that in the plain text."""
    within = last = 0
    for offset in offsets:
        within += len(clean_text(text[last:offset]))
        # Both are one line end.
        within -= text[max(last - 1, 0) : last + 1] == "\r\n" and offset > last
        last = offset
        yield offset, within


def join_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as ranges, and show only the first ones.

    Examples
    --------
    >>> join_ranges([9, 2, 3, 4])
    '2-4, 9'
    """
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in parts[:_SHOWN]]
    return ", ".join([*shown, *(["…"] if parts[_SHOWN:] else [])])


def is_like(colour: Sequence[int], ground: Sequence[int]) -> bool:
    """Return whether letters of a colour are as good as invisible on a ground."""
    return len(colour) == len(ground) and all(
        abs(part - below) <= _ALIKE for part, below in zip(colour, ground, strict=True)
    )


class Paragraphs:
    """A text under construction."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.headings: list[Heading] = []
        self.pages: list[int] = []
        self.quoted: list[tuple[int, int]] = []
        self.properties: dict[str, str] = {}
        self.hidden: list[HiddenText] = []
        self.pictures: list[int] = []
        self.problems: list[Problem] = []

    def add_properties(self, properties: Iterable[tuple[str, str]]) -> None:
        """Add what the file states of itself."""
        for name, value in properties:
            # JSON cannot represent half of a pair of code units.
            text = clean_text(value.encode("utf-8", "replace").decode()).strip()
            if text:
                self.properties.setdefault(name, text)

    def add(
        self,
        text: str,
        level: int = 0,
        *,
        quoted: bool = False,
        hidden: Sequence[HiddenText] = (),
        pictures: Sequence[int] = (),
        edges: str = "\n",
    ) -> None:
        """Add a paragraph, or a heading if it has a level; skip a blank one.

        `hidden` and `pictures` have offsets within the paragraph. The characters of `edges` are
        left out at its ends.
        """
        original, text = text, clean_text(text)
        lead = len(text) - len(text.lstrip(edges))
        text = text.strip(edges)
        length = len(text) if text.strip() else 0

        offsets = {*pictures, *(offset for part in hidden for offset in (part.begin, part.end))}
        places = {
            offset: self._length + min(max(within - lead, 0), length)
            for offset, within in _map_offsets(original, sorted(offsets))
        }
        self.hidden += [
            replace(part, begin=places[part.begin], end=places[part.end]) for part in hidden
        ]
        self.pictures += [places[picture] for picture in pictures]
        if not length:
            return
        begin = self._length
        self._parts.append(text)
        self._length += len(text) + 1
        if level:
            stripped = text.strip()
            begin += text.index(stripped)
            self.headings.append(Heading(begin, begin + len(stripped), min(level, 9)))
        elif quoted:
            self.quoted.append((begin, begin + len(text)))

    def mark_footnotes(self, first: int) -> None:
        """Mark a paragraph, by its number from 0, as the first of the footnotes, if it exists."""
        if first < len(self._parts):
            begin = sum(len(part) + 1 for part in self._parts[:first])
            self.headings.append(Heading(begin, begin, 1))

    def __len__(self) -> int:
        return len(self._parts)

    def begin_page(self, within: int) -> None:
        """Begin a page `within` characters into the next paragraph."""
        self.pages.append(self._length + within)

    @property
    def text(self) -> str:
        """All paragraphs, one per line."""
        return "\n".join(self._parts)
