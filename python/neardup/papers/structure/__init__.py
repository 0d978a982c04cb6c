"""The structure of a paper: its sections, and the parts that are set aside.

| module | finds |
|---|---|
| `headings` | lines, whether they are wrapped, and which ones look like headings |
| `lists` | tables of contents, lists of references |
| `sections` | the parts of a paper: which of the lines are headings, and their depths |
| `asides` | what is set aside by its form: quotations and lists, without overlaps |
"""

from __future__ import annotations

from neardup.papers.structure.asides import find_asides
from neardup.papers.structure.sections import Part, find_footnotes, find_sections

__all__ = ["Part", "find_asides", "find_footnotes", "find_sections"]
