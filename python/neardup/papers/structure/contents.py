"""Tables of contents, and lists of figures."""

from __future__ import annotations

from neardup.papers.structure.headings import bare_words, form, is_entry
from neardup.papers.structure.lines import Line

__all__ = ["contents", "is_heading"]

_NAMES = ("contents", "table of contents", "list of figures", "list of tables")

#: Smallest number of entries of a table, with a heading and without one.
_UNDER_HEADING = 2
_ALONE = 3


def contents(found: list[Line]) -> list[tuple[int, int]]:
    """Return the tables of contents.

    Parameters
    ----------
    found : list of Line
        The lines of the text.

    Returns
    -------
    list of tuple of int
        Half-open, disjoint spans of positions in `found`, in order.

    Notes
    -----
    A table begins with its heading (目录, Contents) and continues while lines end in a
    page number; a single line without one is the first half of a long entry. Without a
    heading, a table has at least three such lines in a row whose page numbers do not
    decrease, half of them with dots before the number or words that look like a heading,
    since rows of other tables end in numbers too. Linear.
    """
    spans = []
    at = 0
    while at < len(found):
        named = is_heading(found[at].text)
        end, entries = _run(found, at + named, named)
        if entries >= (_UNDER_HEADING if named else _ALONE):
            spans.append((at, end))
            at = end
        else:
            # No table begins later in a run that is too short.
            at = max(end, at + 1)
    return spans


def is_heading(text: str) -> bool:
    """Return whether a line is the heading of a table of contents, or of figures."""
    words = bare_words(text)
    return (words.endswith(("目录", "目次")) and len(words) <= 4) or words.lower() in _NAMES


def _run(found: list[Line], begin: int, named: bool) -> tuple[int, int]:
    """Return the end of the entries from `begin` on, and their number."""
    if not named:
        return _run_alone(found, begin)
    end = begin
    entries = 0
    while end < len(found):
        if is_entry(found[end].text, how="close"):
            entries += 1
        elif end + 1 == len(found) or not is_entry(found[end + 1].text, how="spaced"):
            break
        end += 1
    return end, entries


def _run_alone(found: list[Line], begin: int) -> tuple[int, int]:
    end = begin
    page = telling = 0
    while end < len(found) and is_entry(found[end].text, how="spaced"):
        title, number = _halves(found[end].text)
        if number.isdecimal():
            if int(number) < page:
                break
            page = int(number)
        # Financial tables have dots before each of several numbers.
        dotted = is_entry(found[end].text) and "..." not in title.rstrip(". ")
        telling += dotted or form(title.strip()) is not None
        end += 1
    return end, end - begin if 2 * telling >= end - begin else 0


def _halves(text: str) -> tuple[str, str]:
    """Return the title and the page number."""
    bare = text.rstrip("-–)） ")
    number = bare[len(bare.rstrip("0123456789ivxlcIVXLC")) :]
    return bare[: len(bare) - len(number)].rstrip(" \t\u3000-–(（"), number
