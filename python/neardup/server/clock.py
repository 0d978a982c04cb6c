"""The clock of a service, for time limits, back-off and expiry.

Each application has its own, so that a test can advance time instead of waiting.
"""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """The system clock."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards, for measuring durations."""
        return time.monotonic()

    def time(self) -> float:
        """Return seconds since 1970, for times that other processes read too."""
        return time.time()
