"""The WebSocket of a laptop's server: frames in, events out."""

import asyncio
import logging
from collections.abc import Mapping

from starlette.websockets import WebSocket, WebSocketDisconnect

from functions import errors, frames, wire
from functions.api.problems import answer
from functions.bodies import AskFrame, CancelFrame, Frame, ReplayFrame, ResumeFrame
from functions.identity import Caller
from functions.services import Services
from graph.errors import FootnoteError, NotFound

logger = logging.getLogger(__name__)


async def serve(socket: WebSocket) -> None:
    """Talk to one client until it goes."""
    services: Services = socket.app.state.services
    try:
        caller = await services.gate.socket(socket.headers.get("authorization"), socket.query_params.get("ticket"))
    except FootnoteError as error:
        await socket.send_denial_response(answer(error))
        return
    await socket.accept()
    await Connection(socket, services, caller).run()


async def refuse(socket: WebSocket) -> None:
    """Say that there is no WebSocket at this path; the framework would say that it is forbidden."""
    await socket.send_denial_response(answer(NotFound(f"there is no WebSocket at {socket.url.path}; it is at /ws")))


class Connection:
    """One client. It may follow many turns, each in a task of its own; their events do not mix within a turn."""

    def __init__(self, socket: WebSocket, services: Services, caller: Caller) -> None:
        self._socket = socket
        self._turns = services.turns
        self._caller = caller
        self._following: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Act on frames, one after another. The turns run on when the client is gone."""
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                text = message.get("text")
                await self._take(message.get("bytes") if text is None else text)
        except WebSocketDisconnect:
            return
        finally:
            tasks = list(self._following.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, text: str | bytes | None) -> None:
        value: dict[str, object] = {}
        try:
            value = frames.read(text)
            await self._act(frames.check(value))
        except WebSocketDisconnect:
            raise
        except Exception as error:  # noqa: BLE001  # every frame gets its answer
            await self._refuse(error, message_id=frames.name_of(value, "message_id"), turn_id=frames.name_of(value, "turn_id"))

    async def _act(self, frame: Frame) -> None:
        turns, caller = self._turns, self._caller
        match frame:
            case AskFrame():
                await self._follow((await turns.ask(caller, frame))["turn_id"], after=0)
            case ResumeFrame():
                paused = await turns.log.get(caller, frame.turn_id)
                await turns.resume(caller, frame.turn_id, frame)
                await self._follow(frame.turn_id, after=paused["seq"])
            case CancelFrame():
                await turns.cancel(caller, frame.turn_id)
            case ReplayFrame():
                await turns.log.get(caller, frame.turn_id)
                await self._follow(frame.turn_id, after=frame.after)
            case _:
                await self._send({"v": 1, "type": "pong"})

    async def _follow(self, turn_id: str, *, after: int) -> None:
        """Send the turn's events; in place of whoever sends them on this connection so far."""
        earlier = self._following.pop(turn_id, None)
        if earlier is not None:
            earlier.cancel()
            await asyncio.gather(earlier, return_exceptions=True)
        task = self._following[turn_id] = asyncio.create_task(self._relay(turn_id, after))
        task.add_done_callback(lambda done: self._following.get(turn_id) is done and self._following.pop(turn_id))

    async def _relay(self, turn_id: str, after: int) -> None:
        try:
            async for event in self._turns.followers.follow(self._caller, turn_id, after=after):
                await self._send(event)
        except WebSocketDisconnect:
            return
        except Exception as error:  # noqa: BLE001  # the client must know that nothing more will come
            await self._refuse(error, turn_id=turn_id)

    async def _refuse(self, error: Exception, *, message_id: str | None = None, turn_id: str | None = None) -> None:
        trace_id = errors.new_trace_id()
        await self._send(errors.event(error, trace_id, message_id=message_id, turn_id=turn_id))

    async def _send(self, event: Mapping[str, object]) -> None:
        try:
            await self._socket.send_text(wire.dumps(event).decode())
        except RuntimeError as error:  # the framework's word for a connection that was closed meanwhile
            raise WebSocketDisconnect(1006) from error
