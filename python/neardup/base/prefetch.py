"""Prefetching: the next batch is read while the current one is processed."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

T = TypeVar("T")

_END = object()


def prefetch(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield `items` in order, read from their iterator by another thread.

    Decompressing, parsing and sketching release the interpreter lock, so that they
    overlap. At most two items are queued.
    """
    waiting: queue.Queue[object] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def put(item: object) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:
            put(_ReadFailure(error))
        finally:
            # An unfinished generator keeps files open.
            if isinstance(iterator, Generator):
                iterator.close()

    run = contextvars.copy_context().run
    thread = threading.Thread(target=run, args=(work,), name="neardup-reader", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        # The system has no room for its stack.
        raise MemoryError from error
    try:
        while (item := waiting.get()) is not _END:
            if isinstance(item, _ReadFailure):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()


class _ReadFailure:
    """The exception of the reading thread."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
