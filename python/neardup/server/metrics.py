"""Metrics for Prometheus."""

from __future__ import annotations

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
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from neardup.exceptions import NeardupError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from neardup.index import Decision, Stats
    from neardup.server.store import Store

__all__ = ["CONTENT_TYPE", "Measured", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Histogram buckets in seconds: a batch takes tens of milliseconds, and no request exceeds the
#: time limit.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

#: Label for an address without a route: a client must not be able to create time series.
_UNKNOWN = "unknown"

# By default each counter has a second series with the time of its creation.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The metrics of a service."""

    def __init__(self, store: Store) -> None:
        self._store = store
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
        self.checks = Gauge(
            "neardup_checks",
            "Checks of papers that wait or run.",
            ("state",),
            registry=self.registry,
        )
        self.ended_checks = Counter(
            "neardup_checks_ended",
            "Checks of papers that ended.",
            ("outcome",),
            registry=self.registry,
        )
        for outcome in ("done", "failed"):
            self.ended_checks.labels(outcome)
        self.registry.register(_Sizes(store))

    def decided(self, decisions: Sequence[Decision]) -> None:
        """Count the decisions on documents."""
        for decision in decisions:
            if decision.problem is not None:
                outcome = "refused"
            elif not decision.new:
                outcome = "known"
            else:
                outcome = "kept" if decision.repeats is None else "dropped"
            self._outcomes[outcome].inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def totals(self) -> dict[str, int]:
        """Return the numbers of requests, of requests in flight, and of added documents."""
        added = [self._outcomes[name] for name in ("kept", "dropped")]
        return {
            "requests": _total(self.requests),
            "in_flight": _total(self.in_flight),
            "added": sum(map(_total, added)),
        }

    async def text(self) -> bytes:
        """Return all metrics; the sizes of the index are current."""
        return await self._store.watch(generate_latest, self.registry)


def _total(metric: MetricWrapperBase) -> int:
    samples = (sample for family in metric.collect() for sample in family.samples)
    return int(sum(sample.value for sample in samples))


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
        for state in ("kept", "dropped"):
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
