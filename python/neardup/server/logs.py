"""The log of a service: one line for each event, and no text of any document in it."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Formatter", "log_config"]

#: uvicorn tells it of each client that did not take its answer in time: anybody could fill a disk.
#: Errors that break an answer off are told by themselves.
_UNTOLD = "ASGI callable returned without completing response."

_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Formatter(logging.Formatter):
    """Shows of an error its kind and where it was; a message may quote a text."""

    def __init__(self) -> None:
        super().__init__(_FORM)

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return kinds and places of an error and of what caused it, the cause first."""
        parts: list[str] = []
        error = ei[1]
        while error is not None:
            kind = f"{type(error).__module__}.{type(error).__qualname__}"
            parts.append("".join(traceback.format_tb(error.__traceback__)) + kind)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nand then\n".join(reversed(parts))


def _is_told(record: logging.LogRecord) -> bool:
    """Return whether a line is for the log."""
    return record.getMessage() != _UNTOLD


def log_config(*, access: bool) -> dict[str, Any]:
    """Return the set-up of the log, all of it to standard error.

    Parameters
    ----------
    access : bool
        Whether each request has its line. Addresses have ids and searches in them.
    """
    loggers = {
        "neardup": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        # Below errors uvicorn tells of clients that speak no HTTP: anybody could fill a disk.
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
