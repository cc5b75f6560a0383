"""Metrics of turns, as CloudWatch reads them from the log (EMF)."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from functions.shapes import Turn
from graph.turn import TraceSpan


class Measure(NamedTuple):
    """One value of a metric, and the dimensions that it is told apart by."""

    name: str
    unit: MetricUnit
    value: float
    dimensions: dict[str, str]


def emit(turn: Turn, spans: Sequence[TraceSpan]) -> None:
    """Tell of a turn that has ended or paused."""
    namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Footnote")
    for measure in measures(turn, spans):
        with single_metric(measure.name, measure.unit, measure.value, namespace=namespace) as metric:
            for name, value in measure.dimensions.items():
                metric.add_dimension(name, value)


def measures(turn: Turn, spans: Sequence[TraceSpan]) -> Iterator[Measure]:
    """``Turns`` by outcome, times; model calls, tokens and cost (USD) by model; ``Fallbacks`` and ``DegradedSearches``."""
    times = turn["timings_ms"]
    yield Measure("Turns", MetricUnit.Count, 1, {"outcome": turn["outcome"] or "running"})
    yield Measure("TurnTime", MetricUnit.Milliseconds, times["total"], {})
    if "first_token" in times:
        yield Measure("TimeToFirstToken", MetricUnit.Milliseconds, times["first_token"], {})
    yield from _of_models(spans)
    yield Measure("Fallbacks", MetricUnit.Count, _count(spans, "footnote.fallbacks"), {})
    yield Measure("DegradedSearches", MetricUnit.Count, _count(spans, "footnote.degraded"), {})


def _of_models(spans: Iterable[TraceSpan]) -> Iterator[Measure]:
    calls: defaultdict[str, float] = defaultdict(float)
    tokens, costs = calls.copy(), calls.copy()
    for span in spans:
        facts = span["attributes"]
        model = facts.get("gen_ai.request.model")
        if isinstance(model, str):
            calls[model] += 1
            tokens[model] += _number(facts.get("gen_ai.usage.input_tokens")) + _number(facts.get("gen_ai.usage.output_tokens"))
            costs[model] += _number(facts.get("footnote.cost_usd"))
    for model in calls:
        yield Measure("ModelCalls", MetricUnit.Count, calls[model], {"model": model})
        yield Measure("ModelTokens", MetricUnit.Count, tokens[model], {"model": model})
        yield Measure("ModelCost", MetricUnit.NoUnit, costs[model], {"model": model})


def _count(spans: Iterable[TraceSpan], fact: str) -> int:
    """In how many spans a fact is more than nothing."""
    return sum(bool(span["attributes"].get(fact)) for span in spans)


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0
