"""Errors of every kind as ``application/problem+json``, the framework's own too."""

from collections.abc import Mapping

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions import errors, wire
from functions.errors import MethodNotAllowed
from graph.errors import FootnoteError, InvalidRequest, NotFound

MEDIA_TYPE = "application/problem+json"


def answer(error: BaseException, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that met this error."""
    body = errors.problem(error, errors.new_trace_id())
    return Response(
        wire.dumps(body), body["status"], headers={**errors.headers(error), **(headers or {})}, media_type=MEDIA_TYPE
    )


def install(app: FastAPI) -> None:
    """Have the app answer with problems."""
    app.add_exception_handler(FootnoteError, _domain)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _framework)


async def _domain(_request: Request, error: Exception) -> Response:
    return answer(error)


async def _validation(_request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    return answer(errors.invalid(problems, skip=("body", "query", "path", "header")))


async def _framework(request: Request, error: Exception) -> Response:
    match error:
        case HTTPException(status_code=404):
            return answer(NotFound(f"there is nothing at {request.url.path}"))
        case HTTPException(status_code=405):
            allowed = ", ".join(_methods(request))
            return answer(MethodNotAllowed(f"{request.method} is not possible here; {allowed} is"), {"Allow": allowed})
        case HTTPException(status_code=status) if status < 500:
            return answer(InvalidRequest(str(error.detail)))
    return answer(error)


def _methods(request: Request) -> list[str]:
    """All methods of a path; the framework names those of its first route only."""
    methods: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return sorted(methods)


class Guard:
    """An error that nobody knows: logged once, answered with its id; the framework's own guard would log it again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001  # that is what a guard is for
            if not started and scope["type"] == "http":
                await answer(error)(scope, receive, send)
            else:  # the server cuts the connection, which tells the client that something is missing
                errors.log_unknown(error, errors.new_trace_id())


class Head:
    """``HEAD`` is ``GET`` without the body, on every route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, bare)
