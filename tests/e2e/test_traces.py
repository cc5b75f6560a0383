"""A turn's trace, as a collector receives it from a running Footnote."""

from pathlib import Path

import httpx

from tests.server import serving
from tests.standins.groq import StandIn
from tests.standins.otlp import Collector

TRACE_ID, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_the_callers_trace_goes_on_through_the_turn_to_its_model_calls_and_searches(tmp_path: Path) -> None:
    with Collector.running() as collector, StandIn() as groq:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "GROQ_API_KEY": "secret-key", "GROQ_BASE_URL": groq.url}
        with serving(tmp_path, env=env) as url:
            turn = httpx.post(
                f"{url}/chat",
                json={"question": "Who may see the secret plans?"},
                headers={"traceparent": f"00-{TRACE_ID}-{CALLER}-01"},
                timeout=60,
            ).json()
            stored = httpx.get(f"{url}/turns/{turn['turn_id']}/trace", timeout=10).json()
        tree = collector.trace(TRACE_ID, "ask", "invoke_agent footnote", "plan", "gather", "search", "finish")
        (ask,) = (span for span in collector.spans if span.name == "ask")

    assert ask.parent_span_id.hex() == CALLER
    assert tree["invoke_agent footnote"] == "ask"
    assert tree["plan"] == tree["gather"] == tree["finish"] == "invoke_agent footnote"
    assert tree["search"] == "execute_tool search"
    assert next(parent for name, parent in tree.items() if name.startswith("chat ")) in {"plan", "answer", "grade", "check"}
    assert turn["trace_id"] == stored["trace_id"] == TRACE_ID
    assert {span["name"] for span in stored["spans"]} == set(tree)
    assert not [span for span in collector.spans if "secret" in str(span)]
