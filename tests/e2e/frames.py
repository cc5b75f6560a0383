"""A WebSocket that says what a test wants said, at the moment it wants it: frames as the wire protocol has them."""

import json
from typing import Any

from playwright.sync_api import Page, Route, WebSocketRoute

Frame = dict[str, Any]

TURN = "turn-1"


class Frames:
    """Stands between the page and ``/ws``. ``heard`` is what the page has sent, pings left out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.heard: list[Frame] = []
        self.log: list[Frame] = []
        self.connections: list[WebSocketRoute] = []
        self.is_mute = False
        """Whether frames get no reply but what the test sends."""
        page.route_web_socket("**/ws", self._connected)

    def _connected(self, connection: WebSocketRoute) -> None:
        self.connections.append(connection)
        connection.on_message(lambda message: self._heard(json.loads(message)))

    def _heard(self, frame: Frame) -> None:
        if frame["action"] == "ping":
            return
        self.heard.append(frame)
        if not self.is_mute:
            self._reply(frame)

    def _reply(self, frame: Frame) -> None:
        if frame["action"] == "ask":
            self.event("accepted", message_id=frame["message_id"], thread_id=frame["thread_id"])
        elif frame["action"] == "replay":
            for event in self.log[frame["after"] :]:
                self.send(event)

    @property
    def asked(self) -> Frame:
        """The last question."""
        return next(frame for frame in reversed(self.heard) if frame["action"] == "ask")

    def event(self, type_: str, **fields: Any) -> Frame:
        """The next event of the turn: stored, and sent."""
        event = self.store(type_, **fields)
        self.send(event)
        return event

    def store(self, type_: str, **fields: Any) -> Frame:
        """The next event of the turn: stored, but lost on the way."""
        event = {"v": 1, "type": type_, "turn_id": TURN, "thread_id": "t", "seq": len(self.log) + 1} | fields
        self.log.append(event)
        return event

    def send(self, frame: Frame) -> None:
        self.connections[-1].send(json.dumps(frame))

    def done(self, outcome: str = "answered", answer: str = "", citations: list[Frame] | None = None, **fields: Any) -> None:
        """The end of the turn, or its pause."""
        turn = {
            "turn_id": TURN,
            "thread_id": self.asked["thread_id"],
            "message_id": self.asked["message_id"],
            "question": self.asked["question"],
            "outcome": outcome,
            "answer": answer,
            "citations": citations or [],
            "usage": {"calls": 2},
            "timings_ms": {"total": 1200.0},
            "trace_id": "0",
        }
        self.event("done", turn=turn | fields)


def citation(number: int, at: list[int], *, quote: str = "exact words", start: int = 0, title: str = "A document") -> Frame:
    """A footnote of a document whose text is given by the test."""
    return {
        "number": number,
        "document_id": f"document-{number}",
        "passage_id": f"document-{number}.v1.0",
        "title": title,
        "uri": "file:///a.md",
        "version": "v1",
        "start": start,
        "end": start + len(quote),
        "quote": quote,
        "at": at,
    }


def serve_text(page: Page, document_id: str, text: str, version: str = "v1", **first: Any) -> None:
    """Let a document be this text, as two passages that overlap."""
    half = len(text) // 2
    passages = [
        {"passage_id": f"{document_id}.{version}.0", "start": 0, "end": half + 3, "text": text[: half + 3]} | first,
        {"passage_id": f"{document_id}.{version}.1", "start": half, "end": len(text), "text": text[half:]},
    ]
    body = {"document_id": document_id, "version": version, "characters": len(text), "passages": passages, "next_cursor": None}
    page.route(f"**/documents/{document_id}/passages*", lambda route: route.fulfill(json=body))


def resumable(page: Page) -> list[Frame]:
    """Replies that reach the server, from now on."""
    replies: list[Frame] = []

    def resume(route: Route) -> None:
        replies.append(route.request.post_data_json or {})
        route.fulfill(status=202, json={"turn_id": TURN, "thread_id": "t"})

    page.route("**/turns/*/resume", resume)
    return replies
