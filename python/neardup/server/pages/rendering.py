"""Renders a page from its template: escaped, in the reader's language, with the common parts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson
from fastapi import Request
from fastapi.responses import HTMLResponse

from neardup.papers.report.templating import environment
from neardup.server.pages.assets import asset
from neardup.server.pages.words import COOKIE, language_of_request, other, page_words
from neardup.server.security import auth

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["RESULT", "document_link", "moment", "render"]

#: Cache-Control of a result: the browser's Back button shows it again without resending the form;
#: proxies must not store it.
RESULT = "private, no-cache"

#: Pages whose forms are posted to the page's own address.
_FORMS = ("/", "/ask", "/check", "/login")
#: Query parameters that a switch of the language drops.
_OF_ONE_PAGE = ("language", "said")
_YEAR = 365 * 24 * 3600
# Ids that browsers and proxies leave unchanged in a path, and that do not end like a route of ours.
_PLAIN_ID = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.:-]*(/[0-9A-Za-z_][0-9A-Za-z_.:-]*)*")


def render(
    request: Request,
    template: str,
    status: int = 200,
    *,
    here: str = "",
    language: object = None,
    **values: Any,
) -> HTMLResponse:
    """Return a page.

    Parameters
    ----------
    request : Request
    template : str
        Name of a file in ``templates``.
    status : int, default=200
    here : str, default=""
        Name of the page in the navigation.
    language : object, default=None
        Language field of a form; see `language_of_request`.
    **values
        Variables of the template. ``again=True``: the page is the response to a form, which
        the language switch resubmits.
    """
    spoken = language_of_request(request, language)
    is_result = status == 200 and values.get("again")
    # If a result varied with the cookie, each new cookie would discard it.
    caching = {"Cache-Control": RESULT} if is_result else {"Vary": "Accept-Language, Cookie"}
    page = (
        _environment()
        .get_template(template)
        .render(
            w=page_words(spoken),
            here=here,
            other_language=other(spoken),
            language_link=_language_link(request, other(spoken)),
            signed_in=auth.signed_in(request) is not None,
            may_write=auth.is_allowed(request, "write"),
            **values,
        )
    )
    answer = HTMLResponse(
        # Replaces lone surrogates in the input, which UTF-8 cannot encode.
        page.encode("utf-8", "replace"),
        status,
        headers={
            "Content-Language": page_words(spoken).tag,
            **caching,
        },
    )
    if spoken in (language, request.query_params.get("language")):
        https = request.url.scheme == "https"
        answer.set_cookie(COOKIE, spoken, _YEAR, httponly=True, secure=https, samesite="strict")
    return answer


def document_link(id: str, **query: str) -> str:
    """Return the address of a document's page.

    Examples
    --------
    >>> document_link("wire/7"), document_link("../a b")
    ('/documents/wire/7', '/documents?id=..%2Fa%20b')
    """
    if _PLAIN_ID.fullmatch(id):
        return f"/documents/{quote(id)}" + (f"?{urlencode(query)}" if query else "")
    query = {"id": id, **query}
    return f"/documents?{urlencode(query, quote_via=quote, safe='', errors='replace')}"


def _language_link(request: Request, language: str) -> str:
    # The response to a form has no address of its own, unless the form has the same one.
    path = "" if request.method == "GET" or request.url.path in _FORMS else "/"
    query = [one for one in request.query_params.multi_items() if one[0] not in _OF_ONE_PAGE]
    return f"{path}?{urlencode([*query, ('language', language)], errors='replace')}"


def moment(at: datetime | None) -> str:
    """Return a time as HTML, empty for None; the pages' script shows it in the reader's zone."""
    from markupsafe import Markup

    if at is None:
        return ""
    utc = at.astimezone(UTC)
    return Markup(f'<time datetime="{utc:%Y-%m-%dT%H:%M:%SZ}">{utc:%Y-%m-%d %H:%M} UTC</time>')


def _size(count: int) -> str:
    """Return a limit in a fitting unit.

    Examples
    --------
    >>> _size(16 << 20), _size(100_000), _size(500)
    ('16 MB', '97.6 kB', '500 B')
    """
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    # Rounded down, so that a file of the stated size is accepted.
    return f"{int(10 * size) / 10:g} {unit}"


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _field(value: str) -> Markup:
    """Escape a value for an attribute, including line ends."""
    from markupsafe import Markup, escape

    return Markup(escape(value).replace("\r", Markup("&#13;")).replace("\n", Markup("&#10;")))


@lru_cache
def _environment() -> Environment:
    made = environment("neardup.server.pages")
    made.filters |= {"field": _field, "json": _json}
    made.globals |= {
        "asset": asset,
        "document_link": document_link,
        "moment": moment,
        "size": _size,
    }
    return made
