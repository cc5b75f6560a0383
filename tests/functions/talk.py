"""A client of the WebSocket that checks what it is sent against the protocol."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from functions.protocol import EVENT
from tests.server import RunningServer

Json = dict[str, Any]
_PATIENCE_S = 60
OVER = ("done", "error")


@dataclass(frozen=True)
class Talk:
    """One connection."""

    socket: ClientConnection

    async def send(self, **frame: object) -> None:
        await self.socket.send(json.dumps(frame))

    async def ask(self, question: str, **fields: object) -> str:
        """Ask under a message id of its own unless one is given, which is returned."""
        message_id = str(fields.pop("message_id", f"m-{uuid.uuid4().hex}"))
        await self.send(action="ask", question=question, message_id=message_id, **fields)
        return message_id

    async def next(self) -> Json:
        """The next event, heartbeats left out."""
        while True:
            event: Json = json.loads(await asyncio.wait_for(self.socket.recv(), _PATIENCE_S))
            EVENT.validate_python(event)
            if event["type"] != "heartbeat":
                return event

    async def until(self, *types: str) -> list[Json]:
        """Events up to the first of these types."""
        events = [await self.next()]
        while events[-1]["type"] not in (types or OVER):
            events.append(await self.next())
        return events

    async def turn(self, question: str, **fields: object) -> Json:
        """A finished turn."""
        await self.ask(question, **fields)
        last = (await self.until())[-1]
        assert last["type"] == "done", last
        turn: Json = last["turn"]
        return turn


@asynccontextmanager
async def talking(server: RunningServer) -> AsyncIterator[Talk]:
    """A connection to a server."""
    async with connect(server.socket_url, proxy=None, max_size=None) as socket:
        yield Talk(socket)


def seqs(events: list[Json]) -> list[int]:
    """The numbers of events."""
    return [event["seq"] for event in events]
