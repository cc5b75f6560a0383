"""Server-sent events."""

from collections.abc import AsyncGenerator

from fastapi import Response
from fastapi.responses import StreamingResponse

from functions import wire
from functions.api.negotiation import SSE
from functions.protocol import Heartbeat, TurnEvent


def events(source: AsyncGenerator[TurnEvent | Heartbeat, None]) -> Response:
    """A stream of a turn's events; ``id`` is ``seq``, so that a browser asks for what it missed by itself."""

    async def lines() -> AsyncGenerator[bytes, None]:
        async for event in source:
            number = "" if event["type"] == "heartbeat" else f"id: {event['seq']}\n"
            yield f"{number}event: {event['type']}\ndata: ".encode() + wire.dumps(event) + b"\n\n"

    return StreamingResponse(lines(), media_type=SSE, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
