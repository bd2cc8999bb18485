"""What a running process tells of itself: the part of the interface that is about watching it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from streamtables.engine.spark_progress import TasksDone
from streamtables.observe import declared as metric
from streamtables.observe.logs import end_logs, start_logs
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.service import Scheduler

if TYPE_CHECKING:
    from streamtables.observe.serving import MetricsServer


class Monitoring:
    """The methods of an open warehouse that are about its metrics."""

    _around: Surroundings
    _scheduler: Scheduler
    _metrics_server: MetricsServer | None = None
    _log_handler: logging.Handler | None = None

    def metrics_text(self) -> str:
        """Return all metrics in the text format of Prometheus.

        In the process that keeps tables fresh this asks nobody; in others it reads the catalog.
        """
        # Imported on use, as below: most processes are never scraped.
        from streamtables.observe.exposition import exposition

        return exposition(self._around.observer.counts, self._scheduler.samples())

    def serve_metrics(self, port: int) -> int:
        """Answer scrapes of this machine at `/metrics` until the warehouse is closed.

        Returns the port, which is a free one where 0 was given.
        """
        from streamtables.observe.serving import MetricsServer

        self._close_metrics()
        self._metrics_server = MetricsServer(self.metrics_text, port)
        return self._metrics_server.port

    def metrics_summary(self) -> dict[str, object]:
        """Return what was counted since this process opened the warehouse."""
        counts = self._around.observer.counts
        return {
            "plan_cache": self._around.plans.counts.summary(),
            "cost_cache": self._around.costs.counts(),
            "refreshes": _whole(counts.total(metric.REFRESHES, "mode")),
            "rows_changed": _whole(counts.total(metric.ROWS_CHANGED, "action")),
            "failures": _whole(counts.total(metric.REFRESH_FAILURES, "code")),
            "events": _whole(counts.total(metric.EVENTS, "kind")),
            "catalog_queries": self._around.catalog.queries,
        }

    def spark_progress(self) -> TasksDone | None:
        """Return how many tasks of what Spark computes for this process are done; None at rest."""
        return self._around.sessions.progress()

    def write_logs(self, stream: TextIO) -> None:
        """Write log lines to a stream until the warehouse is closed, as the settings say."""
        self._end_logs()
        settings = self._around.settings
        self._log_handler = start_logs(stream, level=settings.log_level, form=settings.log_format)

    def _end_logs(self) -> None:
        if self._log_handler is not None:
            end_logs(self._log_handler)
            self._log_handler = None

    def _close_metrics(self) -> None:
        if self._metrics_server is not None:
            self._metrics_server.close()
            self._metrics_server = None


def _whole(totals: Mapping[str, float]) -> dict[str, int]:
    # Zeroes are there for scrapes alone.
    return {name: int(total) for name, total in sorted(totals.items()) if total}
