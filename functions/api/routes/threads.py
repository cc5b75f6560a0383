"""Conversations."""

from fastapi import APIRouter, Depends, Response

from functions.api.dependencies import Cursor, Limit, TheCaller, TheServices
from functions.api.negotiation import JSON, accepts
from functions.api.responses import documented, json
from functions.shapes import Thread, ThreadPage

router = APIRouter(prefix="/threads", tags=["threads"])
_JSON = [Depends(accepts(JSON))]


@router.get("", response_model=ThreadPage, responses=documented("invalid_request"), dependencies=_JSON)
async def threads(services: TheServices, caller: TheCaller, limit: Limit = 20, cursor: Cursor = None) -> Response:
    """The user's threads, last updated first."""
    page, next_cursor = await services.turns.threads.page(caller, limit=limit, cursor=cursor)
    return json({"threads": page, "next_cursor": next_cursor})


@router.get("/{thread_id}", response_model=Thread, responses=documented("not_found", "invalid_request"), dependencies=_JSON)
async def thread(
    thread_id: str, services: TheServices, caller: TheCaller, limit: Limit = 20, cursor: Cursor = None
) -> Response:
    """A thread with its turns, oldest first."""
    found = await services.turns.threads.get(caller, thread_id)
    turn_ids, next_cursor = await services.turns.threads.turns(caller, thread_id, limit=limit, cursor=cursor)
    records = [await services.turns.log.find(turn_id) for turn_id in turn_ids]
    turns = [record["turn"] for record in records if record is not None]
    return json({"thread_id": thread_id, "title": found["title"], "turns": turns, "next_cursor": next_cursor})


@router.delete("/{thread_id}", status_code=204, responses=documented("not_found"))
async def delete_thread(thread_id: str, services: TheServices, caller: TheCaller) -> Response:
    """Forget a thread and its turns. A turn that runs is stopped first."""
    await services.turns.delete_thread(caller, thread_id)
    return Response(status_code=204)
