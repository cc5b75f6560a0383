"""The Lambda entry point of the HTTP API."""

from functools import cache
from typing import Any

from mangum import Mangum

from functions.api.app import create_app
from functions.api.callers import by_gateway
from functions.api.problems import MEDIA_TYPE
from functions.services import Services
from graph.event_loop import run
from graph.wiring import wiring

_ANSWER_WITHIN_S = 27.0
"""API Gateway gives up after 29 s; by then the turn is acknowledged, and runs on."""
_FILE_LIMIT_BYTES = 5 * 1024 * 1024
_TEXT = ["text/", "application/json", "application/javascript", "application/xml", "application/vnd.api+json", MEDIA_TYPE]


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one request."""
    run(_current())  # Mangum runs the app in the current loop, which must be this environment's one
    return _mangum()(event, context)


async def _current() -> None:
    """Nothing: running it makes the loop."""


@cache
def _mangum() -> Mangum:
    services = Services(wiring(), kind="lambda")
    app = create_app(
        services,
        identify=by_gateway(services.settings),
        file_limit_bytes=_FILE_LIMIT_BYTES,
        answer_within_s=_ANSWER_WITHIN_S,
    )
    return Mangum(app, lifespan="off", text_mime_types=_TEXT)
