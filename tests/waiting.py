"""Waiting for a condition, never for a time."""

import time

#: Longest wait, in seconds: only a condition that never comes true takes so long.
PATIENCE = 120.0


def until(condition, what="the condition"):
    """Return the first true value of a condition; fail if none comes."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {PATIENCE:g} seconds in vain for {what}"
        time.sleep(0.01)
    return found
