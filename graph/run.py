"""One run of the graph: from a question, or a reply, to `Finished`, whatever happens."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt

from graph.drafts import Drafts
from graph.errors import IndexUnavailable, ModelUnavailable
from graph.filters import Condition
from graph.graph import Graph
from graph.ports import Access
from graph.reasoner import ModelCall, Reasoner
from graph.retrieval import Retriever
from graph.settings import Settings
from graph.state import Deps, Question, Result, Spent, State
from graph.tools import TOOLS
from graph.tools.toolbox import Desk, Toolbox
from graph.tracing import Trace, TracedBudget
from graph.turn import Clarification, ErrorCode, Event, Finished, Origin, Usage
from graph.wording import say

_log = logging.getLogger(__name__)
_GRACE_S = 0.5
"""Between the deadline that nodes keep and the one that stops them."""

Emit = Callable[[Event], None]


class Run:
    """What one run works with and what comes of it."""

    def __init__(  # noqa: PLR0913  # it gathers everything that a run needs, once
        self,
        *,
        reasoner: Reasoner,
        retriever: Retriever,
        settings: Settings,
        access: Access,
        filters: tuple[Condition, ...],
        language: str,
        seconds: float,
        origin: Origin | None,
    ) -> None:
        """``seconds`` is what this run may take."""
        self.trace = Trace.of(origin)
        self._language = language
        self._seconds = seconds
        self._budget = TracedBudget(
            deadline=time.monotonic() + seconds - min(_GRACE_S, seconds / 10),
            calls=settings.turn_calls,
            tokens=settings.turn_tokens,
            trace=self.trace,
        )
        desk = Desk(retriever=retriever, access=access, filters=filters, trace=self.trace)
        self._deps = Deps(
            reasoner=reasoner,
            retriever=retriever,
            settings=settings,
            access=access,
            budget=self._budget,
            toolbox=Toolbox(TOOLS, desk),
            drafts=Drafts(),
            trace=self.trace,
        )
        self._result: Result | None = None
        self._standalone: str | None = None
        self._clarifications: list[Clarification] = []

    def go_on_counting(self, spent: Sequence[Spent]) -> None:
        """Book the calls that the turn made before it paused."""
        for call in spent:
            self._budget.book(ModelCall(**call))

    async def drive(self, graph: Graph, start: Question | Command[str], config: RunnableConfig, emit: Emit) -> None:
        """Run the graph and emit its events, `Finished` last; only cancellation goes through."""
        self._budget.announce = emit
        facts = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "footnote"}
        error: ErrorCode | None = None
        with self.trace.span("invoke_agent footnote", facts):
            try:
                async with asyncio.timeout(self._seconds) as deadline:
                    await self._stream(graph, start, config, emit)
            except IndexUnavailable:
                error = "index_unavailable"
            except ModelUnavailable:
                error = "model_unavailable"
            except Exception as crash:  # noqa: BLE001  # a turn always ends in an event; the log has the rest
                error = "deadline" if isinstance(crash, TimeoutError) and deadline.expired() else "internal"
                if error == "internal":
                    _log.exception("turn crashed, trace %s", self.trace.trace_id)
            finally:
                await self._deps.drafts.drop()
                await self._deps.toolbox.close()
        emit(self._finished(error))

    async def _stream(self, graph: Graph, start: Question | Command[str], config: RunnableConfig, emit: Emit) -> None:
        modes = graph.astream(
            start, config, context=self._deps, stream_mode=["custom", "updates"], durability="exit"
        )  # "exit": a turn is one write, not one per node
        async for mode, chunk in modes:
            if mode == "custom":
                emit(cast("Event", chunk))
            else:
                self._note(cast("dict[str, State | Sequence[Interrupt]]", chunk))

    def _note(self, updates: dict[str, State | Sequence[Interrupt]]) -> None:
        """Keep what the end of the run is told from."""
        for node, update in updates.items():
            if node == "__interrupt__":
                self._clarifications = [_clarification(one) for one in cast("Sequence[Interrupt]", update)]
                continue
            state = cast("State", update)
            self._result = state.get("result") or self._result
            self._standalone = state["plan"]["question"] if node == "plan" else self._standalone

    def _finished(self, error: ErrorCode | None) -> Finished:
        result = self._result or Result(outcome="failed", answer="", citations=[], note=None, error_code="internal")
        code = error or (None if self._clarifications else result["error_code"])
        message = say(code, self._language, self.trace.trace_id) if code else None
        return Finished(
            outcome="failed" if error else "needs_clarification" if self._clarifications else result["outcome"],
            answer="" if error else result["answer"],
            citations=[] if error else result["citations"],
            standalone_question=self._standalone,
            note=message or result["note"] or (self._clarifications and say("clarify", self._language)) or None,
            error_code=code,
            error_message=message,
            clarifications=self._clarifications,
            usage_by_node=_usage(self._budget.made),
            ms_by_node=self._ms_by_node(),
            trace_id=self.trace.trace_id,
            spans=self.trace.spans,
        )

    def _ms_by_node(self) -> dict[str, float]:
        total: dict[str, float] = defaultdict(float)
        for span in self.trace.spans:
            if "footnote.node" in span["attributes"]:
                total[span["name"]] += span["duration_ms"]
        return dict(total)


def _clarification(interrupt: Interrupt) -> Clarification:
    return Clarification(interrupt_id=interrupt.id, question=interrupt.value["question"], options=interrupt.value["options"])


def _usage(calls: Sequence[ModelCall]) -> dict[str, Usage]:
    usage: dict[str, Usage] = {}
    for call in calls:
        one = usage.setdefault(call.node, Usage(calls=0, prompt_tokens=0, cached_tokens=0, completion_tokens=0, cost_usd=0.0))
        one["calls"] += 1
        one["prompt_tokens"] += call.prompt_tokens
        one["cached_tokens"] += call.cached_tokens
        one["completion_tokens"] += call.completion_tokens
        one["cost_usd"] += call.cost_usd
    return usage
