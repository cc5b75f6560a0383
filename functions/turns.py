"""One turn from ask to done: what every entry point (API, WebSocket, command line) does with turns."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from functions import outcome, threads
from functions.bodies import AskBody, ResumeBody
from functions.clock import now_iso
from functions.expiry import Expiry
from functions.follow import Followers
from functions.identity import Caller
from functions.leases import Busy, Lease, Leases
from functions.live import LiveTurn
from functions.messages import Messages
from functions.rate import RateLimit
from functions.runner import Channel, Elsewhere, Here, Runner, Tasks
from functions.shapes import Turn, TurnAccepted
from functions.sweeper import Sweeper
from functions.threads import Threads
from functions.turnlog import TurnLog, TurnRecord
from graph import filters, text
from graph.errors import InterruptIdRequired, InvalidRequest, NotWaiting, TurnFinished, Unavailable
from graph.ports import Table
from graph.settings import Settings
from graph.tracing import Trace
from graph.turn import Ask, Resume

if TYPE_CHECKING:  # LangGraph takes a second to import
    from graph.agent import Agent

_CLAIMED_S = 2.0
"""How long a claimed message may be without its turn until whoever claimed it must have died."""
_POLL_S = 0.02


class Turns:
    """The turns of a process, and the way to those of others."""

    def __init__(  # noqa: PLR0913  # settings, and who runs turns
        self,
        table: Table,
        agent: "Callable[[], Awaitable[Agent]]",
        settings: Settings,
        *,
        holder: str,
        worker: Tasks | None = None,
        heeds_each_event: bool = False,
    ) -> None:
        """``holder`` names this process in the log; ``worker`` runs turns in place of it."""
        self.log = TurnLog(table)
        self.threads = Threads(table, ttl_days=settings.thread_ttl_days)
        self.expiry = Expiry(table)
        self._leases = Leases(table)
        self.runner: Runner = (
            Elsewhere(worker, log=self.log, threads=self.threads)
            if worker is not None
            else Here(
                holder=holder,
                log=self.log,
                leases=self._leases,
                threads=self.threads,
                agent=agent,
                heeds_each_event=heeds_each_event,
            )
        )
        self.live = self.runner.live
        self.followers = Followers(self.log, self.live)
        self.sweeper = Sweeper(self.log, self.threads, self._leases, self.live, holder=holder)
        self._messages = Messages(table)
        self._rate = RateLimit(table, per_minute=settings.rate_per_minute, burst=settings.rate_burst)
        self._seconds = settings.turn_seconds
        self._is_closing = False

    # --- Asking -------------------------------------------------------------------------------------------------------

    async def ask(
        self, caller: Caller, body: AskBody, *, trace: Trace | None = None, channel: Channel | None = None
    ) -> TurnAccepted:
        """Begin a turn, or join the one that this message began.

        Args:
            caller: whose turn it is.
            body: what they ask.
            trace: began when the request arrived.
            channel: where a worker is to send the events of a turn that begins.

        Raises:
            InvalidFilter, MessageIdReused, ThreadBusy, RateLimited, Unavailable
        """
        filters.parse(body.filters)
        joined = await self._join(caller, body)
        if joined is not None:
            return joined
        if self._is_closing:
            raise Unavailable("the server is shutting down; ask again in a moment")
        trace = trace or Trace()
        turn = _new_turn(body, trace.trace_id)
        key, message_id = threads.key(caller, turn["thread_id"]), turn["message_id"]
        try:
            lease = await self._leases.take(key, turn["turn_id"], message_id)
        except Busy as busy:
            joined = await self._join(caller, body, wait=busy.message_id == message_id)
            if joined is None:
                raise
            return joined
        try:
            await self._rate.take(caller)
            if await self._messages.claim(caller, message_id, body.question, turn["turn_id"]):
                return await self._begin(caller, body, turn, lease, trace, channel)
        except BaseException:
            await self._leases.release(lease)
            raise
        await self._leases.release(lease)  # the same message came twice at once, and this one joins
        return await self.ask(caller, body, trace=trace, channel=channel)

    async def _join(self, caller: Caller, body: AskBody, *, wait: bool = False) -> TurnAccepted | None:
        if body.message_id is None:
            return None
        deadline = time.monotonic() + _CLAIMED_S
        while True:
            turn_id = await self._messages.find(caller, body.message_id, body.question)
            record = await self.log.find(turn_id) if turn_id else None
            if record is not None:
                return _accepted(record)
            if turn_id is None and not wait:
                return None
            if time.monotonic() > deadline:
                if turn_id is not None:
                    await self._messages.drop(caller, body.message_id, turn_id)
                return None
            await asyncio.sleep(_POLL_S)

    async def _begin(  # noqa: PLR0913, PLR0917  # what a turn begins with
        self, caller: Caller, body: AskBody, turn: Turn, lease: Lease, trace: Trace, channel: Channel | None
    ) -> TurnAccepted:
        record: TurnRecord = {
            "tenant": caller.tenant,
            "user": caller.user,
            "thread_id": turn["thread_id"],
            "state": "running",
            "fence": lease.fence,
            "holder": self.runner.holder,
            "language": body.language or text.language(body.question),
            "interrupts": {},
            "seq": 0,
            "turn": turn,
        }
        ask = Ask(
            turn_id=turn["turn_id"],
            thread=lease.thread,
            question=body.question,
            access=caller.access,
            filters=filters.parse(body.filters),
            language=body.language,
            seconds=self._seconds,
            origin=trace.received("ask", {"footnote.turn_id": turn["turn_id"]}),
        )
        await asyncio.gather(
            self.expiry.keep(lease.thread, self.threads.expires_at()),
            self.log.begin(record, self.threads.expires_at()),
            self.threads.add_turn(caller, turn["thread_id"], turn["turn_id"], body.question),
        )
        try:
            await self.runner.start(LiveTurn(record, lease, caller), ask, channel)
        except BaseException:
            await self._give_up(caller, record)
            raise
        return _accepted(record)

    async def _give_up(self, caller: Caller, record: TurnRecord) -> None:
        """End a turn that nobody can run, and let its message be sent again for a new one."""
        turn = record["turn"]
        with suppress(Unavailable):
            await self.sweeper.end(record, "crashed")
            await self._messages.drop(caller, turn["message_id"], turn["turn_id"])

    # --- Going on, and stopping ---------------------------------------------------------------------------------------

    async def resume(self, caller: Caller, turn_id: str, body: ResumeBody, *, channel: Channel | None = None) -> TurnAccepted:
        """Go on with a turn that waits. ``channel`` is where a worker is to send its events.

        Raises:
            NotFound, NotWaiting, InterruptIdRequired, ThreadBusy, Unavailable
        """
        record = await self.log.get(caller, turn_id)
        trace = Trace(trace_id=record["turn"]["trace_id"])
        interrupt_id, reply = _reply(record, body)
        if await self.threads.newest_turn(caller, record["thread_id"]) != turn_id:
            raise NotWaiting("the conversation has gone on since; ask again")
        if self._is_closing:
            raise Unavailable("the server is shutting down; try again in a moment")
        lease = await self._leases.take(threads.key(caller, record["thread_id"]), turn_id)
        again: TurnRecord = {
            **record,
            "state": "running",
            "fence": lease.fence,
            "holder": self.runner.holder,
            "interrupts": {},
            "turn": outcome.running(record["turn"]),
        }
        if not await self.log.begin(again, self.threads.expires_at(), previous=record):
            await self._leases.release(lease)
            raise NotWaiting("somebody else has replied already")
        request = Resume(
            turn_id=turn_id,
            thread=lease.thread,
            interrupt_id=interrupt_id,
            reply=reply,
            access=caller.access,
            seconds=self._seconds,
            origin=trace.received("resume", {"footnote.turn_id": turn_id}),
        )
        try:
            await self.runner.start(LiveTurn(again, lease, caller), request, channel)
        except BaseException:
            with suppress(Unavailable):  # it goes on waiting
                await self.log.end(record, self.threads.expires_at(), previous=again)
                await self._leases.release(lease)
            raise
        return _accepted(again)

    async def cancel(self, caller: Caller, turn_id: str) -> TurnAccepted:
        """Stop a turn, wherever it runs.

        Raises:
            NotFound, TurnFinished
        """
        record = await self.log.get(caller, turn_id)
        live = self.live.get(turn_id)
        if record["state"] == "finished":
            raise TurnFinished("the turn has ended; there is nothing to stop")
        if record["state"] == "waiting":  # even if its run has not quite let go yet
            await self.sweeper.end(record, "cancelled")
        elif live is not None:
            live.stop("cancelled")
        else:
            await self.log.ask_to_cancel(turn_id)
        return _accepted(record)

    async def delete_thread(self, caller: Caller, thread_id: str) -> None:
        """Forget a conversation. What of it runs is stopped first.

        Raises:
            NotFound
        """
        await self.threads.get(caller, thread_id)
        cursor: str | None = None
        while True:
            turn_ids, cursor = await self.threads.turns(caller, thread_id, cursor=cursor)
            for turn_id in turn_ids:
                await self.runner.stop(turn_id, "cancelled")
                await self.log.delete(turn_id)
            if cursor is None:
                break
        thread = threads.key(caller, thread_id)
        await self.runner.forget(thread)
        await self.expiry.drop(thread)
        await self.threads.delete(caller, thread_id)

    async def forget_expired(self) -> int:
        """Have the agent forget threads that have expired, and say how many."""
        return await self.expiry.sweep(self.runner.forget)

    async def drain(self, grace_s: float) -> None:
        """Take no more turns on, let those that run end, and stop what is left after the grace."""
        self._is_closing = True
        tasks = [live.task for live in self.live.values() if live.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        await asyncio.gather(*(self.runner.stop(turn_id, "shutdown") for turn_id in list(self.live)))


def _accepted(record: TurnRecord) -> TurnAccepted:
    return {"turn_id": record["turn"]["turn_id"], "thread_id": record["thread_id"]}


def _new_turn(body: AskBody, trace_id: str) -> Turn:
    return outcome.unanswered(
        turn_id=f"t_{secrets.token_hex(12)}",
        thread_id=body.thread_id or f"th_{secrets.token_hex(12)}",
        message_id=body.message_id or f"m_{secrets.token_hex(12)}",
        question=body.question,
        trace_id=trace_id,
        created_at=now_iso(),
    )


def _reply(record: TurnRecord, body: ResumeBody) -> tuple[str, str | bool]:
    """What the turn waits for, and the reply to it."""
    waits = record["interrupts"]
    if record["state"] != "waiting" or not waits:
        raise NotWaiting("the turn waits for nothing")
    if body.interrupt_id is None and len(waits) > 1:
        raise InterruptIdRequired(f"the turn waits for several things: say which with interrupt_id ({', '.join(waits)})")
    interrupt_id = body.interrupt_id or next(iter(waits))
    if interrupt_id not in waits:
        raise NotWaiting(f"the turn does not wait for {interrupt_id}")
    needed = "answer" if waits[interrupt_id] == "clarification" else "approve"
    reply = body.answer if needed == "answer" else body.approve
    if reply is None:
        raise InvalidRequest(f"the turn waits for {needed}", pointer=f"/{needed}")
    return interrupt_id, reply
