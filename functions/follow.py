"""Following a turn: what was, from the log; what comes, from memory; a heartbeat in between."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from functions.identity import Caller
from functions.live import LiveTurn
from functions.protocol import Heartbeat, TurnEvent
from functions.shapes import Turn
from functions.turnlog import TurnLog

HEARTBEAT_S = 20.0
"""Clients hear something every 25 s at the latest."""
_POLL_S = 0.25
"""How often a turn that runs in another process is looked at."""


class Followers:
    """Reads turns, whoever runs them."""

    def __init__(self, log: TurnLog, live: Mapping[str, LiveTurn]) -> None:
        self._log = log
        self._live = live
        self.heartbeat_s = HEARTBEAT_S

    async def follow(
        self, caller: Caller, turn_id: str, *, after: int = 0, within_s: float | None = None
    ) -> AsyncGenerator[TurnEvent | Heartbeat, None]:
        """Events with a greater number, until the turn ends or pauses, or this long.

        Raises:
            NotFound: at the first event.
        """
        record = await self._log.get(caller, turn_id)
        heartbeat: Heartbeat = {"v": 1, "type": "heartbeat", "turn_id": turn_id, "thread_id": record["thread_id"]}
        beat_at = time.monotonic() + self.heartbeat_s
        stop_at = math.inf if within_s is None else time.monotonic() + within_s
        live: LiveTurn | None = None
        while True:
            if live is None or not live.since(after):
                live = self._living(turn_id)
            runs = live is not None or await self._runs(turn_id)
            for event in await self._news(turn_id, live, after):
                yield event
                after = event["seq"]
            if live is not None:
                runs = not (live.closed and not live.since(after))
            if not runs or time.monotonic() >= stop_at:
                return
            if time.monotonic() >= beat_at:
                yield heartbeat
                beat_at = time.monotonic() + self.heartbeat_s
            await self._wait(live, after, max(0.0, min(beat_at, stop_at) - time.monotonic()))

    async def events(self, caller: Caller, turn_id: str, *, after: int, wait_s: float) -> list[TurnEvent]:
        """Events with a greater number so far; waits for the first one at most this long, while the turn runs."""
        await self._log.get(caller, turn_id)
        deadline = time.monotonic() + wait_s
        while True:
            live = self._living(turn_id)
            events = await self._news(turn_id, live, after)
            left_s = deadline - time.monotonic()
            if events or left_s <= 0 or (live is None and not await self._runs(turn_id)):
                return events
            await self._wait(live, after, left_s)

    async def result(self, caller: Caller, turn_id: str, *, within_s: float | None = None) -> Turn | None:
        """The turn when it has ended or paused; None when that takes longer than ``within_s``."""
        try:
            async with asyncio.timeout(within_s), aclosing(self.follow(caller, turn_id, after=10**8)) as events:
                live = self._living(turn_id)
                async for _ in events:
                    pass
        except TimeoutError:
            return None
        return live.record["turn"] if live else (await self._log.get(caller, turn_id))["turn"]

    def _living(self, turn_id: str) -> LiveTurn | None:
        """The run of the turn, unless it is over: then the log knows more, such as that a pause was cancelled."""
        live = self._live.get(turn_id)
        return None if live is None or live.closed else live

    async def _news(self, turn_id: str, live: LiveTurn | None, after: int) -> list[TurnEvent]:
        if live is None:
            return await self._log.events(turn_id, after=after)
        if after + 1 >= live.first:
            return live.since(after)
        # What this run has stored but not shown yet (its end, before the thread is free) stays out.
        earlier = await self._log.events(turn_id, after=after, limit=live.first - 1 - after)
        return [*earlier, *live.since(live.first - 1)]

    async def _wait(self, live: LiveTurn | None, after: int, seconds: float) -> None:
        if live is None:
            await asyncio.sleep(min(_POLL_S, seconds))
        else:
            await live.wait(after, seconds)

    async def _runs(self, turn_id: str) -> bool:
        record = await self._log.find(turn_id)
        return record is not None and record["state"] == "running"
