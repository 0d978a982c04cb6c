"""In which language a page is, and its words."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources

from fastapi import Request

from neardup.papers.report.words import LANGUAGES, Words

__all__ = ["COOKIE", "language_of_request", "other", "page_words"]

#: Keeps the language that a reader chose.
COOKIE = "neardup_language"


@lru_cache
def page_words(language: str) -> Words:
    """Return the words of a language.

    Parameters
    ----------
    language : {'zh', 'en'}
    """
    file = resources.files("neardup.server.pages").joinpath("words", f"{language}.toml")
    return Words(language, tomllib.loads(file.read_text("utf-8")))


def language_of_request(request: Request, chosen: object = None) -> str:
    """Return the language of a page: what was chosen now, or before, or what the browser asks for.

    Parameters
    ----------
    request : Request
    chosen : object, default=None
        What a form says; anything but a language says nothing.

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
    """Return what the header prefers, None where it names no language of ours.

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
