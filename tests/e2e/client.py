"""A client of Footnote as somebody would write one from its contract: nothing of Footnote is imported here."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from websockets.sync.client import ClientConnection, connect

Json = dict[str, Any]
_OVER = ("ready", "failed")


@dataclass(frozen=True, kw_only=True)
class Client:
    """One Footnote, over HTTP and the WebSocket."""

    http: httpx.Client
    socket_url: str
    seconds: float = 60
    """How long a document or a turn may take."""

    @classmethod
    @contextmanager
    def of(
        cls, url: str, *, socket_url: str | None = None, token: str | None = None, seconds: float = 60
    ) -> Iterator["Client"]:
        """A client of the Footnote at a URL; a deployed one has another address for its WebSocket."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        socket_url = socket_url or f"ws{url.removeprefix('http').rstrip('/')}/ws"
        with httpx.Client(base_url=url, headers=headers, timeout=seconds, trust_env=False) as http:
            yield cls(http=http, socket_url=socket_url, seconds=seconds)

    def json(self, method: str, path: str, *, status: int = 200, **request: Any) -> Json:
        """The JSON answer to a request that must have this status; a rate limit is waited for."""
        response = self.request(method, path, **request)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text[:500]}"
        answer: Json = response.json() if response.content else {}
        return answer

    def request(self, method: str, path: str, **request: Any) -> httpx.Response:
        """The answer to a request, after the rate limit if there is one."""
        until = time.monotonic() + self.seconds
        while True:
            response = self.http.request(method, path, **request)
            if response.status_code != 429 or time.monotonic() > until:
                return response
            time.sleep(float(response.headers["Retry-After"]))

    # --- Turns --------------------------------------------------------------------------------------------------------

    def ask(self, question: str, **body: Any) -> Json:
        """A finished turn over ``POST /chat``."""
        response = self.request("POST", "/chat", json={"question": question, **body})
        assert response.status_code in (200, 202), f"{question!r}: {response.status_code} {response.text[:500]}"
        turn: Json = response.json()
        return turn if response.status_code == 200 else self.finished(turn["turn_id"])

    def finished(self, turn_id: str) -> Json:
        """A turn, once it has an outcome."""
        until = time.monotonic() + self.seconds
        while (turn := self.json("GET", f"/turns/{turn_id}"))["outcome"] is None:
            assert time.monotonic() < until, f"turn {turn_id} has no outcome after {self.seconds} s"
            time.sleep(0.2)
        return turn

    def ask_sse(self, question: str, **body: Any) -> list[Json]:
        """Events of a turn over server-sent events, heartbeats left out; each ``id:`` is checked against its ``seq``."""
        headers = {"Accept": "text/event-stream"}
        response = self.request("POST", "/chat", json={"question": question, **body}, headers=headers)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        return list(_sse_events(response.text.split("\n")))

    def socket(self) -> ClientConnection:
        """An open WebSocket."""
        authorization = self.http.headers.get("Authorization")
        headers = {"Authorization": authorization} if authorization else {}
        return connect(self.socket_url, additional_headers=headers, proxy=None, open_timeout=self.seconds)

    def ask_socket(self, question: str, **body: Any) -> list[Json]:
        """Events of a turn over a WebSocket of its own, heartbeats left out."""
        with self.socket() as socket:
            while True:
                socket.send(json.dumps({"action": "ask", "message_id": f"m-{uuid4().hex}", "question": question, **body}))
                events = self.events(socket)
                if events[-1].get("code") != "rate_limited":
                    return events
                time.sleep(2)

    def events(self, socket: ClientConnection) -> list[Json]:
        """What a WebSocket receives until ``done`` or ``error``, heartbeats left out."""
        events: list[Json] = []
        while not events or events[-1]["type"] not in ("done", "error"):
            event = json.loads(socket.recv(timeout=self.seconds))
            assert event["v"] == 1
            if event["type"] != "heartbeat":
                events.append(event)
        return events

    # --- Documents ----------------------------------------------------------------------------------------------------

    def upload(self, path: str, body: str | bytes, **meta: Any) -> Json:
        """A document that has been put in and read."""
        data = {"meta": json.dumps(meta)} if meta else {}
        files = {"file": (path, body.encode() if isinstance(body, str) else body)}
        document = self.json("POST", "/documents", status=202, files=files, data=data)
        return self.read_through(document["document_id"])

    def read_through(self, document_id: str) -> Json:
        """A document, once it is ``ready`` or ``failed``."""
        until = time.monotonic() + self.seconds
        while (document := self.json("GET", f"/documents/{document_id}"))["status"] not in _OVER:
            assert time.monotonic() < until, f"{document['path']} is {document['status']} after {self.seconds} s"
            time.sleep(0.1)
        return document

    def documents(self) -> list[Json]:
        """All documents."""
        return list(self.pages("/documents", "documents"))

    def read_all(self, count: int, seconds: float) -> list[Json]:
        """All documents, once there are so many and each is ``ready`` or ``failed``."""
        until = time.monotonic() + seconds
        while len(documents := self.documents()) < count or any(one["status"] not in _OVER for one in documents):
            assert time.monotonic() < until, f"{sum(one['status'] in _OVER for one in documents)} of {count} are read"
            time.sleep(0.5)
        return documents

    def passages(self, document_id: str) -> list[Json]:
        """All passages of a document, in reading order."""
        return list(self.pages(f"/documents/{document_id}/passages", "passages"))

    def pages(self, path: str, name: str) -> Iterator[Json]:
        """All entries of a list that comes in pages."""
        cursor: str | None = None
        while True:
            page = self.json("GET", path, params={"limit": 100, **({"cursor": cursor} if cursor else {})})
            yield from page[name]
            cursor = page["next_cursor"]
            if cursor is None:
                return


def _sse_events(lines: Iterable[str]) -> Iterator[Json]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "id" in fields:
            event: Json = json.loads(fields["data"])
            assert int(fields["id"]) == event["seq"]
            assert fields["event"] == event["type"]
            yield event
        fields = {}
