"""The log of a service: one line per event, never with the text of a document."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

from neardup.exceptions import IndexFormatError, IndexMismatchError, MissingDependencyError

if TYPE_CHECKING:
    from types import TracebackType

#: Errors whose message never contains the text of a document.
_TELLING = (IndexFormatError, IndexMismatchError, MissingDependencyError)


def configure(*, access: bool) -> None:
    """Log to standard error; `access` logs each request and decision, with ids."""
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    if access:
        logging.getLogger("neardup.index").setLevel(logging.INFO)


class Formatter(logging.Formatter):
    """Formats an error as its type and place, without its message, which may quote a text."""

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return types and places of an error and of its causes, the cause first."""
        return "" if ei[1] is None else _format_places(ei[1])


def _format_places(error: BaseException) -> str:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = "" if cause is None else _format_places(cause) + "\nand then\n"
    message = f": {error}" if isinstance(error, _TELLING) else ""
    kind = f"{type(error).__module__}.{type(error).__qualname__}{message}"
    return before + "".join(traceback.format_tb(error.__traceback__)) + kind
