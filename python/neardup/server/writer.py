"""Group commit: documents that arrive at the same time are stored in one transaction.

A durable commit takes longer than the decisions on dozens of documents. There is no delay to fill
a batch: a single document is stored at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.exceptions import IndexUnavailableError
from neardup.index import Decision, NewDocument

if TYPE_CHECKING:
    from neardup.server.store import Store

#: Most documents that wait to be stored; further ones get 503. Without a bound, requests would
#: pile up while a database hangs.
MOST_WAITING = 20_000

#: How long a stopping service waits for the store, in seconds.
STOP_SECONDS = 20.0

#: Most documents in one transaction, unless a single request has more: few enough to keep response
#: times short.
_TOGETHER = 256


class Writer:
    """Adds documents to the index of a service, in order of arrival."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: deque[tuple[list[NewDocument], asyncio.Future[list[Decision]]]] = deque()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self.waiting = 0

    def start(self) -> None:
        """Start the storing task; call it in the event loop."""
        self._task = asyncio.create_task(self._work())

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Store the accepted documents, at most so many seconds, and accept no more."""
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
                _settle(
                    answer,
                    IndexUnavailableError(Message("The service is stopping. Nothing was stored.")),
                )
            self._queue.clear()

    async def add(self, documents: Sequence[NewDocument]) -> list[Decision]:
        """Add documents, and return the decisions once they are on disk.

        Raise `IndexUnavailableError` if that is impossible now; then nothing was stored, or only
        the first 1,024 documents of a larger request.
        """
        if self._stopped:
            raise IndexUnavailableError(
                Message("The service is stopping, so nothing was stored. Try again.")
            )
        if self.waiting and self.waiting + len(documents) > MOST_WAITING:
            raise IndexUnavailableError(
                Message.counted(
                    "{count:,} document waits to be stored, so nothing of this request was stored. "
                    "Try again later.",
                    "{count:,} documents wait to be stored, so nothing of this request was stored. "
                    "Try again later.",
                    count=self.waiting,
                )
            )
        answer: asyncio.Future[list[Decision]] = asyncio.get_running_loop().create_future()
        request = (list(documents), answer)
        self._queue.append(request)
        self.waiting += len(documents)
        self._wake.set()
        try:
            # A transaction that has begun completes even if its client has disconnected.
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
        documents = [document for added, _ in requests for document in added]
        try:
            decisions = await self._store.write(lambda: self._store.index.add_together(documents))
        except Exception as error:
            for _, answer in requests:
                _settle(answer, error)
        else:
            done = 0
            for added, answer in requests:
                _settle(answer, decisions[done : done + len(added)])
                done += len(added)
        finally:
            self.waiting -= count


def _settle(answer: asyncio.Future[list[Decision]], result: list[Decision] | Exception) -> None:
    if answer.done():
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
        # The client may have disconnected, so that nothing awaits this exception.
        answer.exception()
    else:
        answer.set_result(result)
