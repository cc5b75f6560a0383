"""A thread lives for a while after its last turn: all of it, and then nothing of it."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from graph.ports import Item, Table

_PARTITION = "expiry"
_DAY_S = 86_400


class Expiry:
    """When threads end. The table drops its own items by itself; the agent's memory of a thread has to be told."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def keep(self, thread: str, expires_at: int) -> None:
        """The thread goes on, so its earlier turns live on with it; they are written anew once a day at most."""
        await self._table.put(Item(pk=_PARTITION, sk=thread, value={"at": expires_at}))
        oldest = await self._table.query(f"thread#{thread}", prefix="turn#", limit=1)
        if not oldest or (oldest[0].expires_at or expires_at) > expires_at - _DAY_S:
            return
        for place in await self._table.query(f"thread#{thread}", prefix="turn#"):
            turn_id = str(place.value["turn_id"])
            for item in [*await self._table.query(f"turn#{turn_id}"), place]:
                await self._table.put(replace(item, expires_at=expires_at))

    async def drop(self, thread: str) -> None:
        """The thread was deleted."""
        await self._table.delete(_PARTITION, thread)

    async def sweep(self, forget: Callable[[str], Awaitable[None]]) -> int:
        """Have forgotten what remains of threads that have expired, and say how many that were."""
        expired = [item for item in await self._table.query(_PARTITION) if _is_over(item)]
        for item in expired:
            await forget(item.sk)
            await self.drop(item.sk)
        return len(expired)


def _is_over(item: Item) -> bool:
    at = item.value["at"]
    return isinstance(at, int) and at <= time.time()
