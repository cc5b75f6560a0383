"""Finished traces, replayed into OpenTelemetry's SDK and sent by OTLP. Imported after the first answer.

CloudWatch takes OTLP at ``https://xray.REGION.amazonaws.com/v1/traces``, signed like every request to AWS
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-OTLPEndpoint.html).
"""

import os
import threading
from collections.abc import Sequence

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.util.types import AttributeValue

from graph.tracing import Trace
from graph.turn import TraceSpan

_OF_AWS = ".amazonaws.com"


class _RecordedIds(IdGenerator):
    """Gives the ids under which spans were recorded, so that a turn is found by the ``trace_id`` its user sees."""

    def __init__(self) -> None:
        self._next = threading.local()

    def put(self, trace_id: str, span_id: str) -> None:
        self._next.trace_id, self._next.span_id = int(trace_id, 16), int(span_id, 16)

    def generate_trace_id(self) -> int:
        trace_id: int = self._next.trace_id
        return trace_id

    def generate_span_id(self) -> int:
        span_id: int = self._next.span_id
        return span_id


class TraceExporter:
    """Sends finished traces. The exporter reads its ``OTEL_EXPORTER_OTLP_*`` variables itself."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        self._ids = _RecordedIds()
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "footnote"}), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter or _exporter()))
        self._tracer = self._provider.get_tracer("footnote")

    def export(self, trace: Trace) -> None:
        """Queue the spans of a turn; a background thread sends them."""
        contexts: dict[str, Context] = {}
        for span in _parents_first(trace.spans):
            self._ids.put(trace.trace_id, span["span_id"])
            start_ns = trace.began_ns + int(span["start_ms"] * 1e6)
            replayed = self._tracer.start_span(
                span["name"],
                context=contexts.get(span["parent_id"] or "") or _elsewhere(trace.trace_id, span["parent_id"]),
                start_time=start_ns,
                attributes={key: _attribute(value) for key, value in span["attributes"].items()},
            )
            replayed.end(end_time=start_ns + int(span["duration_ms"] * 1e6))
            contexts[span["span_id"]] = otel.set_span_in_context(replayed)

    def flush(self) -> None:
        """Send what is queued: where a process is frozen between two events nothing is sent in the background."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send what is queued, and take no more."""
        self._provider.shutdown()


def _exporter() -> SpanExporter:
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").rstrip("/").endswith(_OF_AWS):
        return OTLPSpanExporter()
    from graph.adapters.otlp_signed import signed_session  # noqa: PLC0415  # boto3 is not there on a laptop

    return OTLPSpanExporter(session=signed_session())


def _elsewhere(trace_id: str, parent_id: str | None) -> Context | None:
    """A span of somebody else, who sends it himself."""
    if parent_id is None:
        return None
    remote = otel.SpanContext(
        int(trace_id, 16), int(parent_id, 16), is_remote=True, trace_flags=otel.TraceFlags(otel.TraceFlags.SAMPLED)
    )
    return otel.set_span_in_context(otel.NonRecordingSpan(remote))


def _parents_first(spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """A span is recorded when it ends, a draft's later than the node that began it: order by depth."""
    by_id = {span["span_id"]: span for span in spans}

    def depth(span: TraceSpan) -> int:
        parent = by_id.get(span["parent_id"] or "")
        return 0 if parent is None else 1 + depth(parent)

    return sorted(spans, key=depth)


def _attribute(value: object) -> AttributeValue:
    return value if isinstance(value, str | bool | int | float) else str(value)
