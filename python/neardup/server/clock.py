"""The clock of a service: limits, rests and expiries are measured with it.

There is one for each application, so that a test can move time on instead of waiting.
"""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """The clock of the system."""

    def monotonic(self) -> float:
        """Return seconds that never go back, for the length of something."""
        return time.monotonic()

    def time(self) -> float:
        """Return seconds since 1970, for what other processes see too."""
        return time.time()
