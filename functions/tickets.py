"""Tickets: a browser cannot put a token in a WebSocket's handshake, and a token in an address ends up in logs."""

import hashlib
import secrets
import time
from collections.abc import Callable

from functions.errors import Unauthorized
from functions.identity import Caller, from_context, to_context
from graph.ports import Equals, Item, Table

VALID_S = 60
_SK = "ticket"


class Tickets:
    """Each opens one WebSocket, within a minute. The table holds their hashes, so whoever reads it gets in nowhere."""

    def __init__(self, table: Table, *, clock: Callable[[], float] = time.time) -> None:
        self._table = table
        self._clock = clock

    async def issue(self, caller: Caller) -> str:
        """A ticket of the caller."""
        ticket = secrets.token_urlsafe(32)
        value: dict[str, object] = {**to_context(caller), "used": False}
        await self._table.put(Item(pk=_partition(ticket), sk=_SK, value=value, expires_at=int(self._clock()) + VALID_S))
        return ticket

    async def take(self, ticket: str) -> Caller:
        """The caller whom it was issued to.

        Raises:
            Unauthorized: it was used, has expired, or is none of ours.
        """
        item = await self._table.get(_partition(ticket), _SK)
        if item is not None and (item.expires_at or 0) > self._clock():
            used = Item(pk=item.pk, sk=item.sk, value={**item.value, "used": True}, expires_at=item.expires_at)
            if await self._table.put(used, condition=Equals({"used": False})):
                return from_context({name: str(item.value[name]) for name in ("tenant", "user", "groups")})
        raise Unauthorized("the ticket was used, has expired, or never was one; ask for another with POST /tickets")


def _partition(ticket: str) -> str:
    return f"ticket#{hashlib.sha256(ticket.encode(errors='replace')).hexdigest()}"
