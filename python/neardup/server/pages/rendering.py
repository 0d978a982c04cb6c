"""Renders a page from its template: in the reader's language, with the common parts and files."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from neardup.base.messages import LANGUAGES, Message
from neardup.pages import templating
from neardup.pages.words import Words
from neardup.server.problems import ProblemError
from neardup.server.security import auth

#: Cache-Control of a result: the browser's Back button shows it again without resending the form;
#: proxies must not store it.
RESULT = "private, no-cache"

#: Cookie with the language that the reader chose.
_COOKIE = "neardup_language"
_YEAR = 365 * 24 * 3600

#: Pages whose forms are posted to the page's own address.
_FORMS = ("/compare", "/ask", "/check", "/login")
#: Query parameters that a switch of the language drops.
_OF_ONE_PAGE = ("language", "said", "count")
# Ids that browsers and proxies leave unchanged in a path, and that do not end like a route of ours.
_PLAIN_ID = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.:-]*(/[0-9A-Za-z_][0-9A-Za-z_.:-]*)*")

#: Styles and scripts, with their types; pages share the styles of the report.
_CSS = "text/css; charset=utf-8"
_FILES = {
    "report.css": _CSS,
    "sides.css": _CSS,
    "pages.css": _CSS,
    "pages.js": "text/javascript; charset=utf-8",
}
_DIGITS = 12


def render(
    request: Request,
    template: str,
    status: int = 200,
    *,
    here: str = "",
    language: object = None,
    **values: Any,
) -> HTMLResponse:
    """Return a page: a template of ``templates/service`` without its ending, and its variables.

    `here` is the name of the page in the navigation, `language` the language field of a form.
    With ``again=True`` the page is the response to a form, which the language switch resubmits.
    """
    chosen = choose_language(request, language)
    other = next(name for name in LANGUAGES if name != chosen)
    words = Words(chosen)
    page = templating.render(
        f"service/{template}.html",
        words,
        here=here,
        other_language=other,
        language_link=_link_language(request, other),
        signed_in=auth.find_session_key(request) is not None,
        may_write=auth.is_allowed(request, "write"),
        document_link=link_document,
        **_HELPERS,
        **values,
    )
    is_result = status == 200 and values.get("again")
    # If a result varied with the cookie, each new cookie would discard it.
    caching = {"Cache-Control": RESULT} if is_result else {"Vary": "Accept-Language, Cookie"}
    answer = HTMLResponse(
        # Replaces lone surrogates in the input, which UTF-8 cannot encode.
        page.encode("utf-8", "replace"),
        status,
        headers={"Content-Language": words.tag, **caching},
    )
    if chosen in (language, request.query_params.get("language")):
        https = request.url.scheme == "https"
        answer.set_cookie(_COOKIE, chosen, _YEAR, httponly=True, secure=https, samesite="strict")
    return answer


def link_document(id: str, **query: str) -> str:
    """Return the address of a document's page.

    Examples
    --------
    >>> link_document("wire/7"), link_document("../a b")
    ('/documents/wire/7', '/documents?id=..%2Fa%20b')
    """
    if _PLAIN_ID.fullmatch(id):
        return f"/documents/{quote(id)}" + (f"?{urlencode(query)}" if query else "")
    query = {"id": id, **query}
    return f"/documents?{urlencode(query, quote_via=quote, safe='', errors='replace')}"


def _link_language(request: Request, language: str) -> str:
    # The response to a form has no separate address, unless the form has the same one.
    path = "" if request.method == "GET" or request.url.path in _FORMS else "/"
    query = [item for item in request.query_params.multi_items() if item[0] not in _OF_ONE_PAGE]
    return f"{path}?{urlencode([*query, ('language', language)], errors='replace')}"


def _format_time(time: datetime | None) -> str:
    """Return a time as HTML, empty for None; the pages' script shows it in the reader's zone."""
    from markupsafe import Markup

    if time is None:
        return ""
    utc = time.astimezone(UTC)
    return Markup(f'<time datetime="{utc:%Y-%m-%dT%H:%M:%SZ}">{utc:%Y-%m-%d %H:%M} UTC</time>')


def _format_size(count: int) -> str:
    """Return a limit in a fitting unit.

    Examples
    --------
    >>> _format_size(16 << 20), _format_size(100_000), _format_size(500)
    ('16 MB', '97.6 kB', '500 B')
    """
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    # Rounded down, so that a file of the stated size is accepted.
    return f"{int(10 * size) / 10:g} {unit}"


def choose_language(request: Request, chosen: object = None) -> str:
    """Return the language of a page: the one chosen now, or before, or the browser's preference.

    `chosen` is the language field of a form; any value that is not a language is ignored.
    """
    for language in (chosen, request.query_params.get("language"), request.cookies.get(_COOKIE)):
        if language in LANGUAGES:
            return str(language)
    preferred = _parse_languages(request.headers.get("accept-language", ""))
    return preferred or str(request.app.state.settings.language)


def _parse_languages(header: str) -> str | None:
    """Return the preferred language of the header, None if it names none of ours.

    Examples
    --------
    >>> _parse_languages("de, en;q=0.5, zh-CN;q=0.8"), _parse_languages("fr")
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


@lru_cache
def _make_file_path(name: str) -> str:
    """Return the path under which a file is served.

    Examples
    --------
    >>> _make_file_path("pages.css").startswith("/static/pages.")
    True
    """
    stem, _, kind = name.rpartition(".")
    digest = hashlib.sha256(templating.read_template(name).encode()).hexdigest()[:_DIGITS]
    return f"/static/{stem}.{digest}.{kind}"


async def serve_file(request: Request) -> Response:
    """Return a file. Its name changes with its contents, so browsers may cache it forever."""
    path = f"/static/{request.path_params['name']}"
    for name, media_type in _FILES.items():
        if _make_file_path(name) == path:
            return Response(
                templating.read_template(name),
                headers={"Cache-Control": "public, max-age=31536000, immutable"},
                media_type=media_type,
            )
    raise ProblemError(404, "No such file", Message("There is no such file."))


#: What templates may call, beside `neardup.pages.templating.render`'s own.
_HELPERS: dict[str, Any] = {
    "asset": _make_file_path,
    "moment": _format_time,
    "size": _format_size,
}
