"""``footnote`` with an agent that plays what the question says, so that a test decides what happens and when.

A question is words, some of them ``name=value``: ``tokens=50 every=0.02`` streams 50 tokens, ``ask=2`` pauses with two
questions to the user, ``crash=1`` raises, ``hang=1`` never ends, ``mute=1`` ends without a `Finished`. All other words are
nothing. A resumed turn streams its reply.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, cast

from functions.local import start
from graph.errors import NotWaiting
from graph.turn import Ask, Event, Finished, Found, Planned, Resume, Status, Token, Usage
from graph.wiring import Wiring

if TYPE_CHECKING:
    from graph.agent import Agent
    from graph.retrieval import Retriever

SECRET = "a secret of somebody"  # what an error might say, and no log may


class ScriptedAgent:
    """The door of ``graph/agent.py``."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    async def run(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """Play the question."""
        script = dict(word.split("=", 1) for word in ask.question.split() if "=" in word)
        yield Status(node="plan", message="Planning", progress=0.1)
        yield Planned(intent="lookup", question=ask.question, steps=[])
        yield Found(passages=[{"document_id": "d_1", "title": "One", "score": 0.5}])
        if "crash" in script:
            raise RuntimeError(SECRET)
        if "hang" in script:
            await asyncio.Event().wait()
        if "mute" in script:
            return
        if "ask" in script:
            questions = range(int(script["ask"]))
            yield Finished(
                outcome="needs_clarification",
                clarifications=[
                    {"interrupt_id": f"i_{n}", "question": f"Which {n}?", "options": ["a", "b"]} for n in questions
                ],
                trace_id="1" * 32,
            )
            return
        text = ""
        for n in range(int(script.get("tokens", 3))):
            piece = f"word{n} " if "wide" not in script else "宽" * int(script["wide"])
            text += piece
            yield Token(text=piece)
            await asyncio.sleep(float(script.get("every", 0)))
        yield _answered(text)

    async def resume(self, resume: Resume) -> AsyncGenerator[Event, None]:
        """Stream the reply."""
        if resume.interrupt_id == "i_gone":
            raise NotWaiting("nothing waits")
        yield Status(node="answer", message="Answering", progress=0.8)
        yield Token(text=str(resume.reply))
        yield _answered(str(resume.reply))

    async def forget(self, thread: str) -> None:
        """Remember that it was forgotten."""
        self.forgotten.append(thread)


def _answered(text: str) -> Finished:
    return Finished(
        outcome="answered",
        answer=text,
        note="Scripted.",
        standalone_question="Standing alone?",
        usage_by_node={"plan": _usage(1, 0.001), "answer": _usage(2, 0.002)},
        ms_by_node={"plan": 1.0},
        trace_id="1" * 32,
        spans=[{"span_id": "s", "parent_id": None, "name": "turn", "start_ms": 0, "duration_ms": 1, "attributes": {}}],
    )


def _usage(calls: int, cost: float) -> Usage:
    return {"calls": calls, "prompt_tokens": 10, "cached_tokens": 1, "completion_tokens": 5, "cost_usd": cost}


class _Ready:
    """Stands where the embedder stands, and needs no warming."""

    async def warm(self) -> None:
        """Nothing to load."""


class _NoRetriever:
    embedder = _Ready()


class ScriptedWiring(Wiring):
    """Real stores, and the scripted agent."""

    @cached_property
    def retriever(self) -> "Retriever":
        """None: the agent does not search."""
        return cast("Retriever", _NoRetriever())

    async def agent(self) -> "Agent":
        """The scripted agent."""
        return cast("Agent", ScriptedAgent())


if __name__ == "__main__":
    from functions.local import cli

    sys.modules["graph.agent"] = ModuleType("graph.agent")  # it would only take time to import
    vars(start)["Wiring"] = ScriptedWiring
    cli.main()
