"""Protection of the page's forms against requests from other sites (CSRF).

A page of any site can make a browser send a form to this service, with the session of the
person who is signed in. Two checks refuse such a form, and each alone is sufficient: browsers
state where a request comes from (`comes_from_elsewhere`), and each form carries a token from
the session of this browser, which other sites can neither read nor set.

Both checks are written here because no package that we looked at in November 2026 does both.
The newest releases of starlette-csrf (3.0.0, June 2023), asgi-csrf (0.11, November 2024),
fastapi-csrf-protect (1.0.7, September 2025) and starlette-wtf (0.5.0, May 2026) read neither
Sec-Fetch-Site nor Origin. The first three keep the token in a cookie of its own; starlette-wtf
keeps it in the session, but needs WTForms.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request

from neardup.base.messages import Message
from neardup.server.problems import ProblemError
from neardup.server.security.sessions import session_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FIELD", "check", "comes_from_elsewhere", "token"]

#: Name of the form's hidden field.
FIELD = "csrf"

_TOKEN_BYTES = 16


def token(request: Request) -> str:
    """Return the token for the forms of a page, the value of the hidden field `csrf`.

    It is created on first use. Signing in or out replaces it.
    """
    value: str = session_of(request).setdefault(FIELD, secrets.token_urlsafe(_TOKEN_BYTES))
    return value


async def check(request: Request) -> None:
    """Refuse a form that does not come from a page of this service; a FastAPI dependency.

    Raises
    ------
    ProblemError
        403 if the form comes from another site or lacks this session's token.
    """
    if comes_from_elsewhere(request.headers):
        raise _refused(Message("server.form_of_other_site"))
    wanted = session_of(request).get(FIELD)
    sent = (await request.form()).get(FIELD)
    if wanted is None or not isinstance(sent, str):
        detail = Message("server.form_without_token")
    elif hmac.compare_digest(wanted.encode(), sent.encode("utf-8", "replace")):
        return
    else:
        detail = Message("server.form_out_of_date")
    # Also closes the uploaded files.
    await request.close()
    raise _refused(detail)


def comes_from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Return whether the browser reports that another site caused a request.

    Programs other than browsers send no such headers, and other sites cannot make them send
    requests.

    Parameters
    ----------
    headers : mapping of str to str
        Request headers, with names in lower case.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    # The scheme is not compared: a proxy in front may terminate HTTPS.
    return origin.partition("://")[2] != headers.get("host", "")


def _refused(detail: Message) -> ProblemError:
    return ProblemError(403, Message("server.title_form_refused"), detail, field=FIELD)
