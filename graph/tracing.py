"""One trace per turn, by OpenTelemetry's GenAI conventions: recorded as plain data, handed to OpenTelemetry afterwards.

Spans are kept with the turn in any case. Replaying them when the turn is over (``adapters/otlp.py``) costs the turn
nothing, and lets the SDK and its exporter (0.2 s of import) wait until after the first answer. Work that begins in one
process and goes on in another carries its `Origin` along, and the last one sends it all.
"""

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Self

from graph.reasoner import Budget, ModelCall
from graph.turn import Origin, TraceSpan

_TRACEPARENT = re.compile(
    r"[0-9a-f]{2}-(?!0{32})(?P<time>[0-9a-f]{8})(?P<rest>[0-9a-f]{24})-(?!0{16})(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}.*"
)
"""https://www.w3.org/TR/trace-context/#traceparent-header"""
_AMAZON = re.compile(r"(?:.*;)?\s*Root=1-(?P<time>[0-9a-f]{8})-(?P<rest>[0-9a-f]{24})(?:;\s*Parent=(?P<parent>[0-9a-f]{16}))?")
"""https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader"""
_parent: ContextVar[str | None] = ContextVar("footnote_span", default=None)


@dataclass(kw_only=True)
class Trace:
    """The spans of a turn, or of a file that is read."""

    trace_id: str = field(default_factory=lambda: secrets.token_hex(16))
    parent_id: str | None = None
    """The span, of somebody else perhaps, that ours belong to."""
    spans: list[TraceSpan] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    began_ns: int = field(default_factory=time.time_ns)

    @classmethod
    def of(cls, origin: Origin | None) -> Self:
        """A trace that goes on, and counts from the same moment; a new one where there is none to go on with."""
        if origin is None:
            return cls()
        ago_s = max(0, time.time_ns() - origin["began_ns"]) / 1e9
        return cls(
            trace_id=origin["trace_id"],
            parent_id=origin["parent_id"],
            spans=list(origin["spans"]),
            began=time.perf_counter() - ago_s,
            began_ns=origin["began_ns"],
        )

    @classmethod
    def continuing(cls, headers: Mapping[str, str]) -> Self:
        """The trace of a request, as W3C's or AWS's header names it; a new one where neither does."""
        fields = {name.lower(): value for name, value in headers.items()}
        found = _TRACEPARENT.fullmatch(fields.get("traceparent", "").strip()) or _AMAZON.match(
            fields.get("x-amzn-trace-id", "")
        )
        if found is None:
            return cls()
        return cls(trace_id="".join(found.group("time", "rest")), parent_id=found["parent"])

    def received(self, name: str, attributes: Mapping[str, object] | None = None) -> Origin:
        """Record all that was done up to now as one span, and give what another process needs to go on below it."""
        span_id = secrets.token_hex(8)
        self._add(span_id, self.parent_id, name, 0.0, dict(attributes or {}))
        return Origin(trace_id=self.trace_id, parent_id=span_id, began_ns=self.began_ns, spans=list(self.spans))

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, object] | None = None) -> Iterator[dict[str, object]]:
        """Record what happens inside; more attributes may be put into the dict it gives."""
        facts = dict(attributes or {})
        span_id, parent_id = secrets.token_hex(8), _parent.get() or self.parent_id
        token = _parent.set(span_id)
        start_ms = self._ms()
        try:
            yield facts
        except BaseException as error:
            if "footnote.paused" not in facts:
                facts["error.type"] = type(error).__name__
            raise
        finally:
            _parent.reset(token)
            self._add(span_id, parent_id, name, start_ms, facts)

    def model_call(self, call: ModelCall) -> None:
        """Record a request to a model that has just ended."""
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "groq",
            "gen_ai.request.model": call.model,
            "gen_ai.usage.input_tokens": call.prompt_tokens,
            "gen_ai.usage.output_tokens": call.completion_tokens,
            "footnote.outcome": call.outcome,
            "footnote.cost_usd": call.cost_usd,
        }
        self._add(
            secrets.token_hex(8), _parent.get() or self.parent_id, f"chat {call.model}", max(0.0, self._ms() - call.ms), facts
        )

    def _ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000

    def _add(self, span_id: str, parent_id: str | None, name: str, start_ms: float, facts: dict[str, object]) -> None:
        self.spans.append(
            TraceSpan(
                span_id=span_id,
                parent_id=parent_id,
                name=name,
                start_ms=round(start_ms, 2),
                duration_ms=round(self._ms() - start_ms, 2),
                attributes=facts,
            )
        )


@dataclass(kw_only=True)
class TracedBudget(Budget):
    """A budget whose calls also become spans."""

    trace: Trace

    def record(self, call: ModelCall) -> None:
        """Book a call that has just ended."""
        self.book(call)
        self.trace.model_call(call)

    def book(self, call: ModelCall) -> None:
        """Book a call of an earlier run of the same turn."""
        super().record(call)
