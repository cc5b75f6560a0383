"""One run of a turn: the agent's events get their numbers, are stored, then shown; and there always is a ``done``."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from functions.errors import log_unknown
from functions.leases import RENEW_S, Leases
from functions.live import LiveTurn, coalesced
from functions.outcome import ended, finish
from functions.protocol import Place, TurnEvent, streamed
from functions.threads import Threads
from functions.turnlog import TurnLog
from graph.errors import IndexUnavailable, ModelUnavailable, NotWaiting, Unavailable
from graph.turn import Event, Finished, Token

logger = logging.getLogger(__name__)
TICK_S = 1.0
"""How often a turn looks for word from other processes."""
_GRACE_S = 10.0
"""How long beyond its time the agent may take to end a turn by itself."""
_UNWIND_S = 5.0
Source = Callable[[], AsyncGenerator[Event, None]]


class Lost(Exception):  # not a failure of ours
    """Another process has ended the turn and speaks for it."""


class Run:
    """Drives a turn, or a resumed one, from its first event to its ``done``."""

    def __init__(  # noqa: PLR0913  # what a run works with
        self,
        live: LiveTurn,
        *,
        log: TurnLog,
        leases: Leases,
        threads: Threads,
        seconds: float,
        heeds_each_event: bool = False,
    ) -> None:
        """``heeds_each_event``: look for word from other processes with each event, not only every second."""
        self._live = live
        self._log = log
        self._leases = leases
        self._threads = threads
        self._seconds = seconds
        self._heeds_each_event = heeds_each_event
        self._began = time.monotonic()
        self._first_token_ms: float | None = None

    async def accept(self) -> None:
        """Say that the question was taken on."""
        message_id = self._live.record["turn"].get("message_id", "")
        await self._emit({**self._place(), "type": "accepted", "message_id": message_id})

    async def drive(self, source: Source) -> None:
        """Relay the agent's events to the end. Never raises."""
        live = self._live
        producer = asyncio.create_task(self._produce(source))
        minder = asyncio.create_task(self._mind())
        try:
            finished = await self._relay(producer)
            await _unwind(producer)
            await self._end(finished)
        except Lost:
            logger.warning("turn_id=%s was ended by another process", live.turn_id)
        except Exception as error:  # noqa: BLE001  # a full disk, say: not even then may a turn end in silence
            self._end_unstored(error)
        finally:
            minder.cancel()
            producer.cancel()
            with suppress(Unavailable):
                await self._leases.release(live.lease)
            live.close()

    async def _produce(self, source: Source) -> None:
        """One task reads the agent from first to last, since its context variables (spans) must not change hands."""
        queue = self._live.queue
        try:
            async with asyncio.timeout(self._seconds + _GRACE_S), aclosing(source()) as events:
                async for event in events:
                    queue.put_nowait(event)
        finally:
            queue.put_nowait(None)

    async def _mind(self) -> None:
        """Keep the lease, and look for word from other processes."""
        live, renewed = self._live, time.monotonic()
        while True:
            await asyncio.sleep(TICK_S)
            with suppress(Unavailable):
                await self._heed()
                if time.monotonic() - renewed > RENEW_S:
                    renewed = time.monotonic()
                    if not await self._leases.renew(live.lease, live.record["turn"].get("message_id")):
                        live.stop("lost")

    async def _heed(self) -> None:
        if await self._log.is_cancelled(self._live.turn_id):
            self._live.stop("cancelled")

    async def _relay(self, producer: asyncio.Task[None]) -> Finished:
        live = self._live
        async with aclosing(coalesced(live.queue)) as events:
            async for event in events:
                if live.stopped is not None:
                    break
                if isinstance(event, Finished):
                    return event
                if isinstance(event, Token) and self._first_token_ms is None:
                    self._first_token_ms = self._elapsed_ms()
                await self._emit(streamed(event, self._place()))
        return await self._ended_early(producer)

    async def _ended_early(self, producer: asyncio.Task[None]) -> Finished:
        """What to say of a turn that the agent did not finish."""
        language = self._live.record["language"]
        match self._live.stopped:
            case "lost":
                raise Lost
            case "cancelled":
                return ended("cancelled", language)
            case "shutdown":
                return ended("shutdown", language)
        await asyncio.wait({producer})
        return _broken_off(producer.exception(), language, self._live.record["turn"]["trace_id"])

    async def _end(self, finished: Finished) -> None:
        """Store all of the end, give the thread back, and only then say so: a client may ask on at once."""
        live = self._live
        before = live.record
        last: list[TurnEvent] = [{**self._place(), "type": "clarify", **one} for one in finished.clarifications]
        last += [{**self._place(), "type": "approval", **one} for one in finished.approvals]
        after = finish(before, finished, total_ms=self._elapsed_ms(), first_token_ms=self._first_token_ms)
        last.append({**self._place(), "type": "done", "turn": after["turn"]})
        after["seq"] = live.seq
        expires_at = self._threads.expires_at()
        for event in last:
            await self._append(event)
        turn = after["turn"]
        live.spans = finished.spans
        if finished.spans:
            trace_id, turn_id = turn["trace_id"], turn["turn_id"]
            await self._log.put_trace({"trace_id": trace_id, "turn_id": turn_id, "spans": finished.spans}, expires_at)
        if not await self._log.end(after, expires_at, previous=before):
            raise Lost
        await self._threads.touch(live.caller, turn["thread_id"])
        await self._leases.release(live.lease)
        live.record = after
        live.publish(*last)
        live.close()

    def _end_unstored(self, error: Exception) -> None:
        """Tell the followers at least. The marker of the running turn stays, so the sweeper will end it in the log too."""
        live = self._live
        log_unknown(error, live.record["turn"]["trace_id"])
        finished = ended("internal", live.record["language"])
        live.record = finish(live.record, finished, total_ms=self._elapsed_ms(), first_token_ms=self._first_token_ms)
        live.publish({**self._place(), "type": "done", "turn": live.record["turn"]})

    async def _emit(self, event: TurnEvent) -> None:
        if self._heeds_each_event:
            await asyncio.gather(self._append(event), self._heed())
        else:
            await self._append(event)
        self._live.publish(event)

    async def _append(self, event: TurnEvent) -> None:
        if not await self._log.append(event, self._threads.expires_at()):
            raise Lost

    def _place(self) -> Place:
        live = self._live
        live.seq += 1
        return {"v": 1, "turn_id": live.turn_id, "thread_id": live.record["thread_id"], "seq": live.seq}

    def _elapsed_ms(self) -> float:
        return round((time.monotonic() - self._began) * 1000, 1)


async def _unwind(producer: asyncio.Task[None]) -> None:
    """Let the agent let go before the thread is given to the next turn."""
    producer.cancel()
    await asyncio.wait({producer}, timeout=_UNWIND_S)


def _broken_off(error: BaseException | None, language: str, trace_id: str) -> Finished:
    """What to say of an agent that raised, or ended without a word."""
    match error:
        case TimeoutError():
            return ended("deadline", language)
        case NotWaiting():
            return ended("crashed", language, message=str(error))
        case ModelUnavailable():
            return ended("internal", language, code="model_unavailable", message=str(error))
        case IndexUnavailable():
            return ended("internal", language, code="index_unavailable", message=str(error))
    log_unknown(error or EOFError(), trace_id)
    return ended("internal", language)
