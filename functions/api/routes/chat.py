"""Asking, and replying to a turn that asks back: three ways to be answered."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from functions.api import streams
from functions.api.bodies import JsonRoute
from functions.api.dependencies import TheCaller, TheServices
from functions.api.negotiation import JSON, SSE, accepts, wants_async
from functions.api.patience import left_s
from functions.api.responses import documented, json
from functions.bodies import AskBody, ResumeBody
from functions.identity import Caller
from functions.services import Services
from functions.shapes import Turn, TurnAccepted
from graph.tracing import Trace

router = APIRouter(tags=["turns"], route_class=JsonRoute)
Wanted = Annotated[str, Depends(accepts(JSON, SSE))]
_RUNS_ON: dict[int | str, dict[str, Any]] = {
    200: {"description": "The turn, whatever its outcome, or its events.", "content": {SSE: {"schema": {"type": "string"}}}},
    202: {"model": TurnAccepted, "description": "The turn runs on: `GET /turns/{turn_id}`."},
}


@router.post(
    "/chat",
    response_model=Turn,
    responses=documented("thread_busy", "message_id_reused", "rate_limited", body=True, extra=_RUNS_ON),
)
async def chat(request: Request, body: AskBody, services: TheServices, caller: TheCaller, wanted: Wanted) -> Response:
    """Ask. With `Accept: text/event-stream` the answer is the turn's events; with `Prefer: respond-async` it is only its id."""
    started = await services.turns.ask(caller, body, trace=Trace.continuing(request.headers))
    return await _answer(request, services, caller, started, wanted, after=0)


@router.post(
    "/turns/{turn_id}/resume",
    response_model=Turn,
    responses=documented("not_found", "not_waiting", "interrupt_id_required", "thread_busy", body=True, extra=_RUNS_ON),
)
async def resume(  # noqa: PLR0913, PLR0917  # FastAPI's way to say what is needed
    request: Request, turn_id: str, body: ResumeBody, services: TheServices, caller: TheCaller, wanted: Wanted
) -> Response:
    """Reply to a turn that waits; answered like `/chat`, with the events that follow."""
    paused = await services.turns.log.get(caller, turn_id)
    started = await services.turns.resume(caller, turn_id, body)
    return await _answer(request, services, caller, started, wanted, after=paused["seq"])


async def _answer(  # noqa: PLR0913
    request: Request, services: Services, caller: Caller, started: TurnAccepted, wanted: str, *, after: int
) -> Response:
    turn_id = started["turn_id"]
    location = {"Location": f"/turns/{turn_id}"}
    if wants_async(request):
        return json(started, 202, {**location, "Preference-Applied": "respond-async"})
    if wanted == SSE:
        events = services.turns.followers.follow(caller, turn_id, after=after, within_s=left_s(request))
        return streams.events(events)
    turn = await services.turns.followers.result(caller, turn_id, within_s=left_s(request))
    return json(started, 202, location) if turn is None else json(turn)
