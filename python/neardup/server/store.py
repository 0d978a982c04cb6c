"""The index of a service, and calls that may take long, away from the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from neardup.index import Index

if TYPE_CHECKING:
    from neardup.server.settings import Settings

__all__ = ["Store"]

P = ParamSpec("P")
T = TypeVar("T")

#: Threads that wait for the database.
_WAITING = 16

#: Threads that compute. More would only take turns with each other, and leave none of the
#: processor to those who wait for a short answer.
_COMPUTING = 2


class Store:
    """An index that is opened when it is first needed.

    If the database is away then, opening raises, and the next call tries again: a service
    starts before its database and outlives its absence.

    Calls that may take long run in threads of a fixed number. A request that is given up
    (a client that left, a time that is over) takes its call back if it has not begun; one
    that has begun goes on, and holds its thread until it ends. So what is given up can
    never pile up.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._waiting = ThreadPoolExecutor(_WAITING, "neardup-store")
        self._computing = ThreadPoolExecutor(_COMPUTING, "neardup-compute")
        # Apart, so that neither additions nor whoever watches the service wait for questions.
        self._writing = ThreadPoolExecutor(1, "neardup-write")
        self._watching = ThreadPoolExecutor(1, "neardup-watch")

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
        """Return what a call returns that waits for the database."""
        return await _run(self._waiting, lambda: function(*arguments, **options))

    async def compute(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Return what a call returns that may compute for seconds."""
        return await _run(self._computing, lambda: function(*arguments, **options))

    async def write(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Return what a call returns that adds documents; one after the other."""
        return await _run(self._writing, lambda: function(*arguments, **options))

    async def watch(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Return what a call returns that tells how the service is."""
        return await _run(self._watching, lambda: function(*arguments, **options))

    def close(self) -> None:
        """Close the index, when the calls that have begun are done. The next use opens it again."""
        for pool in (self._writing, self._waiting, self._computing, self._watching):
            pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None


async def _run(pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    # The wrapper passes a cancellation on, and a call that has not begun is dropped by it.
    return await asyncio.wrap_future(pool.submit(call))
