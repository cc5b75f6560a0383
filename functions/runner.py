"""Who runs turns: this process, or a worker that is told by their ids."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from functions import requests
from functions.leases import Leases
from functions.live import LiveTurn, Stop
from functions.protocol import TurnEvent
from functions.run import Run
from functions.threads import Threads
from functions.turnlog import TurnLog
from graph.ports import Json
from graph.turn import Ask, Event, Resume

if TYPE_CHECKING:  # LangGraph takes a second to import
    from graph.agent import Agent

_STOPS_S = 10.0
"""How long a turn elsewhere may take to stop."""
_POLL_S = 0.1


class Channel(Protocol):
    """The connection that a turn was asked for on."""

    connection_id: str

    async def begin(self, event: TurnEvent) -> None:
        """Send the first event; whoever runs the turn sends those that follow."""
        ...


class Tasks(Protocol):
    """The worker, as others call it."""

    async def send(self, task: Json) -> None:
        """Have a task done later."""
        ...

    async def call(self, task: Json) -> None:
        """Have a task done now."""
        ...


class Runner(Protocol):
    """Runs turns that have begun."""

    holder: str
    """Who the log says runs them; empty while that is open."""
    live: dict[str, LiveTurn]
    """Those that run in this process."""

    async def start(self, turn: LiveTurn, request: Ask | Resume, channel: Channel | None) -> None:
        """Run the turn, and return at once."""
        ...

    async def stop(self, turn_id: str, why: Stop) -> None:
        """End the turn with what it has, and return when it has ended."""
        ...

    async def forget(self, thread: str) -> None:
        """Have the agent forget a thread."""
        ...


class Here:
    """Runs turns in this process."""

    def __init__(  # noqa: PLR0913  # what a run works with
        self,
        *,
        holder: str,
        log: TurnLog,
        leases: Leases,
        threads: Threads,
        agent: "Callable[[], Awaitable[Agent]]",
        heeds_each_event: bool = False,
    ) -> None:
        """``heeds_each_event``: look for word from other processes with each event, not only every second."""
        self.holder = holder
        self.live: dict[str, LiveTurn] = {}
        self._log = log
        self._leases = leases
        self._threads = threads
        self._agent = agent
        self._heeds_each_event = heeds_each_event

    async def start(self, turn: LiveTurn, request: Ask | Resume, channel: Channel | None = None) -> None:  # noqa: ARG002
        run = Run(
            turn,
            log=self._log,
            leases=self._leases,
            threads=self._threads,
            seconds=request.seconds,
            heeds_each_event=self._heeds_each_event,
        )
        if turn.first == 1:
            await run.accept()

        def forget(_: object) -> None:
            if self.live.get(turn.turn_id) is turn:  # it may have been resumed already
                del self.live[turn.turn_id]

        self.live[turn.turn_id] = turn
        turn.task = asyncio.create_task(run.drive(lambda: self._events(request)))
        turn.task.add_done_callback(forget)

    async def stop(self, turn_id: str, why: Stop) -> None:
        turn = self.live.get(turn_id)
        if turn is not None and turn.task is not None:
            turn.stop(why)
            await asyncio.wait({turn.task})

    async def forget(self, thread: str) -> None:
        await (await self._agent()).forget(thread)

    async def _events(self, request: Ask | Resume) -> AsyncGenerator[Event, None]:
        agent = await self._agent()
        started = agent.run(request) if isinstance(request, Ask) else agent.resume(request)
        async with aclosing(started) as events:  # or its end would wait to be collected
            async for event in events:
                yield event


class Elsewhere:
    """Leaves turns to a worker. It gets ids only: what is asked lies in the log."""

    holder = ""

    def __init__(self, worker: Tasks, *, log: TurnLog, threads: Threads) -> None:
        self.live: dict[str, LiveTurn] = {}
        self._worker = worker
        self._log = log
        self._threads = threads

    async def start(self, turn: LiveTurn, request: Ask | Resume, channel: Channel | None) -> None:
        turn_id, fence, expires_at = turn.turn_id, turn.lease.fence, self._threads.expires_at()
        accepted, is_new = _accepted(turn), turn.first == 1
        writes: list[Awaitable[object]] = [self._log.put_request(turn_id, requests.to_json(request), expires_at)]
        if is_new:
            writes.append(self._log.append(accepted, expires_at))
        task: Json = {"do": "run", "turn_id": turn_id, "fence": fence}
        if channel is not None:
            writes.append(self._log.connect(turn_id, channel.connection_id, teller_of_run(fence)))
            task["connection"] = {"id": channel.connection_id}
        await asyncio.gather(*writes)
        if is_new and channel is not None:
            await channel.begin(accepted)  # before the worker can have anything to say
        await self._worker.send(task)

    async def stop(self, turn_id: str, why: Stop) -> None:  # noqa: ARG002  # nobody else shuts a worker down
        if not await self._runs(turn_id):
            return
        await self._log.ask_to_cancel(turn_id)
        try:
            async with asyncio.timeout(_STOPS_S):
                while await self._runs(turn_id):  # noqa: ASYNC110  # it runs in another process
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            return

    async def forget(self, thread: str) -> None:
        await self._worker.call({"do": "forget", "thread": thread})

    async def _runs(self, turn_id: str) -> bool:
        record = await self._log.find(turn_id)
        return record is not None and record["state"] == "running"


def teller_of_run(fence: int) -> str:
    """Who sends events as they happen: the run under this lease."""
    return f"run.{fence}"


def _accepted(turn: LiveTurn) -> TurnEvent:
    record = turn.record
    return {
        "v": 1,
        "type": "accepted",
        "turn_id": turn.turn_id,
        "thread_id": record["thread_id"],
        "seq": 1,
        "message_id": record["turn"].get("message_id", ""),
    }
