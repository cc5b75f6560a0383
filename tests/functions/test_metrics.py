"""What an operator counts of turns."""

import json
from typing import Any, cast

import pytest

from functions import outcome
from functions.shapes import Timings, Turn
from graph.tracing import Trace

metrics = pytest.importorskip("functions.worker.metrics", reason="Powertools comes with the extra aws")


def ended(**times: float) -> Turn:
    turn = outcome.unanswered(turn_id="t", thread_id="th", message_id="m", question="secret?", trace_id="0", created_at="")
    turn["outcome"] = "partial"
    turn["timings_ms"] = cast("Timings", {"total": 900.5, "by_node": {}, **times})
    return turn


def test_a_turn_is_counted_by_outcome_and_its_calls_by_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Footnote/test")
    trace = Trace()
    for model, tokens in (("small", 5), ("small", 7), ("large", 11)):
        facts = {"gen_ai.request.model": model, "gen_ai.usage.input_tokens": tokens, "footnote.cost_usd": 0.001}
        with trace.span("chat", facts):
            pass
    with trace.span("plan", {"footnote.fallbacks": ["rule:plan"]}), trace.span("tool", {"footnote.degraded": []}):
        pass
    metrics.emit(ended(first_token=120.25), trace.spans)

    lines = capsys.readouterr().out.splitlines()
    blobs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    told = {
        (metric["Name"], blob.get("outcome", blob.get("model"))): blob[metric["Name"]]
        for blob in blobs
        for metric in blob["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }
    assert told == {
        ("Turns", "partial"): [1.0],
        ("TurnTime", None): [900.5],
        ("TimeToFirstToken", None): [120.25],
        ("ModelCalls", "small"): [2.0],
        ("ModelTokens", "small"): [12.0],
        ("ModelCost", "small"): [0.002],
        ("ModelCalls", "large"): [1.0],
        ("ModelTokens", "large"): [11.0],
        ("ModelCost", "large"): [0.001],
        ("Fallbacks", None): [1.0],
        ("DegradedSearches", None): [0.0],
    }
    assert {blob["_aws"]["CloudWatchMetrics"][0]["Namespace"] for blob in blobs} == {"Footnote/test"}
    assert "secret" not in "".join(lines)


def test_a_turn_without_a_token_has_no_time_to_its_first(capsys: pytest.CaptureFixture[str]) -> None:
    metrics.emit(ended(), [])
    assert "TimeToFirstToken" not in capsys.readouterr().out
