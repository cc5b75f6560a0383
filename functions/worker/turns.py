"""Turns as the worker runs them: each once, its events to its connection, and an end to every one of them."""

import asyncio
import logging
from contextlib import suppress

from functions import requests, threads, wire
from functions.identity import Caller
from functions.leases import RENEW_S, Lease
from functions.live import LiveTurn
from functions.protocol import Heartbeat, TurnEvent
from functions.runner import teller_of_run
from functions.services import Services
from functions.turnlog import TurnRecord
from functions.turns import Turns
from functions.worker import metrics
from graph.errors import FootnoteError, Unavailable
from graph.ports import Json
from graph.wiring import Wiring

logger = logging.getLogger(__name__)
_MARGIN_S = 20.0
"""What ending a turn may take, beyond its time, until Lambda ends the invocation."""
_WATCH_S = 2.5 * RENEW_S
"""How long a turn that somebody has taken on is watched for signs of life."""


class Worker:
    """The turns of one execution environment."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._services = Services(wiring, kind="worker")

    async def run(self, turn_id: str, fence: int, connection_id: str | None, *, request_id: str, left_s: float) -> None:
        """Run a turn that lies in the log, unless somebody does, or did."""
        holder = f"worker.{request_id}"
        turns = self._turns(holder)
        record = await turns.log.find(turn_id)
        request = await turns.log.request(turn_id)
        if record is None or request is None or record["state"] != "running" or record["fence"] != fence:
            logger.info("turn_id=%s is not there to be run any more", turn_id)
            return
        claimed = await turns.log.claim(record, holder, turns.threads.expires_at())
        if claimed is None:
            logger.warning("turn_id=%s was taken on before", turn_id)  # Lambda repeats what failed, and other things too
            await self._end_if_abandoned(turns, turn_id)
            return
        seconds = min(self._wiring.settings.turn_seconds, max(1.0, left_s - _MARGIN_S))
        turn = await _live(turns, claimed)
        await turns.runner.start(turn, requests.from_json(request, seconds=seconds), None)
        await self._see_through(turns, turn, connection_id)

    async def follow(self, turn_id: str, after: int, connection_id: str, teller: str) -> None:
        """Send what was missed of a turn, then what comes."""
        turns = self._turns("worker.follow")
        record = await turns.log.find(turn_id)
        if record is not None:
            await self._tell(turns, record, connection_id, teller, after=after)

    async def sweep(self) -> None:
        """End turns whose worker is gone, and forget threads that have expired."""
        turns = self._turns("worker.sweep")
        for record in await turns.sweeper.abandoned():
            await self._end(turns, record)
        await turns.forget_expired()

    async def forget(self, thread: str) -> None:
        """Forget what the agent remembers of a thread."""
        await self._turns("worker.forget").runner.forget(thread)

    async def clean_up(self, task: Json) -> None:
        """End the turn of an invocation that failed for good."""
        if task.get("do") != "run":
            logger.error("the task %s failed", task.get("do"))
            return
        turns, turn_id = self._turns("worker.clean"), str(task["turn_id"])
        record = await turns.log.find(turn_id)
        if record is None or record["state"] != "running" or record["fence"] != task["fence"]:
            return
        if record["holder"]:
            await self._end_if_abandoned(turns, turn_id)
        else:  # it never came to be taken on
            await self._end(turns, record)

    def _turns(self, holder: str) -> Turns:
        return Turns(self._wiring.table, self._services.agent, self._wiring.settings, holder=holder, heeds_each_event=True)

    async def _see_through(self, turns: Turns, turn: LiveTurn, connection_id: str | None) -> None:
        """Until the turn has ended, its events are sent, and what it did is counted."""
        telling = None
        if connection_id is not None:
            teller = teller_of_run(turn.lease.fence)
            after = turn.first - 1
            telling = asyncio.create_task(self._tell(turns, turn.record, connection_id, teller, after=after))
        if turn.task is not None:
            await asyncio.wait({turn.task})
        if telling is not None:
            await telling
        metrics.emit(turn.record["turn"], turn.spans)
        if self._wiring.settings.otlp_endpoint:  # nothing is sent while the environment is frozen
            await (await self._services.agent()).close()
            await asyncio.to_thread(self._wiring.exporter.flush)

    async def _tell(self, turns: Turns, record: TurnRecord, connection_id: str, teller: str, *, after: int) -> None:
        """Send a turn's events, one after another, for as long as somebody is there and nobody else tells them."""
        turn_id = record["turn"]["turn_id"]
        with suppress(FootnoteError):  # the turn was deleted, or the log does not answer: then there is nothing to tell
            async for event in turns.followers.follow(_caller(record), turn_id, after=after):
                if not await _tells(turns, turn_id, connection_id, teller) or not await self._post(connection_id, event):
                    return

    async def _post(self, connection_id: str, event: TurnEvent | Heartbeat) -> bool:
        """Whether somebody is there."""
        delivery = await self._wiring.callback.post(connection_id, wire.dumps(event))
        if delivery == "too_large":
            logger.error("turn_id=%s has an event that is too large to be sent", event["turn_id"])
        return delivery != "gone"

    async def _end_if_abandoned(self, turns: Turns, turn_id: str) -> None:
        record = await turns.log.find(turn_id)
        if record is None or record["state"] != "running":
            return
        if await turns.sweeper.is_abandoned(record, watch_s=_WATCH_S):
            await self._end(turns, record)

    async def _end(self, turns: Turns, record: TurnRecord) -> None:
        """End a turn whose worker is gone, and tell the connection whom nobody tells any more."""
        turn_id = record["turn"]["turn_id"]
        done = await turns.sweeper.end(record, "crashed")
        if done is None:
            return
        logger.warning("turn_id=%s ended as crashed", turn_id)
        for connection_id in await turns.log.connections(turn_id, teller_of_run(record["fence"])):
            await self._post(connection_id, done)


async def _tells(turns: Turns, turn_id: str, connection_id: str, teller: str) -> bool:
    """Whether it is still this teller who is to send events; also where nobody says otherwise, as for a deleted turn."""
    try:
        return await turns.log.teller(turn_id, connection_id) in (teller, None)
    except Unavailable:
        return True


def _caller(record: TurnRecord) -> Caller:
    return Caller(tenant=record["tenant"], user=record["user"])


async def _live(turns: Turns, record: TurnRecord) -> LiveTurn:
    """The turn, to go on after its last event."""
    last = await turns.log.last_event(record["turn"]["turn_id"])
    caller = _caller(record)
    lease = Lease(thread=threads.key(caller, record["thread_id"]), turn_id=record["turn"]["turn_id"], fence=record["fence"])
    return LiveTurn({**record, "seq": last["seq"] if last else record["seq"]}, lease, caller)
