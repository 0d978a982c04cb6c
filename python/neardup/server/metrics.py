"""Metrics for Prometheus: requests, by the instrumentator, and documents, checks and the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastapi import Depends
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_fastapi_instrumentator import Instrumentator
from prometheus_fastapi_instrumentator.metrics import Info, default

from neardup.exceptions import NeardupError
from neardup.server.problems import PROBLEMS
from neardup.server.security.auth import require

if TYPE_CHECKING:
    from fastapi import FastAPI

    from neardup.index import Decision
    from neardup.server.store import Store

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    """The metrics of a service."""

    def __init__(self, store: Store) -> None:
        self.registry = CollectorRegistry()
        self._documents = Counter(
            "neardup_documents",
            "Documents that were posted, by what became of them.",
            ("outcome",),
            registry=self.registry,
        )
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
        self.registry.register(_Sizes(store))

    def install(self, app: FastAPI) -> None:
        """Measure the requests of an app, and serve all metrics at ``/metrics``."""
        measure = default(registry=self.registry)
        assert measure is not None, "the registry is new"

        def measure_known(info: Info) -> None:
            # A client must not be able to create time series.
            info.method = info.method if info.method in _METHODS else "other"
            measure(info)

        instrumentator = Instrumentator(should_group_status_codes=False, registry=self.registry)
        instrumentator.add(measure_known).instrument(app).expose(
            app,
            tags=["health"],
            summary="Figures for Prometheus",
            response_class=PlainTextResponse,
            dependencies=[Depends(require("read"))],
            responses=PROBLEMS,
        )

    def count_decisions(self, decisions: Sequence[Decision]) -> None:
        """Count the decisions on documents."""
        for decision in decisions:
            if decision.problem is not None:
                outcome = "refused"
            elif not decision.new:
                outcome = "known"
            else:
                outcome = "kept" if decision.repeats is None else "dropped"
            self._documents.labels(outcome).inc()


class _Sizes(Collector):
    """The sizes of the index; if it is unavailable, only that fact."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Read the sizes from the index."""
        try:
            stats = self._store.index.stats()
        except NeardupError:
            stats = None
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
