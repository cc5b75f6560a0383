"""How many turns a user may start: a token bucket."""

import time
import uuid

from functions.identity import Caller
from graph.errors import RateLimited
from graph.ports import Absent, Equals, Item, Table


class RateLimit:
    """One bucket for each user, on the table, so that every process counts from the same."""

    def __init__(self, table: Table, *, per_minute: int, burst: int) -> None:
        self._table = table
        self._per_s = per_minute / 60
        self._burst = burst

    async def take(self, caller: Caller) -> None:
        """Take a token.

        Raises:
            RateLimited: there is none yet.
        """
        pk = f"rate#{caller.key}"
        while True:
            item = await self._table.get(pk, "bucket")
            now = time.time()
            tokens = self._tokens(item, now)
            if tokens < 1:
                wait_s = (1 - tokens) / self._per_s
                raise RateLimited(f"too many turns; the next one may start in {wait_s:.0f} s", retry_after_s=wait_s)
            value = {"tokens": tokens - 1, "at": now, "revision": uuid.uuid4().hex}
            full_again = int(now + self._burst / self._per_s) + 1
            condition = Absent() if item is None else Equals({"revision": item.value["revision"]})
            if await self._table.put(Item(pk=pk, sk="bucket", value=value, expires_at=full_again), condition=condition):
                return

    def _tokens(self, item: Item | None, now: float) -> float:
        if item is None:
            return float(self._burst)
        tokens, at = item.value["tokens"], item.value["at"]
        if not isinstance(tokens, int | float) or not isinstance(at, int | float):
            return float(self._burst)
        return min(self._burst, tokens + max(0.0, now - at) * self._per_s)
