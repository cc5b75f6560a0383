"""The command `footnote doctor --url`: a running or deployed Footnote, as its clients meet it."""

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx

from functions.local.asking import socket_address
from functions.local.clocks import compare
from functions.local.finding import Finding, examine
from graph.errors import Unavailable

_QUESTION = "What are these documents about?"


async def doctor(url: str, token: str | None) -> int:
    """Check all that is seen from outside; 1 if something fails. A WebSocket's address is that of a stage in AWS.

    Raises:
        InvalidSetting: the address is none.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = socket_address(url)
    if url.startswith(("ws://", "wss://")):
        return await examine([("websocket", partial(_websocket, address, headers))])
    async with httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=60, trust_env=False) as client:
        patient = Patient(client)
        if await examine([("health", patient.health)]):
            return 1
        return await examine(
            [
                ("clock", patient.clock),
                ("identity", patient.identity),
                ("documents", patient.documents),
                ("index", patient.search),
                ("websocket", partial(_socket_beside, patient, address, headers)),
                ("turn", patient.turn),
            ]
        )


class Patient:
    """An HTTP API."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def health(self) -> Finding:
        """Whether it is there."""
        answer = await self._ask("GET", "/health")
        body = _object(answer)
        if answer.status_code != 200 or body.get("status") != "ok":
            return Finding("fails", f"GET /health answers {answer.status_code}", "is this the address of a Footnote?")
        return Finding("ok", f"version {body.get('version')}")

    async def clock(self) -> Finding:
        """Whether it has our time."""
        return compare((await self._ask("GET", "/health")).headers.get("Date"))

    async def identity(self) -> Finding:
        """Whether it lets us in."""
        answer = await self._ask("GET", "/threads?limit=1")
        if answer.status_code == 401:
            return Finding("fails", f"we are not let in: {_why(answer)}", "give --token or FOOTNOTE_TOKEN")
        return Finding("ok", "we are let in") if answer.is_success else _refused(answer)

    async def documents(self) -> Finding:
        """Whether documents are there, and read."""
        answer, failed = [await self._ask("GET", f"/documents?limit=1{more}") for more in ("", "&status=failed")]
        if not answer.is_success or not failed.is_success:
            return _refused(answer if not answer.is_success else failed)
        if not _object(answer)["documents"]:
            return Finding("note", "there are none", "put a file into the bucket, or use footnote ingest")
        if failed_ones := _object(failed)["documents"]:
            (first,) = failed_ones
            return Finding("note", f"{first['path']} could not be read: {first['error']['message']}", first["error"]["remedy"])
        return Finding("ok", "there are some, and none has failed")

    async def search(self) -> Finding:
        """Whether both arms of the search answer."""
        answer = await self._ask("POST", "/search", {"query": _QUESTION, "size": 1})
        if not answer.is_success:
            return _refused(answer)
        found = _object(answer)
        if found["degraded"]:
            return Finding("fails", f"the search lacks {', '.join(found['degraded'])}", "see to the embedder and the index")
        return Finding("ok", f"answers in {found['took_ms']} ms")

    async def ticket(self) -> str | None:
        """A ticket, where one is issued to us."""
        answer = await self._ask("POST", "/tickets")
        return str(_object(answer)["ticket"]) if answer.is_success else None

    async def turn(self) -> Finding:
        """Whether a question is answered, and by what; the thread is forgotten afterwards."""
        answer = await self._ask("POST", "/chat", {"question": _QUESTION})
        if not answer.is_success:
            return _refused(answer)
        turn = _object(answer)
        while turn.get("outcome") is None:
            await asyncio.sleep(0.5)
            turn = _object(await self._ask("GET", f"/turns/{turn['turn_id']}"))
        await self._ask("DELETE", f"/threads/{turn['thread_id']}")
        said = f"{turn['outcome']} after {turn['timings_ms']['total'] / 1000:.1f} s and {turn['usage']['calls']} model calls"
        if turn["outcome"] == "failed":
            return Finding("fails", f"{said}: {turn['error']['message']}")
        return Finding("note" if turn.get("note") else "ok", f"{said}. {turn.get('note') or ''}")

    async def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> httpx.Response:
        try:
            return await self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            said = str(error) or type(error).__name__
            raise Unavailable(
                f"{self._client.base_url} cannot be reached ({said}); see to the address and the network"
            ) from None


async def _socket_beside(patient: Patient, address: str, headers: Mapping[str, str]) -> Finding:
    ticket = await patient.ticket()
    finding = await _websocket(f"{address}?ticket={ticket}" if ticket else address, {} if ticket else headers)
    refusals = ("401", "403", "404") if ticket else ("404",)  # a gateway asks for a token first, whatever the path
    if finding.state == "fails" and finding.detail.endswith(refusals):
        return Finding("note", "it is not at /ws, as in AWS", "give its own address: --url wss://…")
    return finding


async def _websocket(address: str, headers: Mapping[str, str]) -> Finding:
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus, WebSocketException

    try:
        async with connect(address, additional_headers=headers, proxy=None) as socket:
            await socket.send(json.dumps({"action": "ping"}))
            said = json.loads(await socket.recv())["type"]
    except InvalidStatus as error:
        status = error.response.status_code
        remedy = "give --token or FOOTNOTE_TOKEN" if status in (401, 403) else ""
        return Finding("fails", f"the handshake is answered with {status}", remedy)
    except (OSError, WebSocketException, ValueError) as error:
        return Finding("fails", f"it cannot be reached ({error})", "see to the address and the network")
    return Finding("ok", "answers") if said == "pong" else Finding("fails", f"a ping is answered with {said}")


def _object(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def _why(answer: httpx.Response) -> str:
    body = _object(answer)
    return str(body.get("detail") or body.get("message") or answer.reason_phrase)


def _refused(answer: httpx.Response) -> Finding:
    return Finding("fails", f"{answer.request.url.path} answers {answer.status_code}: {_why(answer)}")
