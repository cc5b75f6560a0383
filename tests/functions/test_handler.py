"""The Lambda entry point of the HTTP API, with API Gateway's events."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.api import handler as api
from functions.local.invoke import Context
from graph.documents import document_id
from graph.event_loop import run
from graph.settings import Settings
from graph.wiring import Wiring

EVENTS = Path(__file__).parents[2] / "events"
BYTES = bytes(range(256))


def stored(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


def get(path: str, query: str = "") -> dict[str, Any]:
    """A request for another path."""
    event = stored("http_health")
    event["headers"]["accept"] = "*/*"
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    return event | {"rawQueryString": query}


def call(event: dict[str, Any]) -> dict[str, Any]:
    return api.handler(event, Context(function_name="api"))


@pytest.fixture
def wirings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Wiring]]:
    """Those that the handler asked for, over one home."""
    made: list[Wiring] = []

    def wiring() -> Wiring:
        made.append(Wiring(Settings.read({}, home=tmp_path)))
        return made[-1]

    monkeypatch.setattr(api, "wiring", wiring)
    api._mangum.cache_clear()
    yield made
    for one in made:
        run(one.close())
    api._mangum.cache_clear()


def test_nothing_is_wired_before_the_first_event(wirings: list[Wiring]) -> None:
    assert wirings == []
    assert call(stored("http_health"))["statusCode"] == 200


def test_a_conversation_goes_on_over_warm_invocations_with_the_same_clients(wirings: list[Wiring]) -> None:
    first, again = call(stored("http_chat")), call(stored("http_chat"))
    assert (first["statusCode"], again["statusCode"]) == (200, 200)
    turn = json.loads(first["body"])
    assert turn["outcome"] == "unanswerable"  # nothing is uploaded here
    assert json.loads(again["body"]) == turn  # the same message
    (thread,) = json.loads(call(get("/threads"))["body"])["threads"]
    assert (thread["thread_id"], thread["turns"]) == ("first", 1)
    assert len(wirings) == 1


def test_bytes_in_base64_arrive_and_leave_as_they_are(wirings: list[Wiring]) -> None:
    answer = call(stored("http_base64"))
    assert answer["statusCode"] == 202, answer["body"]
    identity = json.loads(answer["body"])["document_id"]
    assert identity == document_id("default", "people/café.bin")
    assert run(wirings[0].bucket.get("uploads/default/people/café.bin")) == BYTES
    file = call(get(f"/documents/{identity}/source"))
    assert file["isBase64Encoded"]
    assert base64.b64decode(file["body"]) == BYTES


def test_cookies_and_a_query_do_no_harm(wirings: list[Wiring]) -> None:
    answer = call(stored("http_cookies"))
    assert (answer["statusCode"], len(wirings)) == (200, 1)
    assert json.loads(answer["body"])["threads"] == []


def test_what_is_not_there_is_a_problem_in_text(wirings: list[Wiring]) -> None:
    answer = call(get("/turns/none"))
    assert (answer["statusCode"], answer["isBase64Encoded"], len(wirings)) == (404, False, 1)
    assert answer["headers"]["content-type"] == "application/problem+json"
