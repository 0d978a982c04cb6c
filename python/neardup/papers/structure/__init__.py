"""The structure of a paper: its sections, and the parts that are set aside.

| module | finds |
|---|---|
| `lines` | lines, and whether paragraphs are wrapped |
| `headings` | single lines that look like headings |
| `outline` | which of those are headings, and their depths |
| `sections` | the parts of a paper |
| `contents`, `references`, `quotations` | tables of contents, reference lists, quotations |
| `furniture` | what sites and agencies put around a text |
| `brackets` | text in brackets, such as commentary between the lines |
| `asides` | the parts that are set aside by their form, without overlaps |
"""

from __future__ import annotations

from neardup.papers.structure.asides import asides
from neardup.papers.structure.sections import Part, footnotes_begin, sections

__all__ = ["Part", "asides", "footnotes_begin", "sections"]
