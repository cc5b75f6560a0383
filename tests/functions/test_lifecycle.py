"""A server that stops, is killed, starts again, or may not start: no turn ends in silence, nothing is lost."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.functions.conftest import PATIENT
from tests.server import FOOTNOTE, SCRIPTED, RunningServer, environment, start_server

Json = dict[str, Any]


@contextmanager
def serving(home: Path) -> Iterator[tuple[RunningServer, httpx.Client]]:
    """A server with the scripted agent, and a client of it."""
    running = start_server(home, program=SCRIPTED, env=PATIENT)
    try:
        with httpx.Client(base_url=running.url, timeout=60, trust_env=False) as client:
            yield running, client
    finally:
        running.stop()


def begin(client: httpx.Client, question: str, **fields: str) -> Json:
    """A turn that has begun."""
    answer = client.post("/chat", json={"question": question, **fields}, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    started: Json = answer.json()
    return started


def until(client: httpx.Client, turn_id: str, types: tuple[str, ...]) -> list[Json]:
    """The events so far, once one of these types is among them."""
    for _ in range(300):
        events: list[Json] = client.get(f"/turns/{turn_id}/events", params={"wait": 1}).json()["events"]
        if any(event["type"] in types for event in events):
            return events
        time.sleep(0.05)
    pytest.fail(f"no {types} in {events}")


def test_a_turn_whose_server_was_killed_ends_as_crashed_at_the_next_start(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, client):
        started = begin(client, "hang=1", thread_id="t")
        until(client, started["turn_id"], ("plan",))
        server.stop(signal.SIGKILL)
    with serving(tmp_path) as (_, client):
        turn = client.get(f"/turns/{started['turn_id']}").json()
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "crashed")
        assert turn["note"]
        events = client.get(f"/turns/{started['turn_id']}/events").json()["events"]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["type"] == "done"
        assert client.post("/chat", json={"question": "tokens=2", "thread_id": "t"}).json()["outcome"] == "answered"


def test_a_paused_turn_waits_through_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, client):
        paused = client.post("/chat", json={"question": "ask=1"}).json()
        assert paused["outcome"] == "needs_clarification"
    with serving(tmp_path) as (_, client):
        turn = client.post(f"/turns/{paused['turn_id']}/resume", json={"answer": "a"}).json()
        assert (turn["outcome"], turn["answer"]) == ("answered", "a")


def test_a_restart_keeps_threads_turns_and_feedback(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, client):
        turn = client.post("/chat", json={"question": "tokens=2", "thread_id": "kept"}).json()
        assert client.post(f"/turns/{turn['turn_id']}/feedback", json={"rating": "up"}).status_code == 204
    with serving(tmp_path) as (_, client):
        assert client.get("/threads/kept").json()["turns"] == [turn]
        assert client.get(f"/turns/{turn['turn_id']}").json() == turn


def test_a_stop_lets_a_running_turn_end(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, client):
        started = begin(client, "tokens=20 every=0.05")
        until(client, started["turn_id"], ("token",))
        assert server.stop(signal.SIGTERM) == 0
    with serving(tmp_path) as (_, client):
        assert client.get(f"/turns/{started['turn_id']}").json()["outcome"] == "answered"


def test_two_signals_save_what_runs_and_stop_at_once(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, client):
        started = begin(client, "hang=1")
        until(client, started["turn_id"], ("plan",))
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert server.stop(signal.SIGINT) == 0
    with serving(tmp_path) as (_, client):
        turn = client.get(f"/turns/{started['turn_id']}").json()
        assert turn["outcome"] == "failed"
        assert turn["note"]


def refused(*args: str, env: dict[str, str] | None = None) -> str:
    """The one line with which `footnote serve` says why it does not start."""
    done = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, *FOOTNOTE, "serve", *args],
        env=environment(env), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_a_second_server_on_a_home_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, _):
        line = refused("--home", str(tmp_path), "--port", "0")
        assert str(tmp_path) in line
        assert server.url in line


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as (server, _):
        port = server.url.rpartition(":")[2]
        line = refused("--home", str(tmp_path / "two"), "--port", port)
        assert port in line
        assert "--port" in line


def test_another_host_than_loopback_is_refused_with_the_remedy(tmp_path: Path) -> None:
    assert "127.0.0.1" in refused("--home", str(tmp_path), "--host", "0.0.0.0")


def test_docs_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    assert "nowhere" in refused("--home", str(tmp_path), "--docs", "nowhere", "--port", "0")


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in refused("--home", str(tmp_path / "file"), "--port", "0")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FOOTNOTE_MAX_ROUND", "2", "FOOTNOTE_MAX_ROUNDS"),
        ("FOOTNOTE_MAX_ROUNDS", "99", "FOOTNOTE_MAX_ROUNDS"),
        ("FOOTNOTE_TURN_SECONDS", "soon", "FOOTNOTE_TURN_SECONDS"),
        ("FOOTNOTE_FUSION", "magic", "FOOTNOTE_FUSION"),
    ],
)
def test_a_setting_misspelt_or_out_of_range_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    assert said in refused("--home", str(tmp_path), "--port", "0", env={name: value})
