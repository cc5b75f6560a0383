"""`POST /chat` in AWS: the worker runs the turn, the API follows it for as long as API Gateway waits."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.api import handler as api
from functions.local.invoke import Context
from graph.event_loop import run
from tests.functions.cloud import Cloud, Json, cloud, stored


@pytest.fixture
def deployed(aws: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    with cloud(aws, monkeypatch, tmp_path) as running:
        monkeypatch.setattr(api, "wiring", lambda: running.wiring)
        api._mangum.cache_clear()
        yield running
        api._mangum.cache_clear()


def request(path: str, body: Json | None = None, *, ago_s: float = 0, **headers: str) -> Json:
    """A request that came in so long ago."""
    event = stored("http_chat" if body is not None else "http_health")
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["headers"] |= {name.replace("_", "-"): value for name, value in headers.items()}
    event["requestContext"]["timeEpoch"] = int((time.time() - ago_s) * 1000)
    claims = {"sub": "u-1", "custom:tenant": "acme"}
    event["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    return event if body is None else event | {"body": json.dumps(body)}


def call(event: Json) -> Json:
    return api.handler(event, Context(function_name="api"))


def work(deployed: Cloud) -> threading.Thread:
    """The worker, in an environment of its own, waits for a task and does it."""

    def serve() -> None:
        while not deployed.gateway.tasks:
            time.sleep(0.01)
        asyncio.run(deployed.work())

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_a_turn_that_the_worker_finishes_in_time_is_the_answer(deployed: Cloud) -> None:
    working = work(deployed)
    answer = call(request("/chat", {"question": "tokens=3 every=0.1"}))
    working.join()
    turn = json.loads(answer["body"])
    assert (answer["statusCode"], turn["outcome"], turn["answer"]) == (200, "answered", "word0 word1 word2 ")


def test_what_cannot_finish_in_time_is_acknowledged_and_runs_on(deployed: Cloud) -> None:
    began = time.monotonic()
    answer = call(request("/chat", {"question": "tokens=3"}, ago_s=26))
    assert time.monotonic() - began < 5, "the environment's cold start has used the time"
    accepted = json.loads(answer["body"])
    assert (answer["statusCode"], answer["headers"]["location"]) == (202, f"/turns/{accepted['turn_id']}")
    assert json.loads(call(request(f"/turns/{accepted['turn_id']}"))["body"])["outcome"] is None

    run(deployed.work())
    assert json.loads(call(request(f"/turns/{accepted['turn_id']}"))["body"])["outcome"] == "answered"


def test_a_stream_ends_before_the_gateway_would_cut_it_and_goes_on_where_it_was(deployed: Cloud) -> None:
    answer = call(request("/chat", {"question": "tokens=3", "message_id": "m"}, ago_s=26, accept="text/event-stream"))
    assert answer["statusCode"] == 200
    assert answer["body"].count("event: ") == answer["body"].count("event: accepted") == 1

    turn_id = deployed.gateway.tasks[0]["turn_id"]
    run(deployed.work())
    rest = call(request(f"/turns/{turn_id}/events", accept="text/event-stream", last_event_id="1"))
    assert rest["body"].startswith("id: 2\n")
    assert "event: done" in rest["body"]


def test_a_cancelled_turn_is_stopped_where_it_runs(deployed: Cloud) -> None:
    answer = call(request("/chat", {"question": "hang=1"}, prefer="respond-async"))
    turn_id = json.loads(answer["body"])["turn_id"]
    working = work(deployed)
    while "passages" not in call(request(f"/turns/{turn_id}/events"))["body"]:
        time.sleep(0.05)
    assert call(request(f"/turns/{turn_id}/cancel", {}))["statusCode"] == 202
    working.join()
    assert json.loads(call(request(f"/turns/{turn_id}"))["body"])["outcome"] == "cancelled"


def test_a_worker_that_cannot_be_called_is_a_problem_to_try_again(deployed: Cloud) -> None:
    deployed.gateway.lambda_status = 500
    answer = call(request("/chat", {"question": "tokens=3"}))
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (503, "unavailable")
    assert answer["headers"]["content-type"] == "application/problem+json"
