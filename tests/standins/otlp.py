"""A collector of traces: takes OTLP over HTTP, as an OpenTelemetry Collector or CloudWatch does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(ThreadingHTTPServer):
    """Keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []
        self.headers: list[dict[str, str]] = []
        self._arrived = threading.Condition()

    @property
    def url(self) -> str:
        """For ``OTEL_EXPORTER_OTLP_ENDPOINT``."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """One that listens."""
        with cls() as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            try:
                yield server
            finally:
                server.shutdown()
                thread.join()

    def take(self, headers: dict[str, str], body: bytes) -> None:
        """Keep a request."""
        request = ExportTraceServiceRequest.FromString(body)
        with self._arrived:
            self.headers.append(headers)
            self.spans += [span for group in request.resource_spans for scope in group.scope_spans for span in scope.spans]
            self._arrived.notify_all()

    def trace(self, trace_id: str, *names: str, seconds: float = 30) -> dict[str, str | None]:
        """Of each span of a trace the name of the one that it belongs to, once spans of these names have arrived.

        A span of somebody else has no name here: None, like no span at all.
        """

        def found() -> list[Span]:
            return [span for span in self.spans if span.trace_id.hex() == trace_id]

        with self._arrived:
            came = self._arrived.wait_for(lambda: set(names) <= {span.name for span in found()}, seconds)
            assert came, f"no {set(names) - {span.name for span in found()}} in trace {trace_id}: {found()}"
            by_id = {span.span_id: span.name for span in found()}
            return {span.name: by_id.get(span.parent_span_id) for span in found()}


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:  # the name that http.server calls
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/traces":
            self.server.take({name.lower(): value for name, value in self.headers.items()}, body)
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name that http.server gives
        """Say nothing."""
