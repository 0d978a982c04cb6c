"""Figures for Prometheus.

With several processes behind one port a scrape meets any of them. So where the environment
names a folder by ``PROMETHEUS_MULTIPROC_DIR`` (``neardup serve --workers`` does), each
process keeps its figures in a file there, and whoever is asked adds all of them up. The
sizes of the index are read from the index, which is one for all.
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

#: Seconds; a batch takes tens of milliseconds, and nothing longer than the limit of time.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

#: The name of an address that no route knows: a client must not make series of its own.
_UNKNOWN = "unknown"

# A second series for each counter, which says when its process began.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """What one process counts.

    Attributes
    ----------
    registry : CollectorRegistry
        For further metrics; give ``multiprocess_mode`` to gauges.
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
        """Count what became of documents."""
        for one in decisions:
            if one.problem is not None:
                outcome = "refused"
            elif not one.new:
                outcome = "known"
            else:
                outcome = "kept" if one.repeats is None else "dropped"
            self._outcomes[outcome].inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
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
        """Return all figures, those of the index as they are now."""
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
    """What one process counts of its checks of papers.

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


class _Sizes(Collector):
    """The sizes of the index; without it only that it is away."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Ask the index."""
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
    """ASGI middleware that counts requests and takes their time."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A connection that ends without an answer is the client's doing, as in nginx.
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
