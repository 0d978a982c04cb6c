"""Common to all pages: access control, reading forms, error pages."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from neardup.base.messages import Message, in_language
from neardup.exceptions import IndexUnavailableError, ParameterError
from neardup.server.logs import places
from neardup.server.pages.rendering import render
from neardup.server.pages.words import language_of_request
from neardup.server.problems import RETRY_SECONDS, ProblemError
from neardup.server.security import auth

__all__ = ["error_page", "page", "see"]

#: Status codes with texts of their own; others use the text of 422 or 500.
_WORDED = (401, 403, 404, 409, 413, 422, 429, 500, 503)
_MOST_FIELDS, _MOST_FILES = 16, 2

_LOG = logging.getLogger("neardup.server")

Handler = Callable[[Request], Awaitable[Response]]


def page(scope: auth.Scope | None) -> Callable[[Handler], Handler]:
    """Return a decorator that turns a function into a page.

    Parameters
    ----------
    scope : {'read', 'write'} or None
        Scope that the reader's key must have; None: anybody may see the page.

    Notes
    -----
    A request of another site is refused, and a form is read, before the function is called; the
    function gets it from ``await request.form()``. Readers who are not signed in are redirected to
    the sign-in page.
    """

    def decorate(function: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                if scope is None:
                    auth.refuse_other_sites(request)
                else:
                    await auth.require(scope)(request, None)
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
                _LOG.warning("the index is away: %s", error)
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


def error_page(request: Request, status: int, detail: object = "", headers: Any = None) -> Response:
    """Return an error page in the style of the other pages."""
    kind = status if status in _WORDED else 500 if status >= 500 else 422
    # The API's advice on a missing key does not help a reader.
    is_shown = kind not in (401, 404, 500, 503)
    shown = in_language(detail, language_of_request(request)) if is_shown else ""
    answer = render(request, "error.html", status, title=f"error_{kind}", code=status, detail=shown)
    answer.headers.update(headers or {})
    return answer


async def _read_form(request: Request) -> None:
    """Read the form, which the request then caches; a pasted text may be as long as a body."""
    most = request.app.state.settings.max_body_bytes
    try:
        await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=most)
    except ClientDisconnect:
        raise _damaged("server.form_cut_off") from None
    except (ValueError, LookupError):
        # A charset that is none, and bytes that are not of it.
        raise _damaged("server.form_damaged") from None


def _damaged(code: str) -> ProblemError:
    return ProblemError(400, Message("server.title_damaged_form"), Message(code))
