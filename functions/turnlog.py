"""The log of a turn on the table: its record, its events in order, its trace, and what the user thinks of it."""

import time
from typing import Literal, TypedDict, cast

from functions.clock import now_iso
from functions.identity import Caller
from functions.protocol import TurnEvent
from functions.shapes import Trace, Turn
from graph.errors import NotFound
from graph.ports import Absent, Equals, Item, Json, Table

_RECORD, _TRACE, _FEEDBACK, _CANCEL, _EVENT = "turn", "trace", "feedback", "cancel", "event#"
_REQUEST, _CONNECTION = "request", "connection#"
_RUNNING = "running"
_CANCEL_KEPT_S = 3600
_CONNECTION_KEPT_S = 2 * 3600
"""API Gateway closes every connection after two hours."""


class TurnRecord(TypedDict):
    """A turn, and what must be known to go on with it."""

    tenant: str
    user: str
    thread_id: str
    state: Literal["running", "waiting", "finished"]
    fence: int
    """Of the lease under which it runs, or ran last."""
    holder: str
    """The process that runs it, or ran it last; empty while none has taken it on."""
    language: str
    """BCP 47 tag of notes to the user."""
    interrupts: dict[str, Literal["clarification", "approval"]]
    """What it waits for."""
    seq: int
    """Of its last event, while it does not run."""
    turn: Turn


class TurnLog:
    """Turns by id. Writes prove by the fencing token that nobody else has ended the turn."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def find(self, turn_id: str) -> TurnRecord | None:
        """The record, whoever's it is."""
        item = await self._table.get(_partition(turn_id), _RECORD)
        return None if item is None else cast("TurnRecord", item.value)

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """The record of the caller's turn.

        Raises:
            NotFound: there is none, or it is somebody else's.
        """
        record = await self.find(turn_id)
        if record is None or (record["tenant"], record["user"]) != (caller.tenant, caller.user):
            raise NotFound(f"there is no turn {turn_id}")
        return record

    async def begin(self, record: TurnRecord, expires_at: int, *, previous: TurnRecord | None = None) -> bool:
        """Store that the turn runs; False when it is not (or no longer) as ``previous`` says."""
        turn_id = record["turn"]["turn_id"]
        await self._table.put(Item(pk=_RUNNING, sk=turn_id, value={"since": time.time()}))
        return await self._store(record, expires_at, previous)

    async def claim(self, record: TurnRecord, holder: str, expires_at: int) -> TurnRecord | None:
        """Take on a turn that nobody runs yet; None when somebody does, or did."""
        claimed: TurnRecord = {**record, "holder": holder}
        condition = Equals({"fence": record["fence"], "state": "running", "holder": ""})
        item = Item(pk=_partition(record["turn"]["turn_id"]), sk=_RECORD, value=cast("Json", claimed), expires_at=expires_at)
        return claimed if await self._table.put(item, condition=condition) else None

    async def end(self, record: TurnRecord, expires_at: int, *, previous: TurnRecord) -> bool:
        """Store that the turn runs no longer; False when somebody else has ended it."""
        if not await self._store(record, expires_at, previous):
            return False
        await self.unmark(record["turn"]["turn_id"])
        return True

    async def running(self, *, longer_than_s: float = 0) -> list[str]:
        """Ids of the turns that run, or whose process died."""
        since = time.time() - longer_than_s
        return [item.sk for item in await self._table.query(_RUNNING) if cast("float", item.value["since"]) <= since]

    async def unmark(self, turn_id: str) -> None:
        """The turn does not run."""
        await self._table.delete(_RUNNING, turn_id)

    async def append(self, event: TurnEvent, expires_at: int) -> bool:
        """Store an event; False when there is one with its number, which then somebody else wrote."""
        pk, sk = _partition(event["turn_id"]), f"{_EVENT}{event['seq']:08d}"
        item = Item(pk=pk, sk=sk, value=cast("Json", event), expires_at=expires_at)
        return await self._table.put(item, condition=Absent())

    async def events(self, turn_id: str, *, after: int = 0, limit: int | None = None) -> list[TurnEvent]:
        """Events with a greater number, in order."""
        items = await self._table.query(
            _partition(turn_id), prefix=_EVENT, after=f"{_EVENT}{min(after, 99_999_999):08d}", limit=limit
        )
        return [cast("TurnEvent", item.value) for item in items]

    async def last_event(self, turn_id: str) -> TurnEvent | None:
        """The event with the greatest number."""
        items = await self._table.query(_partition(turn_id), prefix=_EVENT, limit=1, descending=True)
        return cast("TurnEvent", items[0].value) if items else None

    async def put_trace(self, trace: Trace, expires_at: int) -> None:
        """Store what the turn did."""
        pk = _partition(trace["turn_id"])
        await self._table.put(Item(pk=pk, sk=_TRACE, value=cast("Json", trace), expires_at=expires_at))

    async def trace(self, turn_id: str) -> Trace | None:
        """What the turn did; None while it runs."""
        item = await self._table.get(_partition(turn_id), _TRACE)
        return None if item is None else cast("Trace", item.value)

    async def put_feedback(self, turn_id: str, rating: str, comment: str | None, expires_at: int) -> None:
        """Store what the user thinks of the answer, in place of what they thought before."""
        value: Json = {"rating": rating, "at": now_iso(), **({} if comment is None else {"comment": comment})}
        await self._table.put(Item(pk=_partition(turn_id), sk=_FEEDBACK, value=value, expires_at=expires_at))

    async def ask_to_cancel(self, turn_id: str) -> None:
        """Leave word for the process that runs the turn."""
        expires_at = int(time.time()) + _CANCEL_KEPT_S
        await self._table.put(Item(pk=_partition(turn_id), sk=_CANCEL, value={}, expires_at=expires_at))

    async def is_cancelled(self, turn_id: str) -> bool:
        """Whether such word was left."""
        return await self._table.get(_partition(turn_id), _CANCEL) is not None

    async def put_request(self, turn_id: str, request: Json, expires_at: int) -> None:
        """Keep what is asked for whoever will run the turn."""
        await self._table.put(Item(pk=_partition(turn_id), sk=_REQUEST, value=request, expires_at=expires_at))

    async def request(self, turn_id: str) -> Json | None:
        """What is asked."""
        item = await self._table.get(_partition(turn_id), _REQUEST)
        return None if item is None else item.value

    async def connect(self, turn_id: str, connection_id: str, teller: str) -> None:
        """Have this teller, and no other from now on, send the turn's events to a connection."""
        expires_at = int(time.time()) + _CONNECTION_KEPT_S
        value: Json = {"teller": teller}
        await self._table.put(
            Item(pk=_partition(turn_id), sk=f"{_CONNECTION}{connection_id}", value=value, expires_at=expires_at)
        )

    async def teller(self, turn_id: str, connection_id: str) -> str | None:
        """Who sends the turn's events to a connection."""
        item = await self._table.get(_partition(turn_id), f"{_CONNECTION}{connection_id}")
        return None if item is None else str(item.value["teller"])

    async def connections(self, turn_id: str, teller: str) -> list[str]:
        """The connections to which this teller sends the turn's events."""
        items = await self._table.query(_partition(turn_id), prefix=_CONNECTION)
        return [item.sk.removeprefix(_CONNECTION) for item in items if item.value["teller"] == teller]

    async def delete(self, turn_id: str) -> None:
        """Forget the turn: its record first, so that nobody finds the rest."""
        await self._table.delete(_partition(turn_id), _RECORD)
        await self.unmark(turn_id)
        for item in await self._table.query(_partition(turn_id)):
            await self._table.delete(item.pk, item.sk)

    async def _store(self, record: TurnRecord, expires_at: int, previous: TurnRecord | None) -> bool:
        item = Item(pk=_partition(record["turn"]["turn_id"]), sk=_RECORD, value=cast("Json", record), expires_at=expires_at)
        condition = Equals({"fence": previous["fence"], "state": previous["state"]}) if previous else Absent()
        return await self._table.put(item, condition=condition)


def _partition(turn_id: str) -> str:
    return f"turn#{turn_id}"
