"""Group commit: what comes in at the same time is stored together.

A durable commit takes longer than the decisions on dozens of documents. So one task
takes all documents that wait, stores them in one transaction, and answers them; what comes in
meanwhile waits for the next. Nothing waits for company: a lone document is stored at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup._engine.messages import Message
from neardup.exceptions import IndexUnavailableError
from neardup.index import Decision, NewDocument

if TYPE_CHECKING:
    from neardup.server.store import Store

__all__ = ["Writer"]

#: Documents that may wait for the store; further ones get 503. Otherwise all that is sent would
#: pile up while a database hangs.
MOST_WAITING = 20_000

#: How long a service that stops waits for the store.
STOP_SECONDS = 20.0

#: Documents that one transaction stores, at most, unless a single request brings more: few
#: enough that nobody waits long for its answer.
_TOGETHER = 256


class Writer:
    """Adds documents to the index of a service, in the order in which they came.

    Attributes
    ----------
    waiting : int
        Documents that are not answered yet.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: deque[tuple[list[NewDocument], asyncio.Future[list[Decision]]]] = deque()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self.waiting = 0

    def start(self) -> None:
        """Begin to store; to be called in the event loop."""
        self._task = asyncio.create_task(self._work())

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Store what was accepted, and take no more.

        What is not stored after so many seconds, because the database hangs, is told so.
        """
        self._stopped = True
        self._wake.set()
        if self._task is None:
            return
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._task)
        except TimeoutError:
            self._task.cancel()
            for _, answer in self._queue:
                _settle(answer, IndexUnavailableError(Message("server.stops_too_late")))
            self._queue.clear()

    async def add(self, documents: Sequence[NewDocument]) -> list[Decision]:
        """Add documents, and return what became of each, once that is on the disk.

        Raises
        ------
        IndexUnavailableError
            If the index cannot be written, too much waits for it, or the service stops.
            Nothing was stored, or the first 1,024 of a larger request.
        """
        if self._stopped:
            raise IndexUnavailableError(Message("server.stops_unstored"))
        if self.waiting and self.waiting + len(documents) > MOST_WAITING:
            raise IndexUnavailableError(Message("server.documents_wait", count=self.waiting))
        answer: asyncio.Future[list[Decision]] = asyncio.get_running_loop().create_future()
        request = (list(documents), answer)
        self._queue.append(request)
        self.waiting += len(documents)
        self._wake.set()
        try:
            # What has begun is stored even if whoever asked has gone.
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if request in self._queue:
                self._queue.remove(request)
                self.waiting -= len(documents)
            raise

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                await self._store_next()
            if self._stopped:
                return

    async def _store_next(self) -> None:
        requests = [self._queue.popleft()]
        count = len(requests[0][0])
        while self._queue and count + len(self._queue[0][0]) <= _TOGETHER:
            requests.append(self._queue.popleft())
            count += len(requests[-1][0])
        documents = [one for some, _ in requests for one in some]
        try:
            decisions = await self._store.write(self._add, documents)
        except Exception as error:
            for _, answer in requests:
                _settle(answer, error)
        else:
            done = 0
            for some, answer in requests:
                _settle(answer, decisions[done : done + len(some)])
                done += len(some)
        finally:
            self.waiting -= count

    def _add(self, documents: list[NewDocument]) -> list[Decision]:
        return self._store.index.add_together(documents)


def _settle(answer: asyncio.Future[list[Decision]], result: list[Decision] | Exception) -> None:
    if answer.done():
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
        # Nobody may be left to ask for it.
        answer.exception()
    else:
        answer.set_result(result)
