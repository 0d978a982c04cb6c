"""The settings of a check, and the paper that it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from neardup.base.messages import Message
from neardup.options.options import PASSAGE
from neardup.papers.cover import Cover, RecordTable
from neardup.papers.limits import ReportLimits
from neardup.papers.verdict import Thresholds
from neardup.readers.document_text import FileText

#: Largest number of documents of the library that are aligned with a paper.
CANDIDATES = 1000


@dataclass(frozen=True)
class CheckSettings:
    """Settings of a check.

    `excluded` are texts: what occurs in them is neither copied nor counted. `descriptions` is a
    table of titles and authors of sources. The other settings are parameters of `neardup.check`.
    """

    min_passage_length: int = PASSAGE
    excluded: Sequence[str] = ()
    without_sources: frozenset[str] = frozenset()
    count_shared: bool = False
    limits: ReportLimits = field(default_factory=ReportLimits)
    thresholds: Thresholds | None = None
    descriptions: RecordTable | None = None
    workers: int = 0

    def describe(self) -> dict[str, int | float | str | bool]:
        """Return the settings that a report states."""
        return {
            "min_passage_length": self.min_passage_length,
            "candidates": CANDIDATES,
            **asdict(self.limits),
            "count_shared": self.count_shared,
            "excluded_files": len(self.excluded),
        }


@dataclass(frozen=True)
class Paper:
    """A paper to check.

    It is not compared with the documents of the library at the positions `skip`. The `cover` has
    priority over what the document states of itself; `note` is one more note of its report.
    """

    name: str
    file: FileText
    skip: frozenset[int] = frozenset()
    cover: Cover = field(default_factory=Cover)
    note: Message | None = None
