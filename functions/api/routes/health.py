"""Whether the process answers."""

from importlib.metadata import version

from fastapi import APIRouter, Depends, Response

from functions.api.negotiation import JSON, accepts
from functions.api.responses import documented, json
from functions.shapes import Health

router = APIRouter(tags=["health"])


@router.get("/health", response_model=Health, responses=documented(is_open=True), dependencies=[Depends(accepts(JSON))])
async def health() -> Response:
    """The process answers. Nothing that it depends on is touched."""
    return json({"status": "ok", "version": version("footnote")})
