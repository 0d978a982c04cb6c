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

from neardup.exceptions import IndexUnavailableError
from neardup.index import Decision, NewDocument

if TYPE_CHECKING:
    from neardup.server.store import Store

__all__ = ["Writer"]

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

    async def stop(self) -> None:
        """Store what was accepted, and take no more."""
        self._stopped = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def add(self, documents: Sequence[NewDocument]) -> list[Decision]:
        """Add documents, and return what became of each, once that is on the disk.

        Raises
        ------
        IndexUnavailableError
            If the index cannot be written, or the service stops. Nothing was stored, or
            the first 1,024 of a larger request.
        """
        if self._stopped:
            raise IndexUnavailableError("The service stops. Nothing was stored. Try again.")
        answer: asyncio.Future[list[Decision]] = asyncio.get_running_loop().create_future()
        self._queue.append((list(documents), answer))
        self.waiting += len(documents)
        self._wake.set()
        # Whoever asked may have gone; what was accepted is stored all the same.
        return await asyncio.shield(answer)

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
            decisions = await self._store.run(self._add, documents)
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
