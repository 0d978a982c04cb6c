"""Signatures on what a browser brings back: who signed in, and forms of the page.

The secret is new with each start, so a restart ends all sessions and makes all open
forms stale; nothing of it is ever written anywhere. Processes of one service share it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["SESSION_COOKIE", "Signer", "signer_of"]

#: Name of the cookie that says who signed in.
SESSION_COOKIE = "neardup_session"

_SECRET_BYTES = 32


class Signer:
    """Signs short texts, HMAC with SHA-256.

    Parameters
    ----------
    secret : bytes or None, default=None
        At least 32 bytes. None makes one.

    Examples
    --------
    >>> from neardup.server.security.signing import Signer
    >>> signer = Signer()
    >>> signature = signer.sign("form", "a value")
    >>> signer.is_signed("form", "a value", signature)
    True
    >>> signer.is_signed("session", "a value", signature)
    False
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(_SECRET_BYTES) if secret is None else secret

    def sign(self, purpose: str, value: str) -> str:
        """Return the signature of a value, in letters that a cookie may have.

        Signatures of one purpose are worth nothing for another.
        """
        # The length keeps purpose and value apart.
        message = f"{len(purpose)}:{purpose}{value}".encode()
        digest = hmac.digest(self._secret, message, hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")

    def is_signed(self, purpose: str, value: str, signature: str) -> bool:
        """Return whether a signature is that of a value, in constant time."""
        wanted = self.sign(purpose, value)
        return hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "replace"))


def signer_of(app: Starlette) -> Signer:
    """Return the signer of an application; made when it is first needed, if none was given."""
    if not hasattr(app.state, "signer"):
        app.state.signer = Signer()
    return cast(Signer, app.state.signer)
