"""The index of a service, and calls that may take long, away from the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from neardup.index import Index

if TYPE_CHECKING:
    from neardup.server.settings import Settings

__all__ = ["Store"]

P = ParamSpec("P")
T = TypeVar("T")

#: Threads that wait for the database or compute, beside the one that writes.
_THREADS = 16


class Store:
    """An index that is opened when it is first needed.

    If the database is away then, opening raises, and the next call tries again: a service
    starts before its database and outlives its absence.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._limiter = anyio.CapacityLimiter(_THREADS)

    @property
    def index(self) -> Index:
        """The open index.

        Raises
        ------
        IndexUnavailableError
            If it cannot be reached now.
        """
        with self._lock:
            if self._index is None:
                self._index = Index(
                    self._settings.index, must_exist=True, workers=self._settings.workers
                )
            return self._index

    async def run(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Return what a call returns that may take long."""
        return await anyio.to_thread.run_sync(
            lambda: function(*arguments, **options), limiter=self._limiter
        )

    def close(self) -> None:
        """Close the index. The next use opens it again."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None
