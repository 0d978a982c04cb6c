"""Clocks that tests move, so that no test waits for a time."""

import asyncio
import selectors
import time

import anyio


class ManualClock:
    """A module `time` that stands still unless it is advanced."""

    def __init__(self):
        self._begin = time.time()
        self._passed = 0.0

    def monotonic(self):
        return self._passed

    def time(self):
        return self._begin + self._passed

    def advance(self, seconds):
        """Move the clock."""
        self._passed += seconds


class _Skipping(selectors.DefaultSelector):
    """Skips the time until the next timer instead of waiting for it."""

    now = 0.0

    def select(self, timeout=None):
        ready = super().select(0 if timeout else timeout)
        if timeout and timeout > 0 and not ready:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which a timer is due as soon as all tasks wait for one.

    For programs without threads and sockets, whose events it would not wait for.
    """

    def __init__(self):
        self._virtual = _Skipping()
        super().__init__(self._virtual)

    def time(self):
        return self._virtual.now


def run_virtually(function, *arguments):
    """Run an async function by a clock on which only sleeping takes time."""
    return anyio.run(function, *arguments, backend_options={"loop_factory": VirtualLoop})
