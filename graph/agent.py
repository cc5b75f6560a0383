"""The door of the graph: a question in, events out. Callers see no LangGraph."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, Interrupt

from graph.errors import NotWaiting
from graph.filters import Condition, Operator
from graph.graph import build_graph, most_steps
from graph.reasoner import Reasoner
from graph.retrieval import Retriever
from graph.run import Run
from graph.settings import Settings
from graph.state import PlainCondition, Question, State
from graph.text import language
from graph.tracing import Trace
from graph.turn import Ask, Event, Finished, Resume

_log = logging.getLogger(__name__)


class Agent:
    """Runs turns. One object serves a process; many turns run in it at once, one per thread."""

    def __init__(
        self,
        *,
        reasoner: Reasoner,
        retriever: Retriever,
        settings: Settings,
        checkpointer: BaseCheckpointSaver[str],
        export: Callable[[Trace], None] | None = None,
    ) -> None:
        """``export`` is called with the trace of every finished turn, in a thread."""
        self._reasoner = reasoner
        self._retriever = retriever
        self._settings = settings
        self._checkpointer = checkpointer
        self._export = export
        self._exports: set[asyncio.Task[None]] = set()
        self._graph = build_graph(checkpointer)

    async def run(self, ask: Ask) -> AsyncGenerator[Event]:
        """Events of a turn, the last of them `Finished`; never raises but for cancellation."""
        question = Question(
            turn_id=ask.turn_id,
            question=ask.question,
            language=ask.language or language(ask.question),
            language_chosen=ask.language is not None,
            filters=[PlainCondition(field=one.field, operator=one.operator, values=list(one.values)) for one in ask.filters],
        )
        run = self._run(ask, question["language"], ask.filters)
        async with aclosing(self._play(run, ask.thread, question)) as events:
            async for event in events:
                yield event

    async def resume(self, resume: Resume) -> AsyncGenerator[Event]:
        """Go on with a turn that waits.

        Raises:
            NotWaiting: the thread waits for nothing under this interrupt id.
        """
        snapshot = await self._graph.aget_state(self._config(resume.thread))
        state = cast("State", snapshot.values)
        waiting: Sequence[Interrupt] = snapshot.interrupts
        if state.get("turn_id") != resume.turn_id or resume.interrupt_id not in {one.id for one in waiting}:
            raise NotWaiting("This turn waits for nothing under this interrupt id.")
        run = self._run(resume, state["language"], _conditions(state["filters"]))
        run.go_on_counting(state["spent"])
        reply: Command[str] = Command(resume={resume.interrupt_id: resume.reply})
        async with aclosing(self._play(run, resume.thread, reply)) as events:
            async for event in events:
                yield event

    async def forget(self, thread: str) -> None:
        """Delete all that is remembered of a conversation."""
        await self._checkpointer.adelete_thread(thread)

    async def close(self) -> None:
        """Wait for traces that are still being handed over."""
        await asyncio.gather(*self._exports)

    def _config(self, thread: str) -> RunnableConfig:
        return {"configurable": {"thread_id": thread}, "recursion_limit": most_steps(self._settings)}

    def _run(self, work: Ask | Resume, tongue: str, filters: tuple[Condition, ...]) -> Run:
        return Run(
            reasoner=self._reasoner,
            retriever=self._retriever,
            settings=self._settings,
            access=work.access,
            filters=filters,
            language=tongue,
            seconds=work.seconds,
            origin=work.origin,
        )

    async def _play(self, run: Run, thread: str, start: Question | Command[str]) -> AsyncGenerator[Event]:
        """Run the graph in a task of its own, so that its deadline never strikes inside the caller."""
        events: asyncio.Queue[Event] = asyncio.Queue()
        driver = asyncio.create_task(run.drive(self._graph, start, self._config(thread), events.put_nowait))
        driver.add_done_callback(lambda _: self._hand_over(run.trace))  # however the caller lets go
        try:
            while not isinstance(event := await events.get(), Finished):
                yield event
            await driver
            yield event
        finally:
            driver.cancel()
            await asyncio.gather(driver, return_exceptions=True)

    def _hand_over(self, trace: Trace) -> None:
        if self._export is not None:
            task = asyncio.create_task(self._exported(self._export, trace))
            self._exports.add(task)
            task.add_done_callback(self._exports.discard)

    @staticmethod
    async def _exported(export: Callable[[Trace], None], trace: Trace) -> None:
        try:
            await asyncio.to_thread(export, trace)
        except Exception:  # noqa: BLE001  # the turn is over, and well
            _log.exception("trace %s could not be sent", trace.trace_id)


def _conditions(plain: list[PlainCondition]) -> tuple[Condition, ...]:
    return tuple(Condition(one["field"], cast("Operator", one["operator"]), tuple(one["values"])) for one in plain)
