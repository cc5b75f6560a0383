"""Turns whose process died: they end in ``done``, too."""

from collections.abc import Mapping

from functions import outcome, threads
from functions.identity import Caller
from functions.leases import LEASE_S, Lease, Leases
from functions.live import LiveTurn
from functions.notes import Ending
from functions.protocol import TurnEvent
from functions.threads import Threads
from functions.turnlog import TurnLog, TurnRecord


class Sweeper:
    """Ends turns that nobody drives."""

    def __init__(self, log: TurnLog, threads: Threads, leases: Leases, live: Mapping[str, LiveTurn], *, holder: str) -> None:
        """``holder``: kind and name of this process, joined by a dot."""
        self._log = log
        self._threads = threads
        self._leases = leases
        self._live = live
        self._holder = holder

    async def sweep(self, *, is_only_one: bool = False) -> int:
        """End what nobody drives any more, and say how many turns that were.

        Args:
            is_only_one: no other process of this one's kind lives; turns of earlier ones need not wait for their lease.
        """
        abandoned = await self.abandoned(is_only_one=is_only_one)
        for record in abandoned:
            await self.end(record, "crashed")
        return len(abandoned)

    async def abandoned(self, *, is_only_one: bool = False) -> list[TurnRecord]:
        """Turns that nobody drives any more."""
        found = []
        for turn_id in await self._log.running(longer_than_s=0 if is_only_one else LEASE_S):
            record = await self._log.find(turn_id)
            if record is None or record["state"] != "running":
                await self._log.unmark(turn_id)
            elif turn_id not in self._live and await self._is_abandoned(record, is_only_one=is_only_one):
                found.append(record)
        return found

    async def end(self, record: TurnRecord, ending: Ending) -> TurnEvent | None:
        """End a turn that does not run. If its run got as far as its last event, that one holds.

        Returns:
            The last event; None where somebody else has ended the turn.
        """
        turn_id, expires_at = record["turn"]["turn_id"], self._threads.expires_at()
        last = await self._log.last_event(turn_id)
        if last is not None and last["type"] == "done" and last["seq"] > record["seq"]:
            done: TurnEvent = last
            after = outcome.recovered(record, last["turn"])
            after["seq"] = last["seq"]
        else:
            finished = outcome.ended(ending, record["language"])
            after = outcome.finish(record, finished, total_ms=0, first_token_ms=None)
            after["seq"] = (last["seq"] if last else 0) + 1
            thread_id, turn = record["thread_id"], after["turn"]
            done = {"v": 1, "type": "done", "turn_id": turn_id, "thread_id": thread_id, "seq": after["seq"], "turn": turn}
            await self._log.append(done, expires_at)
        is_ours = await self._log.end(after, expires_at, previous=record)
        await self._leases.release(Lease(thread=_thread(record), turn_id=turn_id, fence=record["fence"]))
        return done if is_ours else None

    async def is_abandoned(self, record: TurnRecord, *, watch_s: float) -> bool:
        """Whether nobody keeps the turn's lease while it is watched: sooner known than waiting for its end."""
        return not await self._leases.is_kept(_thread(record), record["turn"]["turn_id"], watch_s=watch_s)

    async def _is_abandoned(self, record: TurnRecord, *, is_only_one: bool) -> bool:
        kind = self._holder.partition(".")[0]
        if is_only_one and record["holder"].partition(".")[0] == kind and record["holder"] != self._holder:
            return True
        return not await self._leases.is_held(_thread(record), record["turn"]["turn_id"])


def _thread(record: TurnRecord) -> str:
    return threads.key(Caller(tenant=record["tenant"], user=record["user"]), record["thread_id"])
