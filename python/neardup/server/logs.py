"""The log of a service: one line per event, never with the text of a document."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Any

from neardup.exceptions import IndexFormatError, IndexMismatchError, MissingDependencyError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Formatter", "log_config", "places"]

#: uvicorn logs this for each client too slow to read its response: any client could fill a disk.
#: Errors that abort a response are logged separately.
_UNTOLD = "ASGI callable returned without completing response."

#: Errors whose message never contains the text of a document.
_TELLING = (IndexFormatError, IndexMismatchError, MissingDependencyError)

_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Formatter(logging.Formatter):
    """Formats an error as its type and place, without its message, which may quote a text."""

    def __init__(self) -> None:
        super().__init__(_FORM)

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the places of an error."""
        return "" if ei[1] is None else places(ei[1])


def places(error: BaseException) -> str:
    """Return types and places of an error and of its causes, the cause first.

    Not the messages, which may quote a document, but for those about an index, which never do.
    """
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = "" if cause is None else places(cause) + "\nand then\n"
    message = f": {error}" if isinstance(error, _TELLING) else ""
    kind = f"{type(error).__module__}.{type(error).__qualname__}{message}"
    return before + "".join(traceback.format_tb(error.__traceback__)) + kind


def _is_told(record: logging.LogRecord) -> bool:
    """Return whether to log a record."""
    return record.getMessage() != _UNTOLD


def log_config(*, access: bool) -> dict[str, Any]:
    """Return the logging configuration; `access` logs each request and decision, with ids."""
    loggers = {
        "neardup": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        # Its decisions are at INFO, with ids.
        "neardup.index": {"level": "INFO" if access else "WARNING"},
        # Below ERROR, uvicorn logs clients that do not speak HTTP: any client could fill a disk.
        "uvicorn": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
    }
    if access:
        loggers["uvicorn.access"] = {
            "handlers": ["stderr"],
            "level": "INFO",
            "propagate": False,
        }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "neardup.server.logs.Formatter"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": [_is_told],
            }
        },
        "loggers": loggers,
    }
