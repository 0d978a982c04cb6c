"""Back-off after failed keys: each further failure from an address doubles the wait.

The first few failures are free: a key may be mistyped, or have just been revoked. After them,
keys from this address are not checked for one second, then for two, and so on. Keys used from
the address before are still accepted; otherwise one misconfigured program could lock out all
who share its address, such as an office.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.server.clock import Clock

__all__ = ["FREE", "LONGEST", "FailedKeys", "remember"]

#: Failures without a wait.
FREE = 5
#: The first and the longest wait, in seconds; each is twice the previous one.
_FIRST, LONGEST = 1.0, 60.0
#: Seconds without a failure after which the failures of an address are forgotten.
_FORGOTTEN = 900.0
#: Most entries of a table: addresses, pairs of address and accepted key, ended sessions.
_REMEMBERED = 10_000


class FailedKeys:
    """The failures of one process, by address.

    Parameters
    ----------
    clock : Clock
        Source of time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Number of failures by address, and the time of the last one.
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()

    def rest(self, address: str) -> float:
        """Return for how many seconds new keys from an address are not checked."""
        count, last = self._failures.get(address, (0, 0.0))
        if count < FREE:
            return 0.0
        # The exponent is capped: the wait is already at its maximum there.
        seconds = min(_FIRST * 2.0 ** min(count - FREE, 16), LONGEST)
        return max(0.0, last + seconds - self._clock.monotonic())

    def failed(self, address: str) -> None:
        """Record a wrong key from an address."""
        now = self._clock.monotonic()
        count, last = self._failures.get(address, (0, now))
        if now - last >= _FORGOTTEN:
            count = 0
        remember(self._failures, address, (count + 1, now))

    def used(self, address: str, digest: str) -> None:
        """Record that a key was accepted from an address."""
        remember(self._used, (address, digest), None)

    def was_used(self, address: str, digest: str) -> bool:
        """Return whether a key was accepted from an address before."""
        return (address, digest) in self._used


def remember(table: OrderedDict[Any, Any], name: object, value: object) -> None:
    """Set an entry of a table, and drop the oldest one if there are too many."""
    table[name] = value
    table.move_to_end(name)
    if len(table) > _REMEMBERED:
        table.popitem(last=False)
