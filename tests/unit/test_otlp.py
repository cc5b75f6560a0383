"""Traces over real OTLP/HTTP."""

import pytest

from graph.adapters.otlp import TraceExporter
from graph.tracing import Trace
from tests.standins.otlp import Collector


def test_a_collector_receives_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace()
    with trace.span("turn"), trace.span("plan"):
        pass
    with Collector.running() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        exporter = TraceExporter()
        exporter.export(trace)
        exporter.close()
        assert collector.trace(trace.trace_id, "turn", "plan") == {"turn": None, "plan": "turn"}


def test_a_request_to_aws_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3", reason="boto3 comes with the extra aws")
    from graph.adapters.otlp_signed import signed_session  # noqa: PLC0415

    for name, value in (
        ("REGION", "eu-central-1"),
        ("ACCESS_KEY_ID", "AKID"),
        ("SECRET_ACCESS_KEY", "s"),
        ("SESSION_TOKEN", "t"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with Collector.running() as collector, signed_session() as session:
        answer = session.post(f"{collector.url}/v1/traces", data=b"", headers={"Content-Type": "application/x-protobuf"})
        (headers,) = collector.headers
    assert answer.ok
    assert "/eu-central-1/xray/aws4_request" in headers["authorization"]
    assert headers["x-amz-security-token"] == "t"
