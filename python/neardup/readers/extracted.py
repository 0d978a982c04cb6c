"""What a file of any format becomes: its text, and what is known about it.

The readers of the formats put a text together with `Paragraphs`, which keeps
count of where headings and pages begin, and refuse a file with `refuse`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, NoReturn

from neardup._engine.messages import Message
from neardup._engine.validation import bad
from neardup.exceptions import InputError, MissingDependencyError
from neardup.readers.batch import Problem, refusal
from neardup.readers.encodings import Certainty

__all__ = [
    "FileText",
    "Heading",
    "Limits",
    "Paragraphs",
    "UnreadableFileError",
    "missing",
    "plain",
    "refuse",
]

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029|\x85|\x0b|\x0c")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost before it is refused.

    Parameters
    ----------
    max_bytes : int
        Size of the file, in bytes, inclusive.
    max_pages : int
        Pages of a PDF, inclusive.
    max_unpacked_bytes : int
        What a compressed file or the members of a .docx unpack to, in bytes,
        inclusive. The XML of a .docx may take a quarter of it.

    Raises
    ------
    ParameterError
        If one of them is no whole number of at least 1.

    Examples
    --------
    >>> Limits(max_pages=200).max_bytes
    268435456
    """

    max_bytes: int = 256 << 20
    max_pages: int = 5000
    max_unpacked_bytes: int = 512 << 20

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise bad(field.name, "expected.whole_from", value, least=1)


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
class FileText:
    """The text of a file.

    Parameters
    ----------
    text : str
        Paragraphs end with a line feed, but for the last one. No NULs and no
        other control characters but tabs.
    format : {'text', 'markdown', 'html', 'docx', 'pdf'}
        What the file turned out to be, whatever its name says.
    encoding : str or None
        As Python calls it; None where the format says it itself (.docx, .pdf).
    certainty : {'certain', 'likely', 'guessed'}
        How sure the encoding is.
    headings : tuple of Heading
        In the order of the text; empty where the format does not mark them. One of no
        length stands where the footnotes begin.
    pages : tuple of int
        Where each page begins in the text, in code points; empty for formats
        without pages.
    notes : tuple of Message
        What the reader of a report should know, a sentence each: an encoding
        other than UTF-8, what was left out, what could not be read.
    quoted : tuple of tuple of int
        What the file marks as quoted: half-open spans of the text, in code points, in
        its order.
    """

    text: str
    format: str
    encoding: str | None = None
    certainty: Certainty = "certain"
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()
    notes: tuple[Message, ...] = ()
    quoted: tuple[tuple[int, int], ...] = ()


class UnreadableFileError(InputError):
    """A file of which no text can be had; `problem` says why.

    Example: ``thesis.pdf: must have a text layer. Got 80 pages of pictures
    instead. Recognize the text first, for example: ocrmypdf in.pdf out.pdf``
    """

    def __init__(self, problem: Problem, message: Message | None = None) -> None:
        super().__init__(message or problem.message)
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.args[0])


def refuse(
    name: str,
    reason: str,
    found: str | None,
    remedy: str = "",
    *,
    code: str = "readers.refused",
    **values: Any,
) -> NoReturn:
    """Raise UnreadableFileError: what the file must be, what it is, the way out.

    The message has `code`, and `values` beside those of `refusal`.
    """
    message = refusal(name, reason, found, remedy, code=code, **values)
    raise UnreadableFileError(Problem(name, None, None, reason, found, remedy), message) from None


def missing(package: str, code: str) -> MissingDependencyError:
    """Return the error for a package of the extra that is not installed."""
    return MissingDependencyError(Message(code, module=package))


def plain(text: str) -> str:
    r"""Make all line ends ``\n`` and drop control characters, NULs included.

    No writing has them, they would part words that belong together, and
    neither XML nor a database could hold them in a report.
    """
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


class Paragraphs:
    """A text in the making."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.headings: list[Heading] = []
        self.pages: list[int] = []
        self.quoted: list[tuple[int, int]] = []

    def add(self, text: str, level: int = 0, *, quoted: bool = False) -> None:
        """Add a paragraph, a heading if it has a level; blank ones are none."""
        text = plain(text).strip("\n")
        if not text.strip():
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

    def footnotes(self, first: int) -> None:
        """Note that footnotes begin with a paragraph, by its number from 0, if there is one."""
        if first < len(self._parts):
            begin = sum(len(part) + 1 for part in self._parts[:first])
            self.headings.append(Heading(begin, begin, 1))

    def __len__(self) -> int:
        return len(self._parts)

    def page(self, within: int | None = None) -> None:
        """Note that a page begins here, or so many characters into the next paragraph."""
        self.pages.append(self._length + (within or 0))

    @property
    def text(self) -> str:
        """All paragraphs, a line each."""
        return "\n".join(self._parts)
