"""The tools of one turn. Same tool and arguments: the same result, also while it is still on its way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypedDict

from pydantic import BaseModel, ConfigDict

from graph.filters import Condition
from graph.ports import Access, ArmHits
from graph.retrieval import Found, Retriever
from graph.tracing import Trace


class Arguments(BaseModel):
    """Arguments of a tool. The docstring of a subclass is the tool's contract, which the planner reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolError(TypedDict):
    """A tool never raises into the graph: it says what went wrong."""

    tool: str
    error: str
    retryable: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one call found, best first."""

    found: list[Found]
    hits: ArmHits | None = None
    degraded: Sequence[Literal["bm25", "knn", "embedder"]] = ()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What tools work with."""

    retriever: Retriever
    access: Access
    filters: tuple[Condition, ...]
    trace: Trace


Answer = Finding | ToolError
Run = Callable[[Sequence[Arguments], Desk], Awaitable[list[Answer]]]


@dataclass(frozen=True)
class Tool:
    """A tool: its arguments with their contract, and what runs a whole wave of calls in one round trip."""

    name: str
    arguments: type[Arguments]
    run: Run


class Toolbox:
    """Runs calls and remembers them."""

    def __init__(self, tools: Sequence[Tool], desk: Desk) -> None:
        self._tools = {tool.arguments: tool for tool in tools}
        self._desk = desk
        self._calls: dict[Arguments, tuple[asyncio.Task[list[Answer]], int]] = {}

    def start(self, calls: Sequence[Arguments]) -> None:
        """Set calls going that are not yet; the calls of one tool travel together."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self._calls]
        for kind, group in groupby(sorted(fresh, key=lambda call: type(call).__name__), key=type):
            wave = list(group)
            task = asyncio.create_task(self._run(self._tools[kind], wave))
            self._calls.update({call: (task, place) for place, call in enumerate(wave)})

    async def run(self, calls: Sequence[Arguments]) -> list[Answer]:
        """Answers in the order of the calls; one that may be tried again is not remembered."""
        self.start(calls)
        answers = []
        for call in calls:
            task, place = self._calls[call]
            answers.append((await asyncio.shield(task))[place])
        for call, answer in zip(calls, answers, strict=True):
            if not isinstance(answer, Finding) and answer["retryable"]:
                self._calls.pop(call, None)
        return answers

    async def _run(self, tool: Tool, wave: list[Arguments]) -> list[Answer]:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool.name, "footnote.calls": len(wave)}
        with self._desk.trace.span(f"execute_tool {tool.name}", attributes) as facts:
            answers = await tool.run(wave, self._desk)
            findings = [answer for answer in answers if isinstance(answer, Finding)]
            facts["footnote.passages"] = sum(len(finding.found) for finding in findings)
            facts["footnote.degraded"] = sorted({arm for finding in findings for arm in finding.degraded})
            return answers

    async def close(self) -> None:
        """Stop what still runs."""
        tasks = {task for task, _ in self._calls.values()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
