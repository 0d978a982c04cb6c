"""The page of errors: one HTML file with the verdict, and the worst errors side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.base import __version__
from neardup.base.messages import in_language
from neardup.lab.experiments.labelled_pairs.report import cautions
from neardup.lab.experiments.labelled_pairs.settings import sentences
from neardup.pages.templating import render
from neardup.pages.words import load_words
from neardup.papers.align import align_sides

if TYPE_CHECKING:
    from neardup.lab.experiments.labelled_pairs.result import PairsEvaluation

__all__ = ["errors_page"]

#: Errors of each kind that are shown.
_ERRORS = 20


def errors_page(result: PairsEvaluation, *, language: str = "zh") -> str:
    """Return the verdict and the worst errors of the advised setting as one HTML page.

    It needs no other file and no script. Texts are not translated, and all of them are escaped.
    """
    choice = result.choice
    wrong, missed = (result.mistakes(found=found) for found in (True, False))
    return render(
        "errors.html",
        load_words(language, "errors"),
        files=("report.css", "sides.css"),
        result=result,
        choice=choice,
        version=__version__,
        sentences=[in_language(line, language) for line in (*sentences(choice), *cautions(result))],
        settings=(("default", choice.default), ("best", choice.best)),
        kinds=[
            (name, len(places), [_error(result, place, language) for place in places[:_ERRORS]])
            for name, places in (("wrong", wrong), ("missed", missed))
        ],
    )


def _error(result: PairsEvaluation, place: int, language: str) -> dict[str, Any]:
    """Return what the page shows of a pair that the advised setting is wrong about."""
    pair, documents = result.truth.pairs[place], result.documents
    of_pair = (int(result.pairs.a[place]), int(result.pairs.b[place]))
    return {
        "names": (pair.id_a, pair.id_b),
        "titles": [documents.titles[document] for document in of_pair],
        "sides": align_sides(*(documents.texts[document] for document in of_pair)),
        "label": pair.label,
        "confidence": pair.confidence,
        "verdict": in_language(result.evidence[place].verdict, language),
    }
