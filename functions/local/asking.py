"""One turn for the command line: in this process, or over the WebSocket of a running Footnote."""

import asyncio
import json
import secrets
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Protocol, cast
from urllib.parse import urlsplit

from functions.bodies import AskBody
from functions.identity import LOCAL
from functions.protocol import EVENT, Error, TurnEvent
from functions.services import Services
from functions.shapes import Trace
from graph.errors import InvalidSetting, Unavailable
from graph.wiring import Wiring

_ATTEMPTS = 5
_BACKOFF_S = 0.5


class Door(Protocol):
    """A way to a Footnote."""

    def ask(self, body: AskBody) -> AsyncGenerator[TurnEvent | Error, None]:
        """Events of a turn until ``done``, or the ``error`` that refused it."""
        ...

    async def trace(self, turn_id: str) -> Trace | None:
        """What the turn did, where the door shows it."""
        ...


class Here:
    """The stores of a home, in this process."""

    def __init__(self, wiring: Wiring) -> None:
        self._services = Services(wiring, kind="ask")

    async def ask(self, body: AskBody) -> AsyncGenerator[TurnEvent | Error, None]:
        """Events of a turn."""
        turns = self._services.turns
        turn_id = (await turns.ask(LOCAL, body))["turn_id"]
        tasks = set[asyncio.Task[object]]()
        on_interrupt(lambda: tasks.add(asyncio.create_task(turns.cancel(LOCAL, turn_id))))
        async for event in turns.followers.follow(LOCAL, turn_id):
            if event["type"] != "heartbeat":
                yield event

    async def trace(self, turn_id: str) -> Trace | None:
        """What the turn did."""
        return await self._services.turns.log.trace(turn_id)


class There:
    """A running or deployed Footnote. A connection that drops is made anew, and nothing is lost."""

    def __init__(self, url: str, token: str | None) -> None:
        self._address = socket_address(url)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def ask(self, body: AskBody) -> AsyncGenerator[TurnEvent | Error, None]:
        """Events of a turn."""
        from websockets.exceptions import ConnectionClosed

        message_id = body.message_id or f"m_{secrets.token_hex(12)}"
        frame: dict[str, object] = {"action": "ask", **body.model_dump(exclude_none=True), "message_id": message_id}
        last, failures = 0, 0
        while True:
            try:
                async with aclosing(self._events(frame)) as events:
                    async for event in events:
                        if event["type"] != "error" and event["seq"] <= last:
                            continue
                        yield event
                        if event["type"] in ("done", "error"):
                            return
                        event = cast("TurnEvent", event)
                        last, failures = event["seq"], 0
                        frame = {"action": "replay", "turn_id": event["turn_id"], "after": last}
            except (OSError, ConnectionClosed, TimeoutError) as error:
                failures += 1
                if failures >= (_ATTEMPTS if last else 1):
                    raise Unavailable(f"{self._address} cannot be reached ({error})") from error
                await asyncio.sleep(_BACKOFF_S * 2**failures)

    async def _events(self, frame: dict[str, object]) -> AsyncGenerator[TurnEvent | Error, None]:
        from websockets.asyncio.client import connect

        async with connect(self._address, additional_headers=self._headers, max_size=None, proxy=None) as socket:
            turn_ids = set[str]()
            tasks = set[asyncio.Task[None]]()

            def cancel() -> None:
                tasks.update(
                    asyncio.create_task(socket.send(json.dumps({"action": "cancel", "turn_id": one}))) for one in turn_ids
                )

            on_interrupt(cancel)
            await socket.send(json.dumps(frame))
            async for message in socket:
                event = EVENT.validate_json(message)
                if event["type"] in ("heartbeat", "pong"):
                    continue
                event = cast("TurnEvent | Error", event)
                if "turn_id" in event:
                    turn_ids.add(event["turn_id"])
                yield event

    async def trace(self, turn_id: str) -> Trace | None:
        """What the turn did, where the HTTP API has the same host."""
        import httpx

        base = self._address.replace("ws", "http", 1).removesuffix("/ws")
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(headers=self._headers, trust_env=False) as client:
                answer = await client.get(f"{base}/turns/{turn_id}/trace")
                if answer.is_success:
                    trace: Trace = answer.json()
                    return trace
        return None


def socket_address(url: str) -> str:
    """The WebSocket of a Footnote: of a laptop's server at ``/ws``; AWS's stage address is one already.

    Raises:
        InvalidSetting: it is no address.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https", "ws", "wss"):
        raise InvalidSetting(f"--url {url!r} is not an address; give one such as http://127.0.0.1:8000")
    if parts.scheme in ("ws", "wss") and parts.path.strip("/"):
        return url
    scheme = "wss" if parts.scheme in ("https", "wss") else "ws"
    path = parts.path.rstrip("/").removesuffix("/ws")
    return f"{scheme}://{parts.netloc}{path}/ws"


def on_interrupt(act: Callable[[], None]) -> None:
    """What Ctrl-C does from now on."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, act)
