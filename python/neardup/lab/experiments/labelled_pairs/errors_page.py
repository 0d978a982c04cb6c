"""The page of errors: one HTML file with the verdict, and the worst errors side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.base import __version__
from neardup.base.messages import in_language
from neardup.lab.experiments.labelled_pairs.differences import Row, differing_rows
from neardup.lab.experiments.labelled_pairs.report import cautions
from neardup.lab.experiments.labelled_pairs.settings import sentences
from neardup.pages.templating import render
from neardup.pages.words import load_words

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs.result import PairsEvaluation

__all__ = ["errors_page"]

#: Errors of each kind that are shown, and differences of one of them.
_ERRORS, _ROWS = 20, 8


@dataclass(frozen=True)
class _Error:
    """A pair that the advised setting is wrong about.

    `names`, `titles` and `texts` are those of its two documents; `more` is the number of
    differences that are not shown.
    """

    names: tuple[str, str]
    titles: tuple[str, str]
    texts: tuple[str, str]
    label: str
    confidence: str
    reasons: list[str]
    rows: list[Row]
    more: int


def errors_page(result: PairsEvaluation, *, language: str = "zh") -> str:
    """Return the verdict and the worst errors of the advised setting as one HTML page.

    It needs no other file and no script. Texts are not translated, and all of them are escaped.
    """
    choice = result.choice
    wrong, missed = (result.mistakes(found=found) for found in (True, False))
    return render(
        "errors.html",
        load_words(language, "errors"),
        files=("report.css",),
        result=result,
        choice=choice,
        version=__version__,
        sentences=[
            in_language(message, language) for message in (*sentences(choice), *cautions(result))
        ],
        settings=(("default", choice.default), ("best", choice.best)),
        kinds=[
            (name, len(places), [_error(result, at, language) for at in places[:_ERRORS]])
            for name, places in (("wrong", wrong), ("missed", missed))
        ],
    )


def _error(result: PairsEvaluation, at: int, language: str) -> _Error:
    pair, documents = result.truth.pairs[at], result.documents
    places = (int(result.pairs.a[at]), int(result.pairs.b[at]))
    a, b = (documents.texts[place] for place in places)
    rows = differing_rows(a, b)
    return _Error(
        names=(pair.id_a, pair.id_b),
        titles=(documents.titles[places[0]] or "", documents.titles[places[1]] or ""),
        texts=(a, b),
        label=pair.label,
        confidence=pair.confidence,
        reasons=[in_language(reason, language) for reason in result.evidence[at].reasons()],
        rows=rows[:_ROWS],
        more=max(len(rows) - _ROWS, 0),
    )
