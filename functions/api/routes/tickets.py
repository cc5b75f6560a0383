"""Tickets for WebSockets of browsers."""

from fastapi import APIRouter, Depends, Response

from functions.api.dependencies import TheCaller, TheServices
from functions.api.negotiation import JSON, accepts
from functions.api.responses import documented, json
from functions.shapes import Ticket
from functions.tickets import VALID_S

router = APIRouter(tags=["tickets"])


@router.post("/tickets", status_code=201, response_model=Ticket, responses=documented(), dependencies=[Depends(accepts(JSON))])
async def ticket(services: TheServices, caller: TheCaller) -> Response:
    """A ticket that opens one WebSocket, as `?ticket=`, within its seconds: browsers can send no header there."""
    return json(
        {"ticket": await services.gate.tickets.issue(caller), "expires_in": VALID_S}, 201, {"Cache-Control": "no-store"}
    )
