"""What a paper is made of: the parts under its headings, and what is set aside.

| module | finds |
|---|---|
| `lines` | lines, and whether paragraphs are wrapped |
| `headings` | what a heading looks like, by itself |
| `outline` | which of those are headings, and how deep |
| `sections` | the parts of a paper |
| `contents`, `references`, `quotations` | what each is called for |
| `asides` | all of them, apart from each other |
"""

from __future__ import annotations

from neardup.papers.structure.asides import asides
from neardup.papers.structure.sections import Part, footnotes_begin, sections

__all__ = ["Part", "asides", "footnotes_begin", "sections"]
