"""Bad input: one clear error that names the thing, in the one format, and the next request works."""

import json
from typing import Any
from uuid import uuid4

import httpx

from tests.e2e.client import Client
from tests.e2e.library import Library

_LONGEST = 8_000
_BAD_BODIES: tuple[tuple[int, str, Any], ...] = (
    (422, "/question", {}),
    (422, "/question", {"question": ""}),
    (422, "/question", {"question": " \n\t"}),
    (422, "/question", {"question": None}),
    (422, "/question", {"question": 7}),
    (422, "/question", {"question": ["a", "b"]}),
    (422, "/question", {"question": "x" * (_LONGEST + 1)}),
    (422, "/question", {"question": "x" * 100_000}),
    (422, "/thread_id", {"question": "Why?", "thread_id": "a b"}),
    (422, "/thread_id", {"question": "Why?", "thread_id": "x" * 65}),
    (422, "/message_id", {"question": "Why?", "message_id": "ü"}),
    (422, "/filters/tenant", {"question": "Why?", "filters": {"tenant": "other"}}),
    (422, "/filters/groups", {"question": "Why?", "filters": {"groups": ["board"]}}),
    (422, "/filters/date/after", {"question": "Why?", "filters": {"date": {"after": "2026"}}}),
    (422, "/filters", {"question": "Why?", "filters": "department=finance"}),
    (422, "/language", {"question": "Why?", "language": "not a language!"}),
    (422, "", ["question"]),
)


def names_what_is_wrong_with_a_question(client: Client, library: Library) -> None:
    for status, pointer, body in _BAD_BODIES:
        response = client.request("POST", "/chat", json=body)
        problem = _problem(response, status, "invalid_request")
        assert pointer in [error["pointer"] for error in problem["errors"]], f"{str(body)[:80]}: {problem}"
        assert all(error["message"] for error in problem["errors"])
    _still_answers(client, library)


def names_what_is_wrong_with_a_body(client: Client, library: Library) -> None:
    kind = {"Content-Type": "application/json"}
    for content in (b"", b"{", b'{"question": "Why?"', b"\xff\xfe", b"question=Why"):
        _problem(client.request("POST", "/chat", content=content, headers=kind), 400, "malformed_json")
    _problem(client.request("POST", "/chat", data={"question": "Why?"}), 415, "unsupported_media_type")
    _problem(client.request("POST", "/chat", json={"question": "Why?"}, headers={"Accept": "image/png"}), 406, "not_acceptable")
    huge = json.dumps({"question": "Why?", "filters": {"department": "x" * 1_100_000}}).encode()
    _problem(client.request("POST", "/chat", content=huge, headers=kind), 413, "too_large")
    _still_answers(client, library)


def takes_odd_characters_without_harm(client: Client, library: Library) -> None:
    """A lone surrogate is no text and is refused; all else is a question like another."""
    escaped = b'{"question": "What about \\ud800?"}'
    response = client.request("POST", "/chat", content=escaped, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422), response.text
    for question in ("?!…。、", "\0\x07\x1b[31m", "a\u202eb", "𝕬" * 100, "' OR 1=1 --", '"*NEAR(', "<script>alert(1)</script>"):
        response = client.request("POST", "/chat", json={"question": question})
        assert response.status_code in (200, 202, 422), f"{question!r}: {response.text}"
        if response.status_code != 422:
            turn = client.finished(response.json()["turn_id"])
            assert turn["outcome"] != "failed", f"{question!r}: {turn}"
    _still_answers(client, library)


def knows_nothing_under_unknown_ids(client: Client, library: Library) -> None:
    assert library.documents
    unknown = uuid4().hex
    for method, path in (
        ("GET", f"/turns/{unknown}"),
        ("GET", f"/turns/{unknown}/events"),
        ("GET", f"/turns/{unknown}/trace"),
        ("POST", f"/turns/{unknown}/cancel"),
        ("GET", f"/threads/{unknown}"),
        ("DELETE", f"/threads/{unknown}"),
        ("GET", f"/documents/{unknown}"),
        ("GET", f"/documents/{unknown}/passages"),
        ("GET", f"/documents/{unknown}/source"),
        ("DELETE", f"/documents/{unknown}"),
        ("GET", "/no/such/route"),
    ):
        _problem(client.request(method, path), 404, "not_found")
    body = {"rating": "up"}
    _problem(client.request("POST", f"/turns/{unknown}/feedback", json=body), 404, "not_found")
    _problem(client.request("POST", f"/turns/{unknown}/resume", json={"answer": "yes"}), 404, "not_found")
    _problem(client.request("PATCH", "/chat"), 405, "method_not_allowed")


def limits_pages(client: Client, library: Library) -> None:
    assert library.documents
    for query in ({"limit": 0}, {"limit": 101}, {"limit": "many"}, {"cursor": "no such cursor"}, {"status": "lost"}):
        _problem(client.request("GET", "/documents", params=query), 422, "invalid_request")
    for query in ({"size": 0}, {"size": 51}):
        _problem(client.request("POST", "/search", json={"query": "ferry", **query}), 422, "invalid_request")


def keeps_the_socket_open_after_a_bad_frame(client: Client, library: Library) -> None:
    question = f"When does the {library.name} ferry leave on weekdays?"
    frames = (
        ("{", "malformed_json"),
        ("[]", "invalid_request"),
        ('"ask"', "invalid_request"),
        ("{}", "unknown_action"),
        ('{"action": "dance"}', "unknown_action"),
        ('{"action": "ask", "question": "Why?"}', "invalid_request"),
        ('{"action": "ask", "message_id": "m1", "question": ""}', "invalid_request"),
        ('{"action": "ask", "message_id": "m1", "question": 7}', "invalid_request"),
        ('{"action": "replay", "turn_id": "unknown", "after": 0}', "not_found"),
        ('{"action": "cancel", "turn_id": "unknown"}', "not_found"),
        ('{"action": "resume", "turn_id": "unknown", "answer": "yes"}', "not_found"),
    )
    with client.socket() as socket:
        for frame, code in frames:
            socket.send(frame)
            event = json.loads(socket.recv(timeout=client.seconds))
            assert (event["type"], event.get("code")) == ("error", code), f"{frame}: {event}"
            assert event["message"]
            assert event["retryable"] is False
            assert "seq" not in event
        socket.send('{"action": "ping"}')
        assert json.loads(socket.recv(timeout=client.seconds))["type"] == "pong"
        socket.send(json.dumps({"action": "ask", "message_id": f"m-{uuid4().hex}", "question": question}))
        assert "07:41" in client.events(socket)[-1]["turn"]["answer"]


def _problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    called = f"{response.request.method} {response.request.url}"
    assert response.status_code == status, f"{called}: {response.status_code} {response.text[:500]}"
    assert response.headers["content-type"].startswith("application/problem+json"), called
    problem: dict[str, Any] = response.json()
    assert problem["code"] == code, f"{called}: {problem}"
    assert problem["status"] == status
    assert problem.keys() >= {"type", "title", "detail", "trace_id"}
    return problem


def _still_answers(client: Client, library: Library) -> None:
    assert "07:41" in client.ask(f"When does the {library.name} ferry leave on weekdays?")["answer"]


CHECKS = (
    names_what_is_wrong_with_a_question,
    names_what_is_wrong_with_a_body,
    takes_odd_characters_without_harm,
    knows_nothing_under_unknown_ids,
    limits_pages,
    keeps_the_socket_open_after_a_bad_frame,
)
