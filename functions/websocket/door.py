"""Frames of API Gateway's WebSocket: what is asked for is begun here, and done by the worker."""

import base64
import secrets
from typing import TYPE_CHECKING, Any

from functions import errors, frames, wire
from functions.bodies import AskFrame, CancelFrame, Frame, ReplayFrame, ResumeFrame
from functions.errors import Unauthorized
from functions.identity import LOCAL, Caller, from_context
from functions.protocol import Event, TurnEvent
from functions.turns import Turns
from graph.errors import InvalidSetting
from graph.tracing import Trace
from graph.wiring import Wiring

if TYPE_CHECKING:
    from graph.agent import Agent


class Door:
    """The connections of one API, and the worker behind it."""

    def __init__(self, wiring: Wiring) -> None:
        if wiring.worker is None:
            raise InvalidSetting("FOOTNOTE_WORKER is needed, the function that runs turns")
        self._wiring = wiring
        self._worker = wiring.worker
        self._turns = Turns(wiring.table, _no_agent, wiring.settings, holder="websocket", worker=wiring.worker)

    async def take(self, event: dict[str, Any], trace: Trace) -> None:
        """Act on a frame; whatever it is, the client hears of it."""
        connection = Connection(self._wiring, event["requestContext"]["connectionId"])
        value: dict[str, object] = {}
        try:
            caller = self._caller(event["requestContext"].get("authorizer") or {})
            value = frames.read(_text(event))
            await self._act(caller, frames.check(value), connection, trace)
        except Exception as error:  # noqa: BLE001  # every frame gets its answer
            names = {name: frames.name_of(value, name) for name in ("message_id", "turn_id")}
            await connection.send(errors.event(error, trace.trace_id, **names))

    async def _act(self, caller: Caller, frame: Frame, connection: "Connection", trace: Trace) -> None:
        turns = self._turns
        match frame:
            case AskFrame():
                turn_id = (await turns.ask(caller, frame, trace=trace, channel=connection))["turn_id"]
                if not connection.has_begun:  # the message was sent before, and joins its turn
                    await self._follow(turn_id, connection, after=0)
            case ResumeFrame():
                await turns.resume(caller, frame.turn_id, frame, channel=connection)
            case CancelFrame():
                await turns.cancel(caller, frame.turn_id)
            case ReplayFrame():
                await turns.log.get(caller, frame.turn_id)
                await self._follow(frame.turn_id, connection, after=frame.after)
            case _:
                await connection.send({"v": 1, "type": "pong"})

    async def _follow(self, turn_id: str, connection: "Connection", *, after: int) -> None:
        """Have the turn's events sent from there on; in place of whoever sends them on this connection so far."""
        teller = f"follow.{secrets.token_hex(8)}"
        await self._turns.log.connect(turn_id, connection.connection_id, teller)
        told = {"id": connection.connection_id, "teller": teller}
        await self._worker.send({"do": "follow", "turn_id": turn_id, "after": after, "connection": told})

    def _caller(self, authorized: dict[str, str]) -> Caller:
        """Whom the authorizer let in; without one, and with a laptop's stores, the local user."""
        if "tenant" in authorized:
            return from_context(authorized)
        if self._wiring.settings.table is None:
            return LOCAL
        raise Unauthorized("the connection was not authorized; open it anew")


class Connection:
    """A client."""

    def __init__(self, wiring: Wiring, connection_id: str) -> None:
        self.connection_id = connection_id
        self.has_begun = False
        """Whether a turn began on it, with this frame."""
        self._wiring = wiring

    async def begin(self, event: TurnEvent) -> None:
        self.has_begun = True
        await self.send(event)

    async def send(self, event: Event) -> None:
        """Send an event; who is gone may ask for it again on another connection."""
        await self._wiring.callback.post(self.connection_id, wire.dumps(event))


def _text(event: dict[str, Any]) -> str | bytes | None:
    body = event.get("body")
    return base64.b64decode(body) if body is not None and event.get("isBase64Encoded") else body


async def _no_agent() -> "Agent":
    raise AssertionError("turns are the worker's")
