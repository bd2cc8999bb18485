"""Spans of refreshes for OpenTelemetry, made from the record after the refresh has ended.

Nothing is imported unless the standard OTEL_ variables of the environment ask for traces.  The
steps of a record say how long each took, in the order in which they ended, so the spans below a
refresh lie one after another; what is left at the end is time outside of any step.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from streamtables.catalog.models import RefreshRecord
from streamtables.settings import telemetry_environment

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

SERVICE = "streamtables"

_log = logging.getLogger("streamtables.traces")


class Traces:
    """Makes spans; the provider's own thread sends them."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE)
        self._failed = Status(StatusCode.ERROR)
        self._inside = set_span_in_context

    @classmethod
    def configured(cls, environment: Mapping[str, str] | None = None) -> Traces | None:
        """Return the traces that the environment asks for, if it does."""
        said = telemetry_environment() if environment is None else environment
        if not is_wanted(said):
            return None
        try:
            return cls(_provider(said))
        except ImportError:
            _say_none("the packages are missing: install streamtables[traces]")
        except ValueError as error:
            _say_none(str(error))
        return None

    def refresh(self, table: str, record: RefreshRecord) -> None:
        """Make the span of one refresh, and one below it for each step."""
        begin = _nanoseconds(record.started_at)
        end = begin + int(record.seconds * 1e9)
        span = self._tracer.start_span(
            f"refresh {table}", start_time=begin, attributes=_attributes(table, record)
        )
        below = self._inside(span)
        at = begin
        for step in record.steps:
            until = min(end, at + int(step.seconds * 1e9))
            child = self._tracer.start_span(step.name, context=below, start_time=at)
            child.end(until)
            at = until
        if record.state == "failed":
            span.set_status(self._failed)
        span.end(end)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether the standard variables name somewhere to send traces to."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "")
    if exporter:
        return exporter != "none"
    ends = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return any(environment.get(name) for name in ends)


def _provider(environment: Mapping[str, str]) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = environment.get("OTEL_SERVICE_NAME", SERVICE)
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(_exporter(environment)))
    return provider


def _exporter(environment: Mapping[str, str]) -> SpanExporter:
    named = environment.get("OTEL_TRACES_EXPORTER", "otlp")
    if named == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    if named != "otlp":
        raise ValueError(f'there is no exporter "{named}"; known: otlp, console, none')
    spoken = environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environment.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    if spoken != "http/protobuf":
        raise ValueError(f'the protocol "{spoken}" is not spoken; known: http/protobuf')
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _attributes(table: str, record: RefreshRecord) -> dict[str, str | int]:
    return {
        "streamtables.table": table,
        "streamtables.refresh_id": record.id,
        "streamtables.mode": record.mode,
        "streamtables.outcome": record.state,
        "streamtables.reason": record.reason_code,
        "streamtables.strategy": record.strategy,
        "streamtables.rows_inserted": record.rows_inserted,
        "streamtables.rows_deleted": record.rows_deleted,
        "streamtables.error": record.error_code,
    }


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1e6) * 1_000


def _say_none(reason: str) -> None:
    _log.warning("no traces are sent", extra={"fields": {"reason": reason}})
