"""Figures about checks, where somebody collects them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

__all__ = ["CheckMetrics"]


class CheckMetrics:
    """What one process counts of its checks.

    Parameters
    ----------
    registry : CollectorRegistry or None, default=None
        None counts for nobody.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        registry = registry or CollectorRegistry()
        now = Gauge(
            "neardup_checks",
            "Checks of papers that wait or run.",
            ("state",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        ended = Counter(
            "neardup_checks_ended", "Checks of papers that ended.", ("outcome",), registry=registry
        )
        self._waiting, self._running = now.labels("waiting"), now.labels("running")
        self._ended = {outcome: ended.labels(outcome) for outcome in ("done", "failed")}

    def now(self, waiting: int, running: int) -> None:
        """Note how many checks wait and run."""
        self._waiting.set(waiting)
        self._running.set(running)

    def ended(self, outcome: str) -> None:
        """Count one that is done or failed."""
        self._ended[outcome].inc()
