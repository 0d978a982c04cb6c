"""What every page does: let in, read a form, refuse those of other sites, show errors."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from neardup._engine.messages import Message, in_language
from neardup.exceptions import IndexUnavailableError, ParameterError
from neardup.server.pages.rendering import render
from neardup.server.pages.words import language_of_request
from neardup.server.problems import RETRY_SECONDS, ProblemError
from neardup.server.security import auth, csrf

__all__ = ["error_page", "page", "see"]

#: Errors that have words of their own; others are shown as the first of their hundred.
_WORDED = (401, 403, 404, 409, 413, 422, 429, 500, 503)
_MOST_FIELDS, _MOST_FILES = 16, 2

_LOG = logging.getLogger("neardup.server")

Handler = Callable[[Request], Awaitable[Response]]


def page(scope: auth.Scope | None) -> Callable[[Handler], Handler]:
    """Return a decorator that makes a page of a function.

    Parameters
    ----------
    scope : {'read', 'write'} or None
        What the reader's key must allow; None: anybody may see it.

    Notes
    -----
    A form is read, and checked to come from a page of this service, before the function
    is called; it takes it from ``await request.form()``. Who must sign in is led there.
    """

    def decorate(function: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                if scope is not None:
                    await auth.require(scope)(request, None)
                if request.method == "POST":
                    await _read_form(request)
                    await csrf.check(request)
                return await function(request)
            except HTTPException as error:
                if error.status_code == HTTPStatus.UNAUTHORIZED and request.method != "POST":
                    query = f"?{request.url.query}" if request.url.query else ""
                    return see(f"/login?next={quote(request.url.path + query, safe='')}")
                detail = error.detail if isinstance(error, ProblemError) else ""
                return error_page(request, error.status_code, detail, error.headers)
            except IndexUnavailableError as error:
                # The message tells where the index is, which is not the reader's concern.
                _LOG.warning("the index is away: %s", error)
                return error_page(request, 503, headers={"Retry-After": str(RETRY_SECONDS)})
            except ParameterError as error:
                return error_page(request, 422, error)
            except Exception as error:
                # Where, and not what: a message may have the text of a document.
                where = "".join(traceback.format_tb(error.__traceback__))
                _LOG.error("A page failed with %s\n%s", type(error).__name__, where)
                return error_page(request, 500)
            finally:
                # Files of the form; nothing else is open.
                await request.close()

        handle.__name__ = function.__name__
        handle.__doc__ = function.__doc__
        return handle

    return decorate


def see(path: str) -> Response:
    """Lead the browser to another page of this service."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def error_page(request: Request, status: int, detail: object = "", headers: Any = None) -> Response:
    """Return the page for an error, in the look of the others."""
    kind = status if status in _WORDED else 500 if status >= 500 else 422
    # What clients of the API need to be told of a missing key is nothing for a reader.
    is_shown = kind not in (401, 404, 500, 503)
    shown = in_language(detail, language_of_request(request)) if is_shown else ""
    answer = render(request, "error.html", status, title=f"error_{kind}", code=status, detail=shown)
    answer.headers.update(headers or {})
    return answer


async def _read_form(request: Request) -> None:
    """Read the form, which the request then has; a pasted text may be as long as a body."""
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
