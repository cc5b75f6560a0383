"""Turns by their id."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from functions.api import streams
from functions.api.bodies import JsonRoute
from functions.api.dependencies import TheCaller, TheServices
from functions.api.negotiation import JSON, SSE, accepts
from functions.api.patience import left_s
from functions.api.responses import documented, json
from functions.bodies import FeedbackBody
from functions.protocol import EventPage
from functions.shapes import Trace, Turn, TurnAccepted
from graph.errors import InvalidRequest

router = APIRouter(prefix="/turns/{turn_id}", tags=["turns"], route_class=JsonRoute)
_JSON = [Depends(accepts(JSON))]


@router.get("", response_model=Turn, responses=documented("not_found"), dependencies=_JSON)
async def turn(turn_id: str, services: TheServices, caller: TheCaller) -> Response:
    """The turn; while it runs its `outcome` is null."""
    return json((await services.turns.log.get(caller, turn_id))["turn"])


@router.get(
    "/events",
    response_model=EventPage,
    responses=documented(
        "not_found",
        "invalid_request",
        extra={
            200: {"description": "Events so far, or a stream of them.", "content": {SSE: {"schema": {"type": "string"}}}},
            204: {"description": "A browser that reconnects has everything: there is no more to come."},
        },
    ),
)
async def events(  # noqa: PLR0913, PLR0917  # FastAPI's way to say what is needed
    request: Request,
    turn_id: str,
    services: TheServices,
    caller: TheCaller,
    wanted: Annotated[str, Depends(accepts(JSON, SSE))],
    after: Annotated[int, Query(ge=0)] = 0,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for the first event")] = 0,
    last_event_id: Annotated[str | None, Header(description="In place of `after`, as browsers send it")] = None,
) -> Response:
    """Events with a greater `seq`: those so far, or, with `Accept: text/event-stream`, all until `done`."""
    followers = services.turns.followers
    if wanted == JSON:
        return json({"events": await followers.events(caller, turn_id, after=after, wait_s=wait)})
    record = await services.turns.log.get(caller, turn_id)
    if last_event_id:
        if not (last_event_id.isascii() and last_event_id.isdigit()):
            raise InvalidRequest("Last-Event-ID is not a number; send the last id that came", pointer="/last-event-id")
        after = int(last_event_id)
        if record["state"] != "running" and after >= record["seq"]:
            return Response(status_code=204)
    return streams.events(followers.follow(caller, turn_id, after=after, within_s=left_s(request)))


@router.post(
    "/cancel",
    status_code=202,
    response_model=TurnAccepted,
    responses=documented("not_found", "turn_finished"),
    dependencies=_JSON,
)
async def cancel(turn_id: str, services: TheServices, caller: TheCaller) -> Response:
    """Stop the turn; it ends in `done` with outcome `cancelled`."""
    return json(await services.turns.cancel(caller, turn_id), 202)


@router.post("/feedback", status_code=204, responses=documented("not_found", body=True))
async def feedback(turn_id: str, body: FeedbackBody, services: TheServices, caller: TheCaller) -> Response:
    """Say what you think of the answer, in place of what you said before."""
    await services.turns.log.get(caller, turn_id)
    await services.turns.log.put_feedback(turn_id, body.rating, body.comment, services.turns.threads.expires_at())
    return Response(status_code=204)


@router.get("/trace", response_model=Trace, responses=documented("not_found"), dependencies=_JSON)
async def trace(turn_id: str, services: TheServices, caller: TheCaller) -> Response:
    """What the turn did, in brief; no spans while it runs."""
    record = await services.turns.log.get(caller, turn_id)
    nothing: Trace = {"trace_id": record["turn"]["trace_id"], "turn_id": turn_id, "spans": []}
    return json(await services.turns.log.trace(turn_id) or nothing)
