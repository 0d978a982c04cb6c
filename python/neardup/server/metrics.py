"""Metrics for Prometheus.

With several processes behind one port, a scrape reaches any one of them. If the environment
variable ``PROMETHEUS_MULTIPROC_DIR`` names a folder (``neardup serve --workers`` sets it),
each process keeps its metrics in a file there, and the process that is scraped sums all files.
The sizes of the index are read from the index, which all processes share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from neardup.exceptions import NeardupError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from neardup.index import Decision, Stats
    from neardup.server.store import Store

__all__ = ["CONTENT_TYPE", "CheckMetrics", "Measured", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Histogram buckets in seconds: a batch takes tens of milliseconds, and no request exceeds the
#: time limit.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

#: Label for an address without a route: a client must not be able to create time series.
_UNKNOWN = "unknown"

# By default each counter has a second series with the time of its creation.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Metrics of one process.

    Attributes
    ----------
    registry : CollectorRegistry
        For further metrics; gauges need a ``multiprocess_mode``.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "neardup_requests",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "neardup_request_seconds",
            "Time from a request to the end of its answer.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "neardup_requests_in_flight",
            "Requests that are being answered.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        documents = Counter(
            "neardup_documents",
            "Documents that were posted, by what became of them.",
            ("outcome",),
            registry=self.registry,
        )
        self._outcomes = {
            name: documents.labels(name) for name in ("kept", "dropped", "known", "refused")
        }
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def decided(self, decisions: Sequence[Decision]) -> None:
        """Count the decisions on documents."""
        for one in decisions:
            if one.problem is not None:
                outcome = "refused"
            elif not one.new:
                outcome = "known"
            else:
                outcome = "kept" if one.repeats is None else "dropped"
            self._outcomes[outcome].inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        found = self._children.get((method, route, status))
        if found is None:
            found = (
                self.requests.labels(method, route, str(status)),
                self.seconds.labels(method, route),
            )
            self._children[method, route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    async def text(self, store: Store) -> bytes:
        """Return all metrics; the sizes of the index are current."""
        return await store.watch(self._text, store)

    def _text(self, store: Store) -> bytes:
        sizes = CollectorRegistry()
        sizes.register(_Sizes(store))
        counted = self.registry
        if os.environ.get(_FOLDER):
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(sizes)


class CheckMetrics:
    """Metrics of the paper checks of one process.

    Parameters
    ----------
    registry : CollectorRegistry or None, default=None
        None registers the metrics nowhere.
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
        """Set the numbers of waiting and running checks."""
        self._waiting.set(waiting)
        self._running.set(running)

    def ended(self, outcome: str) -> None:
        """Count a check that is done or failed."""
        self._ended[outcome].inc()


class _Sizes(Collector):
    """The sizes of the index; if it is unavailable, only that fact."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Read the sizes from the index."""
        stats = self._stats()
        up = float(stats is not None)
        yield GaugeMetricFamily("neardup_index_up", "Whether the index answers.", up)
        if stats is None:
            return
        documents = GaugeMetricFamily(
            "neardup_index_documents", "Documents of the index.", labels=("state",)
        )
        for state in ("kept", "dropped", "freed"):
            documents.add_metric((state,), getattr(stats, state))
        yield documents
        yield GaugeMetricFamily("neardup_index_bytes", "Size of the index on disk.", stats.bytes)

    def _stats(self) -> Stats | None:
        try:
            return self._store.index.stats()
        except NeardupError:
            return None


class Measured:
    """ASGI middleware that counts and times requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # If a connection ends without a response, the client closed it; nginx uses the same status.
        status = 499

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.in_flight.inc()
        begin = time.perf_counter()
        try:
            await self._app(scope, receive, noted)
        except Exception:
            status = 500
            raise
        finally:
            self._metrics.in_flight.dec()
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = getattr(scope.get("route"), "path_format", _UNKNOWN)
            self._metrics.answered(method, route, status, time.perf_counter() - begin)
