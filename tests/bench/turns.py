"""Turns against a stand-in for Groq, beside the plain loop: plan, retrieve, generate, reflect, one after another.

``python -m tests.bench.turns``. Both ask the same server the same prompts over the same index, in turns, in one process;
the stand-in (120 ms to the first token, 4.2 ms a token) runs in another. Own overhead is a turn's wall time without the
time that the stand-in takes for the calls which the turn made.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import uvloop
from groq import AsyncGroq

from graph import prompts
from graph.adapters.groq.shapes import CheckShape, PlanShape, strict_schema
from graph.agent import Agent
from graph.claims import claims_of
from graph.nodes.sources import numbered
from graph.ports import Access
from graph.reasoner import AnswerTask, CheckTask, PlanTask
from graph.retrieval import Retriever
from graph.settings import Settings
from graph.tools import SPECS
from graph.turn import Ask, Finished, Token, TraceSpan
from graph.wiring import Wiring
from ingestion.handler import consume

HANDBOOK = Path(__file__).parents[2] / "functions" / "local" / "handbook"
ACCESS = Access(tenant="default")
ROUNDS = 8
FIRST_TOKEN_S, TOKEN_S = 0.120, 0.0042
SIMPLE = (
    "How many days of annual leave do employees get?",
    "What is the daily meal allowance abroad?",
    "How long do customers have to return a product?",
    "病假要交什么证明？",
)
SEVERAL = (
    "What is the difference between meal allowances at home and abroad?",
    "Compare refunds at home and abroad, and say who pays the postage",
)


@dataclass
class Timing:
    """Milliseconds of one turn."""

    first_token: float
    total: float
    overhead: float = 0.0
    outside: float = 0.0
    """Outside of model calls as the agent sees them, HTTP included in these."""
    calls: int = 0
    outcome: str = ""


@dataclass
class Timings:
    """Of many turns."""

    agent: list[Timing] = field(default_factory=list)
    plain: list[Timing] = field(default_factory=list)

    def show(self, name: str) -> None:
        first, total = (self._ratio(kind) for kind in ("first_token", "total"))
        overheads = sorted(one.overhead for one in self.agent)
        outside = statistics.median(one.outside for one in self.agent)
        calls = statistics.mean(one.calls for one in self.agent)
        print(f"{name}: first token {first}, whole turn {total}")
        print(f"  own overhead p50 {statistics.median(overheads):.1f} ms, p95 {overheads[int(len(overheads) * 0.95)]:.1f} ms")
        print(f"  outside of calls, HTTP included in these, p50 {outside:.1f} ms; {calls:.1f} calls a turn")
        print(f"  outcomes: {', '.join(sorted({one.outcome for one in self.agent}))}")

    def _ratio(self, kind: str) -> str:
        ours, theirs = (statistics.median(getattr(one, kind) for one in side) for side in (self.agent, self.plain))
        return f"{ours:.0f} ms / {theirs:.0f} ms = {ours / theirs:.2f}x"


async def main() -> None:
    with tempfile.TemporaryDirectory() as home, stand_in() as url:
        settings = Settings.read({}, home=Path(home), groq_api_key="stand-in", groq_base_url=url)
        wiring = Wiring(settings)
        await _fill(wiring)
        agent, client = await wiring.agent(), AsyncGroq(api_key="stand-in", base_url=url, max_retries=0)
        for name, questions in (("one clause", SIMPLE), ("several parts", SEVERAL)):
            timings = Timings()
            for number in range(ROUNDS + 1):
                for question in questions:
                    ours = await _agent_turn(agent, question, f"{name}-{number}-{question}")
                    theirs = await _plain_turn(client, settings, wiring.retriever, question)
                    if number:  # the first round warms both
                        timings.agent.append(ours)
                        timings.plain.append(theirs)
            timings.show(name)
        await client.close()
        await wiring.close()


async def _agent_turn(agent: Agent, question: str, thread: str) -> Timing:
    began, first = time.perf_counter(), 0.0
    asked = Ask(turn_id=thread, thread=thread, question=question, access=ACCESS, seconds=60)
    finished = Finished(outcome="failed")
    async for event in agent.run(asked):
        if isinstance(event, Token) and not first:
            first = (time.perf_counter() - began) * 1000
        finished = event if isinstance(event, Finished) else finished
    total = (time.perf_counter() - began) * 1000
    calls = sum(usage["calls"] for usage in finished.usage_by_node.values())
    calling = [span for span in finished.spans if span["name"].startswith("chat ")]
    model = covered((span["start_ms"], model_ms(span)) for span in calling)
    called = covered((span["start_ms"], span["duration_ms"]) for span in calling)
    return Timing(first or total, total, total - model, total - called, calls, finished.outcome)


def model_ms(span: TraceSpan) -> float:
    """What the stand-in takes for a call."""
    tokens = int(str(span["attributes"]["gen_ai.usage.output_tokens"]))
    return (FIRST_TOKEN_S + tokens * TOKEN_S) * 1000


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Milliseconds in which at least one of the spans (start, duration) ran."""
    total, until = 0.0, 0.0
    for start, duration in sorted(spans):
        total += max(0.0, start + duration - max(until, start))
        until = max(until, start + duration)
    return total


async def _plain_turn(client: AsyncGroq, settings: Settings, retriever: Retriever, question: str) -> Timing:
    """What is usually built: four steps, each waiting for the one before."""
    began = time.perf_counter()
    planned = await _json(client, settings.model_fast, prompts.plan(PlanTask(question=question, tools=SPECS)), "plan")
    query = str(planned["question"])
    wave = await retriever.search([query], ACCESS)
    sources = numbered(wave.passages[0])
    task = AnswerTask(question=query, language="en", sources=sources)
    asked: dict[str, Any] = {"messages": prompts.answer(task), "max_completion_tokens": 2_048}
    stream = await client.chat.completions.create(model=settings.model_strong, stream=True, **asked)
    text, first = "", 0.0
    async for chunk in stream:
        piece = chunk.choices[0].delta.content
        first = first or (time.perf_counter() - began) * 1000
        text += piece or ""
    check = CheckTask(question=query, answer=text, sources=sources)
    await _json(client, settings.model_fast, prompts.check(check, dict(enumerate(claims_of(text), start=1))), "check")
    return Timing(first, (time.perf_counter() - began) * 1000)


async def _json(client: AsyncGroq, model: str, messages: prompts.Messages, name: str) -> dict[str, object]:
    schema = {"name": name, "schema": strict_schema(PlanShape if name == "plan" else CheckShape), "strict": True}
    form = {"type": "json_schema", "json_schema": schema}
    asked: dict[str, Any] = {"messages": messages, "response_format": form, "max_completion_tokens": 1_024}
    completion = await client.chat.completions.create(model=model, stream=False, **asked)
    answer: dict[str, object] = json.loads(completion.choices[0].message.content or "{}")
    return answer


@contextmanager
def stand_in() -> Iterator[str]:
    """The stand-in's address."""
    command = [sys.executable, "-m", "tests.standins.groq"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own module
        assert process.stdout is not None
        yield process.stdout.readline().split()[0].removeprefix("GROQ_BASE_URL=")
        process.terminate()


async def _fill(wiring: Wiring) -> None:
    """Put the handbook into the index, the way that files go."""
    records = []
    for path in sorted(path for path in HANDBOOK.rglob("*") if path.is_file()):
        key = f"uploads/default/{path.relative_to(HANDBOOK).as_posix()}"
        stored = await wiring.bucket.put(key, path.read_bytes())
        item = {"key": quote_plus(key, safe="/"), "size": stored.bytes, "sequencer": stored.sequencer}
        records.append({"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": {"object": item}})
    await consume({"Records": records}, wiring)


if __name__ == "__main__":
    uvloop.run(main())  # as the server runs
