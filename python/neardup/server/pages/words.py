"""The language of a page, and its texts."""

from __future__ import annotations

from fastapi import Request

from neardup.papers.report.words import LANGUAGES, Words, load_words

__all__ = ["COOKIE", "language_of_request", "other", "page_words"]

#: Cookie with the language that the reader chose.
COOKIE = "neardup_language"


def page_words(language: str) -> Words:
    """Return the texts of a language.

    Parameters
    ----------
    language : {'zh', 'en'}
    """
    return load_words(language, "neardup.server.pages", "words")


def language_of_request(request: Request, chosen: object = None) -> str:
    """Return the language of a page: the one chosen now, or before, or the browser's preference.

    Parameters
    ----------
    request : Request
    chosen : object, default=None
        Language field of a form; any value that is not a language is ignored.

    Returns
    -------
    {'zh', 'en'}
    """
    for one in (chosen, request.query_params.get("language"), request.cookies.get(COOKIE)):
        if one in LANGUAGES:
            return str(one)
    asked = _asked(request.headers.get("accept-language", ""))
    return asked or str(request.app.state.settings.language)


def other(language: str) -> str:
    """Return the other language, for the switch."""
    return next(one for one in LANGUAGES if one != language)


def _asked(header: str) -> str | None:
    """Return the preferred language of the header, None if it names none of ours.

    Examples
    --------
    >>> _asked("de, en;q=0.5, zh-CN;q=0.8"), _asked("fr")
    ('zh', None)
    """
    best: tuple[float, str] | None = None
    for part in header[:1000].split(","):
        tag, _, quality = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        if language not in LANGUAGES:
            continue
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality.strip() else 1.0
        except ValueError:
            continue
        if weight > 0 and (best is None or weight > best[0]):
            best = (weight, language)
    return None if best is None else best[1]
