"""A turn that runs in this process: its events, for whoever follows it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Literal

from functions.identity import Caller
from functions.leases import Lease
from functions.protocol import TurnEvent
from functions.turnlog import TurnRecord
from graph.turn import Event, Token, TraceSpan

FLUSH_S = 0.05
"""The first token goes at once, later ones together, this often."""
_LONGEST_TOKEN = 5_000
"""Code points of one token event: in JSON no more than six bytes each, so the event stays under 32 KB."""
Stop = Literal["cancelled", "shutdown", "lost"]


class LiveTurn:
    """Events since the turn began, or was resumed, and a way to wait for the next."""

    def __init__(self, record: TurnRecord, lease: Lease, caller: Caller) -> None:
        self.record = record
        self.lease = lease
        self.caller = caller
        self.first = record["seq"] + 1
        self.seq = record["seq"]
        self.spans: list[TraceSpan] = []
        self.closed = False
        self.stopped: Stop | None = None
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None
        self._events: list[TurnEvent] = []
        self._news = asyncio.Event()

    @property
    def turn_id(self) -> str:
        """The turn's id."""
        return self.record["turn"]["turn_id"]

    def publish(self, *events: TurnEvent) -> None:
        """Hand events to the followers."""
        self._events += events
        self._wake()

    def close(self) -> None:
        """There will be no more events."""
        self.closed = True
        self._wake()

    def stop(self, why: Stop) -> None:
        """End the turn with what it has; it ends within one event."""
        if self.stopped is None:
            self.stopped = why
            self.queue.put_nowait(None)

    def since(self, after: int) -> list[TurnEvent]:
        """Events with a greater number, of this run."""
        return self._events[max(0, after + 1 - self.first) :]

    async def wait(self, after: int, timeout_s: float) -> None:
        """Until there is news after this number, or the time is over."""
        if self.closed or self.since(after):
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


async def coalesced(queue: asyncio.Queue[Event | None]) -> AsyncGenerator[Event, None]:
    """Events of a queue until None, tokens that come close together in one."""
    now = asyncio.get_running_loop().time
    text, due = "", 0.0
    while True:
        event: Event | None = Token(text="")
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due if text else None):
                event = await queue.get()
        if isinstance(event, Token):
            text += event.text
            if now() < due:
                continue
        if text:
            for start in range(0, len(text), _LONGEST_TOKEN):
                yield Token(text=text[start : start + _LONGEST_TOKEN])
            text, due = "", now() + FLUSH_S
        if event is None:
            return
        if not isinstance(event, Token):
            yield event
