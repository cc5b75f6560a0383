"""JSON bodies are read here, not by the framework: it would let pass what two readers read differently."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions import wire
from functions.api.dependencies import identify
from functions.errors import MalformedJson, UnsupportedMediaType
from graph.errors import TooLarge

JSON_LIMIT_BYTES = 1024 * 1024
_FORM_OVERHEAD_BYTES = 1024 * 1024
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class JsonRoute(APIRoute):
    """A route whose body, where it has one, must be JSON. It is read once it is known who sends it."""

    def get_route_handler(self) -> Endpoint:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def read_and_handle(request: Request) -> Response:
            await identify(request)
            check_type(request, "application/json")
            body = await request.body()
            if not body:
                raise MalformedJson("the body is empty; send a JSON object")
            request._json = wire.loads(body)  # noqa: SLF001  # where Request.json() keeps it
            return await handle(request)

        return read_and_handle


def check_type(request: Request, needed: str) -> None:
    """See that the body is of this type.

    Raises:
        UnsupportedMediaType: it is not.
    """
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != needed and not (needed == "application/json" and sent.startswith("application/") and sent.endswith("+json")):
        raise UnsupportedMediaType(f"the body must be {needed}, not {sent or 'without a Content-Type'}")


class BodyLimit:
    """Bodies over their limit are refused while they arrive: JSON, and files."""

    def __init__(self, app: ASGIApp, *, file_limit_bytes: int) -> None:
        self._app = app
        self._file_limit_bytes = file_limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_file = scope["path"] == "/documents"
        limit = self._file_limit_bytes + _FORM_OVERHEAD_BYTES if is_file else JSON_LIMIT_BYTES
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        received = int(declared) if declared.isdigit() and int(declared) > limit else 0

        async def limited() -> Message:
            nonlocal received
            if received <= limit:
                message = await receive()
                received += len(message.get("body", b""))
            if received > limit:
                what = "file" if is_file else "body"
                most = self._file_limit_bytes if is_file else limit
                raise TooLarge(f"the {what} is over {most // 1024**2} MB; send a smaller one")
            return message

        await self._app(scope, limited, send)
