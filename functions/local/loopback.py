"""Keeps other sites out. A browser lets any page talk to a server on this machine; only the server can refuse.

A page of another site is told by its ``Origin``; one whose name was made to resolve to this machine (DNS rebinding) by its
``Host``.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from functions.api.problems import answer
from functions.errors import Forbidden


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine, for this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class LoopbackOnly:
    """Lets pass what comes from this machine's own programs and from the page that this server shows."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            refusal = _refusal(Headers(scope=scope))
            if refusal is not None:
                # A WebSocket that was not accepted yet may be answered like any request.
                await answer(Forbidden(refusal))(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refusal(headers: Headers) -> str | None:
    host, origin = headers.get("host", ""), headers.get("origin")
    if not is_loopback(_name(f"//{host}")):
        return "this server answers under localhost or a loopback address only"
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return "another site's page may not use this server; open the server's own page"
    return None


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
