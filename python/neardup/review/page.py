"""A review as one self-contained HTML page: printable, searchable, without a server."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.messages import language_of_environment
from neardup.papers.report.sides import align_sides
from neardup.papers.report.templating import environment, self_contained
from neardup.papers.report.words import load_words
from neardup.review.evidence import Evidence

if TYPE_CHECKING:
    from jinja2 import Environment

    from neardup.run.summary import Summary

__all__ = ["Review"]

_PACKAGE = "neardup.review"

#: Characters of a text that a table shows.
_BEGINNING = 120


@dataclass(frozen=True)
class Review:
    """What a run removed, to look at.

    Parameters
    ----------
    evidence : Evidence
    summary : Summary
    measure : str
        The similarity measure.
    threshold : float or None
        The lowest similarity of a duplicate, inclusive.
    max_distance : int or None
        For fingerprints: the largest distance of a duplicate, inclusive.
    """

    evidence: Evidence
    summary: Summary
    measure: str
    threshold: float | None
    max_distance: int | None

    def to_html(self, *, language: str | None = None) -> str:
        """Return the review as one self-contained page.

        Parameters
        ----------
        language : {'zh', 'en'}, optional
            Language of the page; texts are not translated. By default that of the environment,
            which is English if the environment sets neither.

        Returns
        -------
        str
            The page, to be written as UTF-8: 50 pairs of 2,000 characters make 1 MB.

        Raises
        ------
        ParameterError
            If there is no such language.
        """
        words = load_words(language or language_of_environment(), _PACKAGE)
        pairs = [
            (number, removal, align_sides(removal.removed.text, removal.kept.text))
            for number, removal in enumerate(self.evidence.removals, 1)
        ]
        return (
            _templates()
            .get_template("review.html")
            .render(
                **self_contained(
                    "report.css", "sides.css", "review.css", "review.js", package=_PACKAGE
                ),
                w=words,
                review=self,
                summary=self.summary,
                evidence=self.evidence,
                pairs=pairs,
                most=max((count for *_, count in self.evidence.classes), default=1),
                beginning=_beginning,
                has_pieces=any(sides.pieces for _, _, sides in pairs),
            )
        )

    def save(self, path: str | Path, *, language: str | None = None) -> None:
        """Write the page to a file, and replace one that is there.

        Parameters
        ----------
        path : str or Path
        language : {'zh', 'en'}, optional
            As in `to_html`.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from neardup.writers import OutputSet

        with OutputSet() as outputs:
            outputs.open_text(path, force=True).write(self.to_html(language=language).encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style stays inside."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" '
            'style="width:100%;height:40rem;border:1px solid #d4d0c7"></iframe>'
        )


def _beginning(text: str) -> str:
    some = " ".join(text[: 2 * _BEGINNING].split())
    return some if len(some) <= _BEGINNING else f"{some[:_BEGINNING]}…"


@lru_cache
def _templates() -> Environment:
    return environment(_PACKAGE)
