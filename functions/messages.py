"""Message ids: a question that is sent again, because its answer got lost, joins the turn that it began."""

import hashlib
import time

from functions.identity import Caller
from graph.errors import MessageIdReused
from graph.ports import Absent, Equals, Item, Table

_KEPT_S = 24 * 3600


class Messages:
    """Which turn each message id began, for 24 hours."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def find(self, caller: Caller, message_id: str, question: str) -> str | None:
        """The turn that this message began.

        Raises:
            MessageIdReused: it came with another question.
        """
        item = await self._table.get(_partition(caller), message_id)
        if item is None:
            return None
        if item.value["question"] != _fingerprint(question):
            raise MessageIdReused(f"the message id {message_id} was sent with another question; use a new one")
        return str(item.value["turn_id"])

    async def claim(self, caller: Caller, message_id: str, question: str, turn_id: str) -> bool:
        """Make the message begin this turn; False when it has begun one."""
        value: dict[str, object] = {"turn_id": turn_id, "question": _fingerprint(question)}
        item = Item(pk=_partition(caller), sk=message_id, value=value, expires_at=int(time.time()) + _KEPT_S)
        return await self._table.put(item, condition=Absent())

    async def drop(self, caller: Caller, message_id: str, turn_id: str) -> None:
        """Forget a claim whose turn never came to be, or is gone."""
        await self._table.delete(_partition(caller), message_id, condition=Equals({"turn_id": turn_id}))


def _partition(caller: Caller) -> str:
    return f"message#{caller.key}"


def _fingerprint(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()
