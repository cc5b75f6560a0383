"""Turns and threads over HTTP, of a real server with the scripted agent."""

import asyncio
import json
import time
import uuid
from typing import Any

import httpx
import pytest

from tests.functions.talk import Talk, seqs
from tests.server import RunningServer

Json = dict[str, Any]
SSE = {"Accept": "text/event-stream"}


async def ask(http: httpx.AsyncClient, question: str, **body: object) -> Json:
    """A finished turn."""
    response = await http.post("/chat", json={"question": question, **body})
    assert response.status_code == 200, response.text
    turn: Json = response.json()
    return turn


async def begin(http: httpx.AsyncClient, question: str, **body: object) -> str:
    """The id of a turn that runs."""
    response = await http.post("/chat", json={"question": question, **body}, headers={"Prefer": "respond-async"})
    assert response.status_code == 202, response.text
    return str(response.json()["turn_id"])


def sent(text: str) -> list[Json]:
    """Server-sent events, with ``id`` and ``event`` checked against the data."""
    events: list[Json] = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        event = json.loads(fields["data"])
        assert (fields["id"], fields["event"]) == (str(event["seq"]), event["type"])
        events.append(event)
    return events


def new(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex}"


# --- Being answered ---------------------------------------------------------------------------------------------------


async def test_a_question_is_answered_by_the_whole_turn(http: httpx.AsyncClient) -> None:
    turn = await ask(http, "tokens=2", thread_id=new("th"))

    assert (turn["outcome"], turn["answer"]) == ("answered", "word0 word1 ")
    assert (await http.get(f"/turns/{turn['turn_id']}")).json() == turn


async def test_a_failed_turn_is_answered_by_200_too(http: httpx.AsyncClient) -> None:
    assert (await ask(http, "crash=1"))["outcome"] == "failed"


async def test_a_client_that_will_not_wait_gets_an_id_and_looks_later(http: httpx.AsyncClient) -> None:
    body = {"question": "hang=1"}
    response = await http.post("/chat", json=body, headers={"Prefer": "wait=5, respond-async"})
    turn_id = response.json()["turn_id"]

    assert response.status_code == 202
    assert response.json().keys() == {"turn_id", "thread_id"}
    assert (response.headers["Preference-Applied"], response.headers["Location"]) == ("respond-async", f"/turns/{turn_id}")
    running = (await http.get(response.headers["Location"])).json()
    assert (running["outcome"], running["answer"], running["citations"]) == (None, "", [])
    trace = (await http.get(f"/turns/{turn_id}/trace")).json()
    assert trace == {"trace_id": running["trace_id"], "turn_id": turn_id, "spans": []}
    assert (await http.post(f"/turns/{turn_id}/cancel")).status_code == 202
    await http.get(f"/turns/{turn_id}/events", headers=SSE)
    assert (await http.get(f"/turns/{turn_id}")).json()["outcome"] == "cancelled"


async def test_the_same_message_over_http_is_the_same_turn(http: httpx.AsyncClient) -> None:
    message_id = new("m")
    first, second = await asyncio.gather(*(ask(http, "tokens=3 every=0.02", message_id=message_id) for _ in range(2)))
    other = await http.post("/chat", json={"question": "tokens=4", "message_id": message_id})

    assert first == second
    assert (other.status_code, other.json()["code"]) == (409, "message_id_reused")


async def test_a_turn_is_streamed_to_who_accepts_events(http: httpx.AsyncClient) -> None:
    response = await http.post("/chat", json={"question": "tokens=20 every=0.01"}, headers=SSE)
    events = sent(response.text)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert seqs(events) == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"]) == ("accepted", "done")
    assert "".join(event.get("text", "") for event in events) == events[-1]["turn"]["answer"]


async def test_a_stream_goes_on_where_it_broke_off(http: httpx.AsyncClient) -> None:
    turn_id = await begin(http, "tokens=40 every=0.02")
    async with http.stream("GET", f"/turns/{turn_id}/events", headers=SSE) as broken:
        seen = ""
        async for text in broken.aiter_text():
            seen += text
            if "event: token" in seen and seen.endswith("\n\n"):
                break
    head = sent(seen)
    tail = sent((await http.get(f"/turns/{turn_id}/events", headers={**SSE, "Last-Event-ID": str(head[-1]["seq"])})).text)
    whole = sent((await http.get(f"/turns/{turn_id}/events", headers=SSE)).text)

    assert head + tail == whole
    assert whole[-1]["type"] == "done"
    over = await http.get(f"/turns/{turn_id}/events", headers={**SSE, "Last-Event-ID": str(whole[-1]["seq"])})
    assert (over.status_code, over.content) == (204, b"")
    wrong = await http.get(f"/turns/{turn_id}/events", headers={**SSE, "Last-Event-ID": "last"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_request")


async def test_events_are_waited_for_and_come_as_soon_as_there_is_one(http: httpx.AsyncClient) -> None:
    turn_id = await begin(http, "hang=1")
    path = f"/turns/{turn_id}/events"
    first: list[Json] = []
    while len(first) < 4:
        first = (await http.get(path, params={"wait": 20})).json()["events"]
    assert (await http.get(path, params={"after": 4, "wait": 0})).json() == {"events": []}
    assert (await http.get(path, params={"after": 4, "wait": 0.05})).json() == {"events": []}
    waiting = asyncio.create_task(http.get(path, params={"after": 4, "wait": 20}))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    await http.post(f"/turns/{turn_id}/cancel")
    [done] = (await waiting).json()["events"]

    assert time.monotonic() - began < 15, "the wait ends with the event"
    assert (done["seq"], done["type"]) == (5, "done")
    assert (await http.get(path, params={"after": 5, "wait": 20})).json() == {"events": []}, "nothing more can come"
    for wrong in ({"wait": "21"}, {"after": "-1"}, {"after": "x"}):
        assert (await http.get(path, params=wrong)).status_code == 422


# --- Going on ---------------------------------------------------------------------------------------------------------


async def test_a_paused_turn_is_resumed_over_http(http: httpx.AsyncClient) -> None:
    paused = await ask(http, "ask=1")
    assert paused["outcome"] == "needs_clarification"
    path = f"/turns/{paused['turn_id']}/resume"
    wrong = await http.post(path, json={"approve": True})
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "/answer")
    resumed = await http.post(path, json={"answer": "blue"}, headers=SSE)
    events = sent(resumed.text)

    seen = sent((await http.get(f"/turns/{paused['turn_id']}/events", headers=SSE)).text)
    assert seen[-len(events) :] == events
    assert seqs(seen) == list(range(1, len(seen) + 1))
    assert (events[-1]["turn"]["outcome"], events[-1]["turn"]["answer"]) == ("answered", "blue")
    again = await http.post(path, json={"answer": "blue"})
    assert (again.status_code, again.json()["code"]) == (409, "not_waiting")


async def test_two_replies_at_once_resume_once(http: httpx.AsyncClient) -> None:
    paused = await ask(http, "ask=1")
    path = f"/turns/{paused['turn_id']}/resume"
    replies = await asyncio.gather(*(http.post(path, json={"answer": f"a{n}"}) for n in range(6)))
    codes = [reply.status_code for reply in replies]

    assert codes.count(200) == 1
    assert codes.count(409) == 5
    assert (await http.get(f"/turns/{paused['turn_id']}")).json() == replies[codes.index(200)].json()


async def test_a_turn_that_has_ended_cannot_be_cancelled(http: httpx.AsyncClient) -> None:
    turn = await ask(http, "tokens=1")
    response = await http.post(f"/turns/{turn['turn_id']}/cancel")

    assert (response.status_code, response.json()["code"]) == (409, "turn_finished")


async def test_a_trace_tells_what_the_turn_did(http: httpx.AsyncClient) -> None:
    turn = await ask(http, "tokens=1")
    trace = (await http.get(f"/turns/{turn['turn_id']}/trace")).json()

    assert (trace["trace_id"], trace["turn_id"]) == (turn["trace_id"], turn["turn_id"])
    assert trace["spans"][0].keys() == {"span_id", "parent_id", "name", "start_ms", "duration_ms", "attributes"}


async def test_feedback_is_taken_and_what_is_none_is_not(http: httpx.AsyncClient) -> None:
    path = f"/turns/{(await ask(http, 'tokens=1'))['turn_id']}/feedback"
    for body in ({"rating": "up", "comment": "谢谢"}, {"rating": "down"}):
        response = await http.post(path, json=body)
        assert (response.status_code, response.content) == (204, b"")
    refused: list[object] = [{"rating": "sideways"}, {"comment": "no rating"}, {"rating": "up", "comment": "x" * 8_001}, []]
    for wrong in refused:
        assert (await http.post(path, json=wrong)).status_code == 422


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/turns/t_x", None),
        ("GET", "/turns/t_x/events", None),
        ("GET", "/turns/t_x/trace", None),
        ("POST", "/turns/t_x/cancel", None),
        ("POST", "/turns/t_x/resume", {"answer": "a"}),
        ("POST", "/turns/t_x/feedback", {"rating": "up"}),
        ("GET", "/turns/..%2F..%2Fthreads", None),
        ("GET", "/turns/%00", None),
        ("GET", "/threads/th_x", None),
        ("DELETE", "/threads/th_x", None),
        ("GET", "/documents/d_x", None),
        ("GET", "/documents/d_x/passages", None),
        ("GET", "/documents/d_x/source", None),
        ("DELETE", "/documents/d_x", None),
        ("POST", "/documents/uploads", {"filename": "a.md", "size": 1}),
    ],
)
async def test_an_unknown_id_is_404(http: httpx.AsyncClient, method: str, path: str, body: Json | None) -> None:
    response = await http.request(method, path, json=body)

    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_an_unknown_id_is_404_for_a_stream_of_events_too(http: httpx.AsyncClient) -> None:
    response = await http.get("/turns/t_x/events", headers=SSE)

    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


# --- Threads ----------------------------------------------------------------------------------------------------------


async def test_threads_are_listed_last_updated_first_page_by_page(http: httpx.AsyncClient) -> None:
    names = [new("listed") for _ in range(5)]
    for name in names:
        await ask(http, f"tokens=1 {name}", thread_id=name)
    await ask(http, "tokens=1 again", thread_id=names[1])
    listed: list[Json] = []
    cursor: dict[str, str] = {}
    while len([one for one in listed if one["thread_id"] in names]) < len(names):
        page = (await http.get("/threads", params={"limit": 2, **cursor})).json()
        assert len(page["threads"]) == 2
        listed += page["threads"]
        cursor = {"cursor": page["next_cursor"]}

    assert [one["thread_id"] for one in listed[:5]] == [names[1], names[4], names[3], names[2], names[0]]
    assert listed[0] | {"created_at": "", "updated_at": ""} == {
        "thread_id": names[1],
        "title": f"tokens=1 {names[1]}",
        "turns": 2,
        "created_at": "",
        "updated_at": "",
    }
    times = [one["updated_at"] for one in listed]
    assert times == sorted(times, reverse=True)


async def test_turns_of_a_thread_come_oldest_first_page_by_page(http: httpx.AsyncClient) -> None:
    thread_id = new("paged")
    turns = [await ask(http, f"tokens=1 n{n}", thread_id=thread_id) for n in range(5)]
    seen: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await http.get(f"/threads/{thread_id}", params={"limit": 2, **cursor})).json()
        assert (page["thread_id"], page["title"]) == (thread_id, "tokens=1 n0")
        seen += page["turns"]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert seen == turns


@pytest.mark.parametrize("path", ["/threads", "/threads/{thread}", "/documents"])
@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "cursor=nonsense", "cursor=", "cursor=%00"])
async def test_a_page_that_cannot_be_is_refused(http: httpx.AsyncClient, path: str, query: str) -> None:
    thread_id = new("th")
    await ask(http, "tokens=1", thread_id=thread_id)
    response = await http.get(f"{path.format(thread=thread_id)}?{query}")

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert response.json()["errors"][0]["pointer"] in ("/limit", "/cursor")


async def test_a_long_question_makes_a_short_title(http: httpx.AsyncClient) -> None:
    thread_id = new("long")
    await ask(http, "tokens=1\n\n" + "长 " * 200, thread_id=thread_id)
    title = (await http.get(f"/threads/{thread_id}")).json()["title"]

    assert len(title) <= 80
    assert title.startswith("tokens=1 长 长")
    assert title.endswith("…")


async def test_a_deleted_thread_is_gone_with_its_turns(http: httpx.AsyncClient, talk: Talk) -> None:
    thread_id, message_id = new("gone"), new("m")
    turn = await ask(http, "tokens=1", thread_id=thread_id, message_id=message_id)
    await talk.ask("hang=1", thread_id=thread_id)
    running = (await talk.until("passages"))[0]["turn_id"]
    assert (await http.delete(f"/threads/{thread_id}")).status_code == 204

    for path in (f"/threads/{thread_id}", *(f"/turns/{one}" for one in (turn["turn_id"], running))):
        assert (await http.get(path)).status_code == 404
    for kind in ("events", "trace"):
        assert (await http.get(f"/turns/{turn['turn_id']}/{kind}")).status_code == 404
    assert thread_id not in [one["thread_id"] for one in (await http.get("/threads")).json()["threads"]]
    assert (await talk.until("done"))[-1]["turn"]["outcome"] == "cancelled", "who follows is told"
    assert (await http.delete(f"/threads/{thread_id}")).status_code == 404
    again = await ask(http, "tokens=1", thread_id=thread_id, message_id=message_id)
    assert again["turn_id"] != turn["turn_id"]
    assert (await http.get(f"/threads/{thread_id}")).json()["turns"] == [again]


# --- The log ----------------------------------------------------------------------------------------------------------


async def test_no_question_and_no_answer_gets_into_the_log(http: httpx.AsyncClient, server: RunningServer) -> None:
    await ask(http, "tokens=1 confidential-question")
    await http.post("/chat", json={"question": "x" * 9_000 + "confidential-question"})
    await ask(http, "crash=1 confidential-question")

    assert not [line for line in server.log if "confidential" in line or "word0" in line]
