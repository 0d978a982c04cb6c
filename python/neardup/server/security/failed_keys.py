"""Back-off after failed keys: who tries wrong keys waits longer each time.

Some failures are free: a key is mistyped, or was revoked a moment ago. After those, no key from
this address is looked at for a second, then for two, and so on. Keys that were used from the
address before are accepted all the same, or whoever shares it, such as a whole
office, could be locked out by one wrong program.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.server.clock import Clock

__all__ = ["FREE", "LONGEST", "FailedKeys"]

#: Failures that have no consequence.
FREE = 5
#: The first and the longest rest, in seconds; each is twice the one before.
_FIRST, LONGEST = 1.0, 60.0
#: Seconds without a failure after which the failures of an address are forgotten.
_FORGOTTEN = 900.0
#: Addresses, and keys used from an address, that are remembered.
_REMEMBERED = 10_000


class FailedKeys:
    """The failures of one process, by address.

    Parameters
    ----------
    clock : Clock
        What rests are measured with.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # How many failures an address had, and when the last one was.
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()

    def rest(self, address: str) -> float:
        """Return for how many seconds new keys from an address are not looked at."""
        count, last = self._failures.get(address, (0, 0.0))
        if count < FREE:
            return 0.0
        # A larger power would not be shorter than the longest rest either.
        seconds = min(_FIRST * 2.0 ** min(count - FREE, 16), LONGEST)
        return max(0.0, last + seconds - self._clock.monotonic())

    def failed(self, address: str) -> None:
        """Note a wrong key from an address."""
        now = self._clock.monotonic()
        count, last = self._failures.get(address, (0, now))
        if now - last >= _FORGOTTEN:
            count = 0
        _remember(self._failures, address, (count + 1, now))

    def used(self, address: str, digest: str) -> None:
        """Note that a key was accepted from an address."""
        _remember(self._used, (address, digest), None)

    def was_used(self, address: str, digest: str) -> bool:
        """Return whether a key was accepted from an address before."""
        return (address, digest) in self._used


def _remember(table: OrderedDict[Any, Any], name: object, value: object) -> None:
    table[name] = value
    table.move_to_end(name)
    if len(table) > _REMEMBERED:
        table.popitem(last=False)
