"""Parts of a paper that are set aside: quotations, references, tables of contents."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.base.validation import check_string
from neardup.papers.results import Aside
from neardup.papers.structure.contents import contents
from neardup.papers.structure.lines import Line, layout, lines
from neardup.papers.structure.quotations import quotations
from neardup.papers.structure.references import references

__all__ = ["asides", "lists"]

Span = tuple[int, int]


def asides(text: str, *, quoted: Sequence[Span] = (), footnotes: int | None = None) -> list[Aside]:
    """Return the parts of a paper that are not its author's words, by their form.

    Parameters
    ----------
    text : str
        The paper's text.
    quoted : sequence of tuple of int, default=()
        Text that the file marks as quoted: half-open spans, in code points.
    footnotes : int or None, default=None
        Where the footnotes at the end begin: a list of references ends before
        them.

    Returns
    -------
    list of Aside
        In the order of the text; they do not overlap. Each has one of these kinds:

        ``'quotation'``
            From an opening mark to its closing one, both included: “…”, „…“, «…»,
            「…」, 『…』, straight ones, and ‘…’. It has at least 10 Chinese characters
            or kana, or 25 letters and digits of other scripts, or a mixture that
            amounts to as much; in ‘…’ twice as many. Shorter ones are terms. It has
            at most 2,000 code points and ends before a blank line; with straight marks,
            it ends at the end of a line if lines are paragraphs. Of nested quotations,
            the outermost counts. If each paragraph of a quotation has an opening mark
            and only the last one a closing mark, it spans all of them. Block quotes of
            Markdown (``>``) and text that the file marks as quoted have the same bounds.
            Titles in 《…》 are not quotations.
        ``'references'``
            A list of references with its heading, to the next heading or the end, or
            to the last work if 1,000 code points follow without another one. Without a
            heading: works numbered [1], [2], [3] and so on at the end.
        ``'contents'``
            A table of contents, or a list of figures or tables, with its heading.

    Raises
    ------
    ParameterError
        If `text` is not text.

    Notes
    -----
    The parts are recognized by form, so there are errors of both kinds. Tables of contents
    and lists of references are not searched for quotations. Linear in the length of the
    text.

    Examples
    --------
    >>> text = "他写道：“河水涨到第三级石阶，渡口便停了。”\\n\\n参考文献\\n[1] 王岚. 渡口志[M]."
    >>> for aside in asides(text):
    ...     print(aside.kind, text[aside.begin : aside.end].splitlines())
    quotation ['“河水涨到第三级石阶，渡口便停了。”']
    references ['参考文献', '[1] 王岚. 渡口志[M].']
    """
    found = list(lines(check_string(text, "text")))
    tables, works = lists(found)
    if footnotes is not None:
        works = [(begin, min(end, footnotes)) for begin, end in works if begin < footnotes]
    found_asides = [Aside(*span, "contents") for span in tables]
    found_asides += [Aside(*span, "references") for span in works]
    found_asides.sort(key=lambda aside: aside.begin)
    taken = [(aside.begin, aside.end) for aside in found_asides]
    quotes = _apart_from(quotations(text, found, layout(found), quoted), taken)
    found_asides += [Aside(*span, "quotation") for span in quotes]
    return sorted(found_asides, key=lambda aside: aside.begin)


def lists(found: list[Line]) -> tuple[list[Span], list[Span]]:
    """Return the tables of contents and the lists of references.

    Parameters
    ----------
    found : list of Line
        The lines of a text.

    Returns
    -------
    tuple of two lists of tuple of int
        Half-open, disjoint spans of the text in code points.
    """
    tables = [(found[a].begin, found[b - 1].end) for a, b in contents(found)]
    rest = _apart_from([(line.begin, line.end) for line in found], tables)
    kept = {begin for begin, _ in rest}
    outside = [line for line in found if line.begin in kept]
    works = [(outside[a].begin, outside[b - 1].end) for a, b in references(outside)]
    return tables, _apart_from(works, tables)


def _apart_from(spans: list[Span], taken: list[Span]) -> list[Span]:
    """Return the spans that do not overlap any of the others; both lists are in order."""
    apart = []
    at = 0
    for begin, end in spans:
        while at < len(taken) and taken[at][1] <= begin:
            at += 1
        if at == len(taken) or taken[at][0] >= end:
            apart.append((begin, end))
    return apart
