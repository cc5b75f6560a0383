"""The Lambda entry point of the worker: runs turns, sends their events, replays them, and ends those whose worker is gone.

It is invoked asynchronously, with ids only::

    {"do": "run", "turn_id", "fence", "connection"?: {"id"}}
    {"do": "follow", "turn_id", "after", "connection": {"id", "teller"}}
    {"do": "sweep"}                                             each minute
    {"do": "forget", "thread"}                                  synchronously
    {"requestContext": …, "requestPayload": one of these}       from Lambda, about an invocation that failed
"""

from functools import cache
from typing import Any

from functions.worker.turns import Worker
from graph.errors import InvalidRequest
from graph.event_loop import run
from graph.wiring import wiring


def handler(event: dict[str, Any], context: Any) -> None:
    """Do one task."""
    run(_do(event, context))


async def _do(event: dict[str, Any], context: Any) -> None:
    worker = _worker()
    if "requestPayload" in event:
        await worker.clean_up(event["requestPayload"])
        return
    match event:
        case {"do": "run", "turn_id": turn_id, "fence": fence}:
            connection_id = (event.get("connection") or {}).get("id")
            left_s = context.get_remaining_time_in_millis() / 1000
            await worker.run(turn_id, fence, connection_id, request_id=context.aws_request_id, left_s=left_s)
        case {"do": "follow", "turn_id": turn_id, "after": after, "connection": {"id": connection_id, "teller": teller}}:
            await worker.follow(turn_id, after, connection_id, teller)
        case {"do": "sweep"}:
            await worker.sweep()
        case {"do": "forget", "thread": thread}:
            await worker.forget(thread)
        case _:
            raise InvalidRequest("the worker knows no such task; functions/worker/handler.py lists those it knows")


@cache
def _worker() -> Worker:
    return Worker(wiring())
