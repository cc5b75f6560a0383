"""Traces: recorded while a turn runs, replayed into OpenTelemetry when it is over."""

import json
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graph.adapters.otlp import TraceExporter
from graph.reasoner import ModelCall
from graph.tracing import Trace, TracedBudget
from graph.turn import Origin


def test_spans_nest_as_the_work_did_and_keep_their_ids() -> None:
    trace, exporter = Trace(), InMemorySpanExporter()
    budget = TracedBudget(deadline=0, calls=5, tokens=100, trace=trace)
    with trace.span("turn"), trace.span("plan", {"footnote.node": "plan"}) as facts:
        facts["footnote.fallbacks"] = ["rule:plan"]
        budget.record(ModelCall(node="plan", model="m", prompt_tokens=7, ms=0.1))
    sender = TraceExporter(exporter)
    sender.export(trace)
    sender.close()
    sent = {span.name: span for span in exporter.get_finished_spans()}
    assert set(sent) == {"turn", "plan", "chat m"}
    assert {f"{span.context.trace_id:032x}" for span in sent.values()} == {trace.trace_id}
    assert {f"{span.context.span_id:016x}" for span in sent.values()} == {span["span_id"] for span in trace.spans}
    assert sent["turn"].parent is None
    for child, parent in (("plan", "turn"), ("chat m", "plan")):
        above = sent[child].parent
        assert above is not None
        assert above.span_id == sent[parent].context.span_id
    assert sent["chat m"].attributes is not None
    assert sent["chat m"].attributes["gen_ai.usage.input_tokens"] == 7


def test_an_error_is_named_in_its_span_by_type_only() -> None:
    trace = Trace()
    with pytest.raises(ValueError, match="secret"), trace.span("plan"):
        raise ValueError("secret")
    assert trace.spans[0]["attributes"] == {"error.type": "ValueError"}


def test_a_call_of_an_earlier_run_is_counted_but_no_span_again() -> None:
    trace = Trace()
    budget = TracedBudget(deadline=0, calls=5, tokens=100, trace=trace)
    budget.book(ModelCall(node="plan", model="m", prompt_tokens=7))
    assert (budget.calls, budget.tokens, trace.spans) == (4, 93, [])


def test_the_exporter_is_not_loaded_to_answer() -> None:
    code = "import sys, graph.agent, graph.wiring; print([m for m in sys.modules if 'otlp' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  # our own code
    assert done.stdout.strip() == "[]"


def test_a_trace_goes_on_in_another_process() -> None:
    first = Trace(parent_id="00000000000000aa")
    origin: Origin = json.loads(json.dumps(first.received("websocket ask")))
    second, exporter = Trace.of(origin), InMemorySpanExporter()
    with second.span("turn"):
        pass
    sender = TraceExporter(exporter)
    sender.export(second)
    sender.close()
    outer, inner = (
        next(span for span in exporter.get_finished_spans() if span.name == name) for name in ("websocket ask", "turn")
    )
    assert outer.parent is not None
    assert inner.parent is not None
    assert (outer.parent.span_id, inner.parent.span_id) == (0xAA, outer.context.span_id)
    assert outer.context.trace_id == inner.context.trace_id
    assert outer.start_time is not None
    assert inner.start_time is not None
    assert outer.start_time <= inner.start_time
    assert all(span["start_ms"] >= 0 for span in second.spans)


@pytest.mark.parametrize(
    ("header", "trace_id", "parent_id"),
    [
        (
            {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
        ),
        ({"X-Amzn-Trace-Id": "Root=1-692cd3e0-0123456789abcdef01234567"}, "692cd3e00123456789abcdef01234567", None),
        (
            {"x-amzn-trace-id": "Root=1-692cd3e0-0123456789abcdef01234567;Parent=53995c3f42cd8ad8;Sampled=1"},
            "692cd3e00123456789abcdef01234567",
            "53995c3f42cd8ad8",
        ),
    ],
)
def test_a_callers_trace_is_continued(header: dict[str, str], trace_id: str, parent_id: str | None) -> None:
    trace = Trace.continuing(header)
    assert (trace.trace_id, trace.parent_id) == (trace_id, parent_id)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"traceparent": "00-zz-b7ad6b7169203331-01"},
        {"traceparent": "00-00000000000000000000000000000000-b7ad6b7169203331-01"},
        {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"},
        {"x-amzn-trace-id": "Self=1-692cd3e0-0123456789abcdef01234567"},
        {"x-amzn-trace-id": "Root=1-nothing"},
    ],
)
def test_a_header_that_names_no_trace_begins_a_new_one(header: dict[str, str]) -> None:
    first, second = Trace.continuing(header), Trace.continuing(header)
    assert first.trace_id != second.trace_id
    assert first.parent_id is None
