"""One turn at a time per thread: a lease with a fencing token."""

import asyncio
import time
from dataclasses import dataclass

from graph.errors import ThreadBusy
from graph.ports import Absent, Equals, Item, Table

LEASE_S = 60.0
"""How long a thread stays taken by a process that died."""
RENEW_S = 5.0
"""How often a process that lives says so."""
_KEPT_S = 86_400
"""How long a fencing token is remembered after its last use: longer than any turn."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right to run a turn on a thread."""

    thread: str
    turn_id: str
    fence: int
    """Rises with every lease of the thread: what an earlier holder still writes is told from what the holder writes."""


class Busy(ThreadBusy):
    """A turn of this thread is running."""

    def __init__(self, message_id: str | None) -> None:
        """``message_id`` is the one that began the running turn."""
        super().__init__("a turn of this thread is running; wait for its end, or cancel it")
        self.message_id = message_id


class Leases:
    """Who runs a turn on which thread."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def take(self, thread: str, turn_id: str, message_id: str | None = None) -> Lease:
        """Take the thread.

        Raises:
            Busy: another turn has it.
        """
        while True:
            item = await self._table.get(_partition(thread), "lease")
            held = item.value if item else {}
            if item is not None and held.get("turn_id") and not _is_over(item):
                raise Busy(str(held["message_id"]) if held.get("message_id") else None)
            last = held.get("fence", 0)
            lease = Lease(thread=thread, turn_id=turn_id, fence=(last if isinstance(last, int) else 0) + 1)
            condition = Equals({"fence": last, "turn_id": held.get("turn_id")}) if item else Absent()
            if await self._put(lease, message_id, condition):
                return lease

    async def is_held(self, thread: str, turn_id: str) -> bool:
        """Whether the turn has the thread."""
        item = await self._table.get(_partition(thread), "lease")
        return item is not None and item.value.get("turn_id") == turn_id and not _is_over(item)

    async def is_kept(self, thread: str, turn_id: str, *, watch_s: float) -> bool:
        """Whether the turn has the thread, and whoever runs it renews that while it is watched."""
        before = await self._table.get(_partition(thread), "lease")
        await asyncio.sleep(watch_s)
        after = await self._table.get(_partition(thread), "lease")
        if before is None or after is None or after.value.get("turn_id") != turn_id:
            return False
        return after.value.get("until") != before.value.get("until")

    async def renew(self, lease: Lease, message_id: str | None = None) -> bool:
        """Keep the thread; False when it was lost."""
        return await self._put(lease, message_id, Equals({"fence": lease.fence, "turn_id": lease.turn_id}))

    async def release(self, lease: Lease) -> None:
        """Give the thread back; the fencing token stays, so that it never falls."""
        value: dict[str, object] = {"fence": lease.fence, "turn_id": None}
        condition = Equals({"fence": lease.fence, "turn_id": lease.turn_id})
        await self._table.put(_item(lease.thread, value), condition=condition)

    async def _put(self, lease: Lease, message_id: str | None, condition: Absent | Equals) -> bool:
        value: dict[str, object] = {
            "fence": lease.fence,
            "turn_id": lease.turn_id,
            "message_id": message_id,
            "until": time.time() + LEASE_S,
        }
        return await self._table.put(_item(lease.thread, value), condition=condition)


def _item(thread: str, value: dict[str, object]) -> Item:
    return Item(pk=_partition(thread), sk="lease", value=value, expires_at=int(time.time() + _KEPT_S))


def _is_over(item: Item) -> bool:
    until = item.value.get("until")
    return not isinstance(until, int | float) or until <= time.time()


def _partition(thread: str) -> str:
    return f"thread#{thread}"
