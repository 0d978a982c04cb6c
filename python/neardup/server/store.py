"""The index of a service; calls that may take long run in threads, not in the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from neardup.index import Index

if TYPE_CHECKING:
    from neardup.server.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

#: Threads that wait for the database.
_WAITING = 16

#: Threads that compute. More of them would only compete for the processor and delay short
#: requests.
_COMPUTING = 2


class Store:
    """An index that is opened on first use.

    If the database is unavailable, opening raises, and the next call tries again: a service
    can start before its database and survives its outages.

    Calls that may take long run in a fixed number of threads. A request is cancelled when its
    client disconnects or its time is over. Then its call is dropped if it has not begun. A
    call that has begun continues and holds its thread until it ends. So abandoned calls never
    accumulate.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._waiting = ThreadPoolExecutor(_WAITING, "neardup-store")
        self._computing = ThreadPoolExecutor(_COMPUTING, "neardup-compute")
        # Separate threads, so that neither additions nor monitoring wait for queries.
        self._writing = ThreadPoolExecutor(1, "neardup-write")
        self._watching = ThreadPoolExecutor(1, "neardup-watch")

    @property
    def index(self) -> Index:
        """The open index; `IndexUnavailableError` if it is unavailable now."""
        with self._lock:
            if self._index is None:
                self._index = Index(
                    self._settings.index, must_exist=True, workers=self._settings.workers
                )
            return self._index

    async def run(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a call that waits for the database, and return its result."""
        return await _run(self._waiting, lambda: function(*arguments, **options))

    async def compute(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a call that may compute for seconds, and return its result."""
        return await _run(self._computing, lambda: function(*arguments, **options))

    async def write(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a call that adds documents, one call at a time, and return its result."""
        return await _run(self._writing, lambda: function(*arguments, **options))

    async def watch(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a call that monitors the service, and return its result."""
        return await _run(self._watching, lambda: function(*arguments, **options))

    def close(self) -> None:
        """Close the index once running calls have ended. The next use opens it again."""
        for pool in (self._writing, self._waiting, self._computing, self._watching):
            pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None


async def _run(pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    # The wrapper forwards a cancellation, which drops a call that has not begun.
    return await asyncio.wrap_future(pool.submit(call))
