"""Forms of the page, protected against pages of other sites.

A browser sends a form of any site to this service, from a machine that may reach it,
with whoever is signed in. Two things keep it out, each enough by itself: browsers say
where a request comes from (`comes_from_elsewhere`), and each form carries a token that is
in the session of this browser, which other sites can neither read nor set. No kept package does
both, so the few lines are here.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request

from neardup._engine.messages import Message
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

    It is made when it is first asked for. A session that begins or ends has another one.
    """
    value: str = session_of(request).setdefault(FIELD, secrets.token_urlsafe(_TOKEN_BYTES))
    return value


async def check(request: Request) -> None:
    """Refuse a form that no page of this service asked for; a FastAPI dependency.

    Raises
    ------
    ProblemError
        403, if the form comes from elsewhere, or has no token of this browser.
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
    # Files that came with it.
    await request.close()
    raise _refused(detail)


def comes_from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Return whether a browser says that another site caused a request.

    Programs that are no browsers say nothing, and nobody can make them send anything.

    Parameters
    ----------
    headers : mapping of str to str
        Of the request, with names in lower case.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    # The scheme is left out: a proxy in front may speak HTTPS.
    return origin.partition("://")[2] != headers.get("host", "")


def _refused(detail: Message) -> ProblemError:
    return ProblemError(403, Message("server.title_form_refused"), detail, field=FIELD)
