"""Turns over HTTP: three ways to be answered, pages, limits, and what belongs to nobody."""

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.functions.talk import seqs
from tests.server import SCRIPTED, start_server

Json = dict[str, Any]


async def chat(http: httpx.AsyncClient, question: str, **fields: object) -> Json:
    """A finished turn."""
    answer = await http.post("/chat", json={"question": question, **fields})
    assert answer.status_code == 200, answer.text
    turn: Json = answer.json()
    return turn


def problem(answer: httpx.Response, status: int, code: str) -> Json:
    """The body of a refusal, in the form of RFC 9457."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: Json = answer.json()
    assert {"type", "title", "status", "detail", "code", "trace_id"} <= set(body)
    assert (body["status"], body["code"]) == (status, code)
    return body


def sse(text: str) -> list[Json]:
    """The events of a stream; heartbeats have no id."""
    events = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "id" in fields:
            event = json.loads(fields["data"])
            assert (int(fields["id"]), fields["event"]) == (event["seq"], event["type"])
            events.append(event)
    return events


async def test_a_turn_is_the_answer_of_chat(http: httpx.AsyncClient) -> None:
    turn = await chat(http, "tokens=3", thread_id="plain")
    assert (turn["outcome"], turn["answer"], turn["thread_id"]) == ("answered", "word0 word1 word2 ", "plain")
    assert (await http.get(f"/turns/{turn['turn_id']}")).json() == turn


async def test_events_come_as_a_stream_and_again_from_the_last_one_seen(http: httpx.AsyncClient) -> None:
    stream = await http.post("/chat", json={"question": "tokens=3"}, headers={"Accept": "text/event-stream"})
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = sse(stream.text)
    assert seqs(events) == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "done"
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "2"}
    again = await http.get(f"/turns/{events[0]['turn_id']}/events", headers=headers)
    assert sse(again.text) == events[2:]


async def test_a_client_that_does_not_wait_gets_the_id_and_the_turn_runs_on(http: httpx.AsyncClient) -> None:
    started = await http.post("/chat", json={"question": "tokens=5 every=0.05"}, headers={"Prefer": "respond-async"})
    assert started.status_code == 202
    turn_id = started.json()["turn_id"]
    assert (await http.get(f"/turns/{turn_id}")).json()["outcome"] is None
    first = (await http.get(f"/turns/{turn_id}/events", params={"after": 0, "wait": 5})).json()["events"]
    assert first[0]["type"] == "accepted"
    for _ in range(100):
        if (await http.get(f"/turns/{turn_id}")).json()["outcome"]:
            break
        await asyncio.sleep(0.05)
    assert (await http.get(f"/turns/{turn_id}")).json()["outcome"] == "answered"


async def test_a_busy_thread_says_when_to_come_back(http: httpx.AsyncClient) -> None:
    started = await http.post("/chat", json={"question": "hang=1", "thread_id": "busy"}, headers={"Prefer": "respond-async"})
    refused = await http.post("/chat", json={"question": "tokens=1", "thread_id": "busy"})
    problem(refused, 409, "thread_busy")
    assert int(refused.headers["retry-after"]) > 0
    turn_id = started.json()["turn_id"]
    assert (await http.post(f"/turns/{turn_id}/cancel")).status_code == 202
    for _ in range(100):
        if (await http.get(f"/turns/{turn_id}")).json()["outcome"] == "cancelled":
            break
        await asyncio.sleep(0.02)
    problem(await http.post(f"/turns/{turn_id}/cancel"), 409, "turn_finished")
    assert (await chat(http, "tokens=1", thread_id="busy"))["outcome"] == "answered"


async def test_a_reply_to_a_turn_that_waits_for_none_is_refused(http: httpx.AsyncClient) -> None:
    turn = await chat(http, "tokens=1")
    problem(await http.post(f"/turns/{turn['turn_id']}/resume", json={"answer": "x"}), 409, "not_waiting")


async def test_feedback_is_replaced_and_checked(http: httpx.AsyncClient) -> None:
    turn_id = (await chat(http, "tokens=1"))["turn_id"]
    for body in ({"rating": "up"}, {"rating": "down", "comment": "wrong page"}):
        assert (await http.post(f"/turns/{turn_id}/feedback", json=body)).status_code == 204
    refused = problem(await http.post(f"/turns/{turn_id}/feedback", json={"rating": "meh"}), 422, "invalid_request")
    assert refused["errors"][0]["pointer"] == "/rating"


async def test_a_thread_is_read_in_pages_and_gone_once_deleted(http: httpx.AsyncClient) -> None:
    thread = f"paged-{uuid.uuid4().hex}"
    asked = [await chat(http, f"tokens=1 n={n}", thread_id=thread) for n in range(5)]
    found: list[Json] = []
    cursor: str | None = None
    while True:
        page = (await http.get(f"/threads/{thread}", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        found += page["turns"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == asked
    listed = (await http.get("/threads", params={"limit": 1})).json()
    assert (listed["threads"][0]["thread_id"], listed["threads"][0]["turns"]) == (thread, 5)
    assert listed["next_cursor"]
    assert (await http.delete(f"/threads/{thread}")).status_code == 204
    problem(await http.get(f"/threads/{thread}"), 404, "not_found")
    problem(await http.get(f"/turns/{asked[0]['turn_id']}"), 404, "not_found")


@pytest.mark.parametrize(
    "path", ["/turns/t_none", "/turns/t_none/events", "/turns/t_none/trace", "/threads/none", "/documents/none"]
)
async def test_what_nobody_has_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    problem(await http.get(path), 404, "not_found")


@pytest.mark.parametrize("cursor", ["x", "!!!", "a" * 5_000])
async def test_a_cursor_that_is_none_is_refused(http: httpx.AsyncClient, cursor: str) -> None:
    problem(await http.get("/threads", params={"cursor": cursor}), 422, "invalid_request")


def test_a_user_who_asks_too_much_is_told_when_to_go_on(tmp_path: Path) -> None:
    env = {"FOOTNOTE_RATE_PER_MINUTE": "60", "FOOTNOTE_RATE_BURST": "2"}
    running = start_server(tmp_path, program=SCRIPTED, env=env)
    try:
        with httpx.Client(base_url=running.url, timeout=60, trust_env=False) as client:
            answers = [client.post("/chat", json={"question": f"tokens=1 n={n}"}) for n in range(4)]
            limited = next(answer for answer in answers if answer.status_code != 200)
            problem(limited, 429, "rate_limited")
            assert 1 <= int(limited.headers["retry-after"]) <= 60
    finally:
        running.stop()
