"""The Lambda entry point of the WebSocket: takes frames, leaves turns to the worker, and acknowledges at once.

It returns no body, since API Gateway would send that to the client; what the client is told goes the way of all events.
"""

import os
from functools import cache
from typing import Any

from functions.websocket.door import Door
from graph.event_loop import run
from graph.tracing import Trace
from graph.wiring import wiring


def handler(event: dict[str, Any], _context: object) -> dict[str, int]:
    """Take one event of a connection."""
    if event["requestContext"]["eventType"] == "MESSAGE":
        run(_door().take(event, Trace.continuing({"x-amzn-trace-id": os.environ.get("_X_AMZN_TRACE_ID", "")})))
    return {"statusCode": 200}


@cache
def _door() -> Door:
    return Door(wiring())
