"""The WebSocket of a real server, with a real client."""

import asyncio
import json
import uuid
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.functions.talk import Talk, seqs, talking
from tests.server import RunningServer


async def test_a_turn_is_told_in_order_without_gaps_from_accepted_to_done(talk: Talk) -> None:
    message_id = await talk.ask("tokens=40 every=0.005", thread_id="in-order")
    events = await talk.until("done")

    assert seqs(events) == list(range(1, len(events) + 1))
    assert {(event["v"], event["turn_id"], event["thread_id"]) for event in events} == {(1, events[0]["turn_id"], "in-order")}
    kinds = [event["type"] for event in events]
    assert kinds[:5] == ["accepted", "status", "plan", "passages", "token"]
    assert events[0]["message_id"] == message_id
    assert "".join(event.get("text", "") for event in events) == events[-1]["turn"]["answer"]
    assert 2 <= kinds.count("token") < 40, "tokens that come close together share an event"


async def test_done_carries_the_whole_turn(talk: Talk, http: httpx.AsyncClient) -> None:
    turn = await talk.turn("tokens=2", message_id="whole", thread_id="whole-thread", language="en-GB")

    assert turn == (await http.get(f"/turns/{turn['turn_id']}")).json()
    assert turn | {"trace_id": 0, "created_at": 0, "timings_ms": 0, "turn_id": 0} == {
        "turn_id": 0,
        "thread_id": "whole-thread",
        "message_id": "whole",
        "question": "tokens=2",
        "standalone_question": "Standing alone?",
        "outcome": "answered",
        "answer": "word0 word1 ",
        "citations": [],
        "note": "Scripted.",
        "usage": {
            "calls": 3,
            "prompt_tokens": 20,
            "cached_tokens": 2,
            "completion_tokens": 10,
            "cost_usd": 0.003,
            "by_node": {
                "plan": {"calls": 1, "prompt_tokens": 10, "cached_tokens": 1, "completion_tokens": 5, "cost_usd": 0.001},
                "answer": {"calls": 2, "prompt_tokens": 10, "cached_tokens": 1, "completion_tokens": 5, "cost_usd": 0.002},
            },
        },
        "timings_ms": 0,
        "trace_id": 0,
        "created_at": 0,
    }
    assert turn["timings_ms"].keys() == {"first_token", "total", "by_node"}
    assert turn["created_at"].endswith("Z")


async def test_a_message_sent_twice_runs_once_and_is_replayed(talk: Talk, server: RunningServer) -> None:
    message_id = await talk.ask("tokens=5")
    first = await talk.until("done")
    await talk.ask("tokens=5", message_id=message_id)
    assert await talk.until("done") == first

    async with talking(server) as other:
        await other.ask("tokens=5", message_id=message_id)
        assert await other.until("done") == first


async def test_a_message_sent_again_while_its_turn_runs_joins_it(talk: Talk, server: RunningServer) -> None:
    message_id = await talk.ask("tokens=30 every=0.02")
    begun = await talk.until("token")
    async with talking(server) as other:
        await other.ask("tokens=30 every=0.02", message_id=message_id)
        joined = await other.until("done")

    assert begun + await talk.until("done") == joined


async def test_a_message_sent_on_many_connections_at_once_runs_once(server: RunningServer) -> None:
    message_id = f"m-{uuid.uuid4().hex}"

    async def ask() -> list[dict[str, Any]]:
        async with talking(server) as talk:
            await talk.ask("tokens=3 every=0.05", message_id=message_id)
            return await talk.until()

    told = await asyncio.gather(*(ask() for _ in range(8)))
    assert all(events == told[0] for events in told)
    assert told[0][-1]["type"] == "done"


async def test_a_message_id_does_not_carry_another_question(talk: Talk) -> None:
    message_id = await talk.ask("tokens=1 one")
    await talk.until("done")
    await talk.ask("tokens=1 two", message_id=message_id)
    error = (await talk.until())[-1]

    assert (error["code"], error["retryable"], error["message_id"]) == ("message_id_reused", False, message_id)


async def test_a_client_whose_connection_dropped_replays_what_it_missed_and_goes_on_live(server: RunningServer) -> None:
    async with talking(server) as talk:
        await talk.ask("tokens=60 every=0.02")
        seen = await talk.until("token")
    async with talking(server) as again:
        await again.send(action="replay", turn_id=seen[0]["turn_id"], after=seen[-1]["seq"])
        rest = await again.until("done")
    async with talking(server) as later:
        await later.send(action="replay", turn_id=seen[0]["turn_id"])
        assert await later.until("done") == seen + rest

    assert seqs(seen + rest) == list(range(1, len(seen + rest) + 1))
    assert rest[-1]["turn"]["outcome"] == "answered"


async def test_a_replay_on_the_same_connection_sends_nothing_twice_at_once(talk: Talk) -> None:
    await talk.ask("tokens=60 every=0.02")
    turn_id = (await talk.until("token"))[0]["turn_id"]
    await talk.send(action="replay", turn_id=turn_id, after=0)
    events = await talk.until("done")

    start = len(events) - 1 - seqs(events)[::-1].index(1)
    assert seqs(events[start:]) == list(range(1, len(events) - start + 1))


async def test_a_turn_is_cancelled_within_one_event(talk: Talk) -> None:
    await talk.ask("tokens=2000 every=0.01")
    turn_id = (await talk.until("token"))[-1]["turn_id"]
    await talk.send(action="cancel", turn_id=turn_id)
    events = await talk.until("done")

    assert events[-1]["turn"]["outcome"] == "cancelled"
    assert events[-1]["turn"]["answer"] == ""
    assert "stopped" in events[-1]["turn"]["note"]
    assert len(events) < 10
    await talk.send(action="cancel", turn_id=turn_id)
    error = await talk.next()
    assert (error["code"], error["turn_id"]) == ("turn_finished", turn_id)


async def test_a_hanging_agent_can_be_cancelled_and_the_thread_is_free_at_once(talk: Talk) -> None:
    await talk.ask("hang=1", thread_id="hanging")
    turn_id = (await talk.until("passages"))[-1]["turn_id"]
    await talk.send(action="cancel", turn_id=turn_id)
    assert (await talk.until("done"))[-1]["turn"]["outcome"] == "cancelled"

    assert (await talk.turn("tokens=1", thread_id="hanging"))["outcome"] == "answered"


async def test_a_second_ask_on_a_busy_thread_is_refused_and_never_mixed_in(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.ask("tokens=50 every=0.02", thread_id="busy")
    await talk.until("token")
    second = await talk.ask("tokens=1", thread_id="busy")
    events = await talk.until("error")
    refused = await http.post("/chat", json={"question": "tokens=1", "thread_id": "busy"})

    assert (events[-1]["code"], events[-1]["retryable"], events[-1]["message_id"]) == ("thread_busy", True, second)
    assert "seq" not in events[-1]
    assert refused.status_code == 409
    assert refused.json()["code"] == "thread_busy"
    assert int(refused.headers["Retry-After"]) >= 1
    assert (await talk.until("done"))[-1]["turn"]["outcome"] == "answered"
    assert (await talk.turn("tokens=1", thread_id="busy", message_id=second))["outcome"] == "answered"


async def test_many_turns_run_side_by_side_on_one_connection(talk: Talk) -> None:
    asked = [await talk.ask(f"tokens=5 every=0.01 n{n}") for n in range(20)]
    by_turn: dict[str, list[dict[str, Any]]] = {}
    while sum(events[-1]["type"] == "done" for events in by_turn.values()) < len(asked):
        event = await talk.next()
        by_turn.setdefault(event["turn_id"], []).append(event)

    assert {events[0]["message_id"] for events in by_turn.values()} == set(asked)
    assert all(seqs(events) == list(range(1, len(events) + 1)) for events in by_turn.values())


async def test_a_turn_that_asks_back_pauses_in_done_and_goes_on_after_the_reply(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.ask("ask=1", thread_id="asks-back")
    paused = await talk.until("done")
    turn, clarify = paused[-1]["turn"], paused[-2]

    assert clarify["type"] == "clarify"
    assert (turn["outcome"], turn["clarification"]["interrupt_id"]) == ("needs_clarification", clarify["interrupt_id"])
    assert turn["clarification"].keys() == {"interrupt_id", "question", "options"}
    assert turn["note"]
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="the blue one")
    resumed = await talk.until("done")
    assert seqs(paused + resumed) == list(range(1, len(paused + resumed) + 1))
    assert (resumed[-1]["turn"]["outcome"], resumed[-1]["turn"]["answer"]) == ("answered", "the blue one")
    assert "clarification" not in resumed[-1]["turn"]
    assert (await http.get("/threads/asks-back")).json()["turns"] == [resumed[-1]["turn"]]
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="again")
    assert (await talk.next())["code"] == "not_waiting"
    await talk.send(action="replay", turn_id=turn["turn_id"])
    replayed = [await talk.next() for _ in paused + resumed]
    assert replayed == paused + resumed


async def test_several_questions_need_to_be_told_apart(talk: Talk) -> None:
    turn = await talk.turn("ask=2")
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="x")
    assert (await talk.next())["code"] == "interrupt_id_required"
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="x", interrupt_id="i_9")
    assert (await talk.next())["code"] == "not_waiting"
    await talk.send(action="resume", turn_id=turn["turn_id"], approve=True, interrupt_id="i_1")
    assert (await talk.next())["code"] == "invalid_request"
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="x", interrupt_id="i_1")
    assert (await talk.until("done"))[-1]["turn"]["answer"] == "x"


async def test_a_question_that_was_passed_over_is_not_waited_for_any_more(talk: Talk) -> None:
    turn = await talk.turn("ask=1", thread_id="passed-over")
    await talk.turn("tokens=1", thread_id="passed-over")
    await talk.send(action="resume", turn_id=turn["turn_id"], answer="x")

    assert (await talk.next())["code"] == "not_waiting"


async def test_a_paused_turn_can_be_cancelled(talk: Talk) -> None:
    turn = await talk.turn("ask=1")
    await talk.send(action="cancel", turn_id=turn["turn_id"])
    await talk.send(action="ping")
    assert (await talk.next())["type"] == "pong"
    await talk.send(action="replay", turn_id=turn["turn_id"])
    first = await talk.until("done")
    second = await talk.until("done")

    assert (first[-1]["turn"]["outcome"], second[-1]["turn"]["outcome"]) == ("needs_clarification", "cancelled")
    assert seqs(first + second) == list(range(1, len(first + second) + 1))


@pytest.mark.parametrize(("question", "code"), [("crash=1", "internal"), ("mute=1", "internal")])
async def test_a_broken_agent_ends_in_done_and_tells_no_secret(
    talk: Talk, server: RunningServer, question: str, code: str
) -> None:
    turn = await talk.turn(question, thread_id="broken")

    assert (turn["outcome"], turn["error"]["code"]) == ("failed", code)
    assert turn["error"]["message"]
    assert turn["note"]
    assert "secret" not in json.dumps(turn)
    log = "\n".join(server.log)
    assert "secret" not in log
    assert log.count(turn["trace_id"]) == 1, "logged once, with the id that the client has"
    assert (await talk.turn("tokens=1", thread_id="broken"))["outcome"] == "answered"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "malformed_json"),
        ("", "malformed_json"),
        (b"\x00\xff", "malformed_json"),
        (b'{"action":"ping"}', "malformed_json"),
        ('{"action":"ping","action":"ping"}', "malformed_json"),
        ('{"action":"replay","turn_id":"x","after":NaN}', "malformed_json"),
        ("[" * 60_000, "invalid_request"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "invalid_request"),
        ("[]", "invalid_request"),
        ("null", "invalid_request"),
        ('"ask"', "invalid_request"),
        ("{}", "unknown_action"),
        ('{"action":null}', "unknown_action"),
        ('{"action":["ask"]}', "unknown_action"),
        ('{"action":{"a":1}}', "unknown_action"),
        ('{"action":"Ask","question":"Why?"}', "unknown_action"),
        ('{"action":"ask","question":"Why?"}', "invalid_request"),
        ('{"action":"ask","message_id":"a b","question":"Why?"}', "invalid_request"),
        ('{"action":"ask","message_id":"m","question":"\\ud800?"}', "invalid_request"),
        ('{"action":"ask","message_id":"m","question":"\\u0000?"}', "invalid_request"),
        ('{"action":"ask","message_id":"m","question":"?!"}', "invalid_request"),
        ('{"action":"ask","message_id":"m","question":{"text":"Why?"}}', "invalid_request"),
        ('{"action":"ask","message_id":"m","question":"Why?","filters":{"tenant":"other"}}', "invalid_request"),
        (json.dumps({"action": "ask", "message_id": "m", "question": "x" * 100_000}), "invalid_request"),
        ('{"action":"replay","turn_id":"t_unknown","after":-1}', "invalid_request"),
        ('{"action":"replay","turn_id":"t_unknown","after":"0"}', "invalid_request"),
        ('{"action":"replay","turn_id":7}', "invalid_request"),
        ('{"action":"resume","turn_id":"t_unknown"}', "invalid_request"),
        ('{"action":"resume","turn_id":"t_unknown","answer":"a","approve":true}', "invalid_request"),
        ('{"action":"resume","turn_id":"t_unknown","answer":"a"}', "not_found"),
        ('{"action":"cancel","turn_id":"t_unknown"}', "not_found"),
        ('{"action":"cancel","turn_id":""}', "not_found"),
        ('{"action":"replay","turn_id":"t_unknown"}', "not_found"),
    ],
)
async def test_a_broken_frame_gets_an_error_and_the_connection_stays(talk: Talk, frame: str | bytes, code: str) -> None:
    await talk.socket.send(frame)
    error = await talk.next()

    assert (error["type"], error["code"], error["retryable"]) == ("error", code, False)
    assert error["message"]
    assert len(error["trace_id"]) == 32
    await talk.send(action="ping")
    assert await talk.next() == {"v": 1, "type": "pong"}


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        ('{"action":"ask","message_id":"m","question":"\\ud800?"}', {"message_id": "m"}),
        ('{"action":"ask","message_id":"a b","question":"Why?"}', {"message_id": "a b"}),
        ('{"action":"ask","message_id":7,"question":"Why?"}', {}),
        ('{"action":"cancel","turn_id":"t_unknown"}', {"turn_id": "t_unknown"}),
        ('{"action":"dance","turn_id":"t_unknown"}', {"turn_id": "t_unknown"}),
    ],
)
async def test_an_error_names_the_message_or_the_turn_that_it_is_about(talk: Talk, frame: str, named: dict[str, str]) -> None:
    await talk.socket.send(frame)
    error = await talk.next()

    assert {name: error[name] for name in ("message_id", "turn_id") if name in error} == named


async def test_a_frame_over_128_kb_closes_the_connection_with_1009(talk: Talk) -> None:
    await talk.socket.send(json.dumps({"action": "ping", "padding": "x" * 129 * 1024}))
    with pytest.raises(ConnectionClosed) as closed:
        await talk.next()

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


async def test_a_frame_of_just_128_kb_is_read(talk: Talk) -> None:
    frame = json.dumps({"action": "ping", "padding": ""})
    await talk.socket.send(frame[:-2] + "x" * (128 * 1024 - len(frame)) + frame[-2:])

    assert (await talk.next())["type"] == "pong"


async def test_a_client_that_goes_in_the_middle_leaves_its_turn_running(server: RunningServer, http: httpx.AsyncClient) -> None:
    async with talking(server) as talk:
        await talk.ask("tokens=20 every=0.02")
        turn_id = (await talk.until("accepted"))[0]["turn_id"]
        talk.socket.transport.abort()
    events = await http.get(f"/turns/{turn_id}/events", headers={"Accept": "text/event-stream"})

    assert '"outcome":"answered"' in events.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
async def test_another_sites_page_gets_no_connection(server: RunningServer, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.socket_url, proxy=None, additional_headers={"Origin": origin}):
            pass

    assert refused.value.response.status_code == 403
    assert b'"forbidden"' in (refused.value.response.body or b"")


async def test_a_name_that_was_made_to_lead_here_gets_no_connection(server: RunningServer) -> None:
    """DNS rebinding: to the browser the page and this server are then one site."""
    port = int(server.url.rpartition(":")[2])
    url, origin = f"ws://evil.example:{port}/ws", f"http://evil.example:{port}"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url, host="127.0.0.1", port=port, proxy=None, additional_headers={"Origin": origin}):
            pass

    assert refused.value.response.status_code == 403


async def test_the_servers_own_page_gets_a_connection(server: RunningServer) -> None:
    async with connect(server.socket_url, proxy=None, additional_headers={"Origin": server.url}) as socket:
        await Talk(socket).send(action="ping")
        assert (await Talk(socket).next())["type"] == "pong"


@pytest.mark.parametrize("path", ["/nope", "/ws/", "/health"])
async def test_another_path_has_no_websocket_and_that_is_no_error_of_ours(server: RunningServer, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.socket_url.removesuffix("/ws") + path, proxy=None):
            pass

    assert refused.value.response.status_code == 404
    assert json.loads(refused.value.response.body or b"")["code"] == "not_found"
    assert not [line for line in server.log if "uvicorn" in line]
