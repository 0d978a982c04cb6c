"""Common to all pages: access control, forms, error pages."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Scope

from neardup.base.messages import N_, in_language
from neardup.exceptions import IndexUnavailableError, ParameterError
from neardup.pages.words import Words
from neardup.server.jobs.paper_check import read_paper
from neardup.server.jobs.uploads import damaged, label_of
from neardup.server.logs import places
from neardup.server.pages.rendering import language_of_request, page_words, render
from neardup.server.problems import RETRY_SECONDS, ProblemError
from neardup.server.security import auth
from neardup.server.settings import Settings

__all__ = [
    "Refused",
    "UnknownPage",
    "error_page",
    "field",
    "given_text",
    "own_path",
    "page",
    "see",
    "words_of",
]

#: Status codes with texts of their own; others use the text of 422 or 500.
_WORDED = (401, 403, 404, 409, 413, 422, 429, 500, 503)
_MOST_FIELDS, _MOST_FILES = 64, 1000

# Long enough for a thesis, short enough for a waiting reader.
_READING_SECONDS = 15.0

#: Addresses for programs, which get errors as JSON problems.
_OF_PROGRAMS = ("/v1", "/healthz", "/readyz", "/metrics", "/openapi.json")

_LOG = logging.getLogger("neardup.server")

Handler = Callable[[Request], Awaitable[Response]]


def page(*scopes: auth.Scope) -> Callable[[Handler], Handler]:
    """Return a decorator that turns a function into a page for keys with scopes; none for anybody.

    A request of another site is refused, and a form is read, before the function is called; the
    function gets it from ``await request.form()``. Readers who are not signed in are redirected to
    the sign-in page.
    """

    def decorate(function: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                if not scopes:
                    auth.refuse_other_sites(request)
                await auth.require(*scopes)(request, None)
                if request.method == "POST":
                    await _read_form(request)
                return await function(request)
            except HTTPException as error:
                if error.status_code == HTTPStatus.UNAUTHORIZED and request.method != "POST":
                    query = f"?{request.url.query}" if request.url.query else ""
                    return see(f"/login?next={quote(request.url.path + query, safe='')}")
                detail = error.detail if isinstance(error, ProblemError) else ""
                return error_page(request, error.status_code, detail, error.headers)
            except IndexUnavailableError as error:
                # The message names the location of the index, which readers must not see.
                _LOG.warning("the index is unavailable: %s", error)
                return error_page(request, 503, headers={"Retry-After": str(RETRY_SECONDS)})
            except ParameterError as error:
                return error_page(request, 422, error)
            except Exception as error:
                _LOG.error("A page failed\n%s", places(error))
                return error_page(request, 500)
            finally:
                # Closes the files of the form.
                await request.close()

        handle.__name__ = function.__name__
        handle.__doc__ = function.__doc__
        return handle

    return decorate


def see(path: str) -> Response:
    """Redirect the browser to another page of this service."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def own_path(wanted: str) -> str:
    """Return a path of this service, so that a crafted link cannot redirect elsewhere.

    Examples
    --------
    >>> own_path("/removals?search=a"), own_path("//evil.example/"), own_path("https:a")
    ('/removals?search=a', '/', '/')
    """
    # Browsers read a second slash, of either kind, as the start of a host.
    is_own = wanted.startswith("/") and wanted[1:2] not in ("/", "\\")
    return wanted if is_own and wanted.isprintable() else "/"


def error_page(request: Request, status: int, detail: object = "", headers: Any = None) -> Response:
    """Return an error page in the style of the other pages."""
    kind = status if status in _WORDED else 500 if status >= 500 else 422
    # The API's advice on a missing key does not help a reader.
    is_shown = kind not in (401, 404, 500, 503)
    shown = in_language(detail, language_of_request(request)) if is_shown else ""
    answer = render(request, "error", status, title=f"error_{kind}", code=status, detail=shown)
    answer.headers.update(headers or {})
    return answer


async def _read_form(request: Request) -> None:
    """Read the form, which the request then caches; a pasted text may be as long as a body."""
    most = request.app.state.settings.max_body_bytes
    try:
        await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=most)
    except ClientDisconnect:
        raise damaged(N_("The form was cut off.")) from None
    except (ValueError, LookupError):
        # A charset that is none, and bytes that are not of it.
        raise damaged(N_("The form cannot be decoded.")) from None


class Refused(Exception):
    """A form's input cannot be used; the message is for the page, in its language."""


def words_of(request: Request, form: FormData) -> Words:
    """Return the texts in the language of the response to a form."""
    return page_words(language_of_request(request, form.get("language")))


def field(form: FormData, name: str, *, lines: bool = False) -> str:
    """Return a field, empty if it is missing.

    In a text of several `lines`, browsers send every line end as CR LF.
    """
    value = form.get(name)
    if not isinstance(value, str):
        return ""
    value = value.encode("utf-8", "replace").decode()
    return value.replace("\r\n", "\n") if lines else value.strip()


async def given_text(request: Request, form: FormData, name: str) -> str:
    """Return the text of a field, or of the file that was chosen instead.

    Raises Refused if there is no text, or it is too long, or the file has no text.
    """
    words = words_of(request, form)
    settings = request.app.state.settings
    upload = form.get(f"{name}-file")
    text = field(form, name, lines=True)
    if isinstance(upload, UploadFile) and upload.filename and upload.size:
        try:
            text = await request.app.state.store.run(_read, upload, settings)
        except ProblemError as error:
            raise Refused(in_language(error.detail, words.language)) from None
    if not text.strip():
        raise Refused(words("refused_empty"))
    if len(text) > settings.max_text_characters:
        raise Refused(words("refused_long", count=len(text), most=settings.max_text_characters))
    return text


def _read(upload: UploadFile, settings: Settings) -> str:
    # A small file is in memory; the reader process needs one with a descriptor.
    upload.file.fileno()
    paper = read_paper(
        upload.file,
        label_of(upload.filename),
        max_bytes=settings.max_body_bytes,
        max_characters=settings.max_text_characters,
        seconds=min(_READING_SECONDS, settings.request_seconds / 2),
    )
    return paper.text


class UnknownPage(Route):
    """The last route: a page for every address except those for programs."""

    def __init__(self) -> None:
        super().__init__("/{path:path}", _unknown, methods=["GET"], include_in_schema=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether this route handles a request."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return Match.NONE, {}
        path = scope["path"]
        if any(path == prefix or path.startswith(f"{prefix}/") for prefix in _OF_PROGRAMS):
            return Match.NONE, {}
        return super().matches(scope)


async def _unknown(request: Request) -> Response:
    return error_page(request, 404)
