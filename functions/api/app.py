"""The HTTP API, the same on a laptop and in AWS."""

from importlib.metadata import version

from fastapi import FastAPI

from functions.api import openapi, problems
from functions.api.bodies import BodyLimit
from functions.api.callers import Identify, by_gate
from functions.api.routes import chat, documents, health, search, threads, tickets, turns, uploads
from functions.api.uploads import LARGEST_BYTES
from functions.services import Services


def create_app(
    services: Services | None,
    *,
    identify: Identify | None = None,
    file_limit_bytes: int = LARGEST_BYTES,
    answer_within_s: float | None = None,
) -> FastAPI:
    """The app over some services.

    Args:
        services: None for the OpenAPI document alone.
        identify: who sends a request; the services' gate where nothing is said.
        file_limit_bytes: of an uploaded file; Lambda takes 6 MB with base64.
        answer_within_s: after this long a turn is answered by `202` and runs on.
    """
    app = FastAPI(
        title="Footnote", version=version("footnote"), docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False
    )
    app.state.services = services
    app.state.identify = identify or (by_gate(services.gate) if services else None)
    app.state.file_limit_bytes = file_limit_bytes
    app.state.answer_within_s = answer_within_s
    problems.install(app)
    for routes in (health, chat, turns, threads, documents, search, tickets, uploads):
        app.include_router(routes.router)
    openapi.install(app)
    app.add_middleware(BodyLimit, file_limit_bytes=file_limit_bytes)
    app.add_middleware(problems.Head)
    app.add_middleware(problems.Guard)
    return app
