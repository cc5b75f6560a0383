"""What a server's start and end mean to its turns: real processes, real signals."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.functions.talk import seqs, talking
from tests.functions.test_commands import footnote
from tests.server import SCRIPTED, RunningServer, start_server

Json = dict[str, Any]
SLOW = {"FOOTNOTE_RATE_PER_MINUTE": "60", "FOOTNOTE_RATE_BURST": "2"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Path]]:
    """A server that lets two turns through at once, and its home."""
    home = tmp_path_factory.mktemp("strict")
    running = start_server(home, program=SCRIPTED, env=SLOW)
    yield running, home
    assert running.stop(signal.SIGINT) == 0


def client(server: RunningServer) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=60, trust_env=False)


def ask(http: httpx.Client, question: str, thread_id: str, *, is_async: bool = False) -> Json:
    headers = {"Prefer": "respond-async"} if is_async else {}
    response = http.post("/chat", json={"question": question, "thread_id": thread_id}, headers=headers)
    assert response.status_code == (202 if is_async else 200), response.text
    answer: Json = response.json()
    return answer


def test_after_a_crash_every_turn_has_its_end_and_every_thread_its_turns(home: Path) -> None:
    server = start_server(home, program=SCRIPTED)
    with client(server) as http:
        finished = ask(http, "tokens=2", "th-finished")
        paused = ask(http, "ask=1", "th-paused")
        torn = ask(http, "tokens=3000 every=0.01", "th-torn", is_async=True)["turn_id"]
        before: list[Json] = []
        while "token" not in {event["type"] for event in before}:
            before = http.get(f"/turns/{torn}/events", params={"wait": 1}).json()["events"]
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL

    server = start_server(home, program=SCRIPTED)
    with client(server) as http:
        turn = http.get(f"/turns/{torn}").json()
        events = http.get(f"/turns/{torn}/events").json()["events"]
        assert (turn["outcome"], turn["error"]["code"], turn["answer"]) == ("failed", "crashed", "")
        assert turn["note"]
        assert events[: len(before)] == before
        assert seqs(events) == list(range(1, len(events) + 1))
        assert events[-1]["turn"] == turn
        assert http.get(f"/turns/{finished['turn_id']}").json() == finished
        threads = http.get("/threads").json()["threads"]
        assert [one["thread_id"] for one in threads] == ["th-torn", "th-paused", "th-finished"]
        assert ask(http, "tokens=1", "th-torn")["outcome"] == "answered", "the thread is free"
        resumed = http.post(f"/turns/{paused['turn_id']}/resume", json={"answer": "blue"}).json()
        assert (resumed["turn_id"], resumed["outcome"], resumed["answer"]) == (paused["turn_id"], "answered", "blue")
    assert server.stop() == 0


async def test_a_signal_lets_a_running_turn_end_and_takes_no_new_one(home: Path) -> None:
    server = start_server(home, program=SCRIPTED)
    async with talking(server) as runs, talking(server) as comes:
        await runs.ask("tokens=150 every=0.01")
        await runs.until("token")
        server.process.send_signal(signal.SIGTERM)
        refused: Json = {}
        while refused.get("code") != "unavailable":  # the signal takes a moment
            await comes.ask("tokens=1")
            refused = (await comes.until())[-1]
        assert refused["retryable"]
        assert (await runs.until("done"))[-1]["turn"]["outcome"] == "answered"
        with pytest.raises(ConnectionClosed):
            await runs.next()
    assert await asyncio.to_thread(server.stop) == 0
    assert not [line for line in server.log if "ERROR" in line or "Traceback" in line]


async def test_a_second_signal_ends_what_runs_and_says_so(home: Path) -> None:
    server = start_server(home, program=SCRIPTED)
    async with talking(server) as talk:
        await talk.ask("hang=1", language="zh")
        await talk.until("passages")
        server.process.send_signal(signal.SIGINT)
        await asyncio.sleep(0.3)
        server.process.send_signal(signal.SIGINT)
        turn = (await talk.until("done"))[-1]["turn"]
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "crashed")
    assert "服务器" in turn["note"]
    assert await asyncio.to_thread(server.stop) == 0


async def test_too_many_turns_are_refused_with_when_to_come_again(strict: tuple[RunningServer, Path]) -> None:
    server, _ = strict
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http, talking(server) as talk:
        responses = await asyncio.gather(*(http.post("/chat", json={"question": "tokens=1"}) for _ in range(6)))
        refused = [response for response in responses if response.status_code == 429]
        await talk.ask("tokens=1", message_id="limited")
        error = (await talk.until())[-1]

        assert len(refused) >= 2
        for response in refused:
            assert response.json()["code"] == "rate_limited"
            assert 1 <= int(response.headers["Retry-After"]) <= 2
        assert (error["code"], error["retryable"], error["message_id"]) == ("rate_limited", True, "limited")
        await asyncio.sleep(int(refused[0].headers["Retry-After"]))
        assert (await talk.turn("tokens=1", message_id="limited"))["outcome"] == "answered", "a refused message is not used up"
        joined = await http.post("/chat", json={"question": "tokens=1", "message_id": "limited"})
        assert joined.status_code == 200, "to be told again costs nothing"


def test_a_home_has_one_server(strict: tuple[RunningServer, Path]) -> None:
    server, home = strict
    done = footnote("serve", "--port", "0", "--home", str(home))

    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert str(server.process.pid) in line
    assert server.url in line


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--port", "{port}"), "--port"),
        (("--host", "0.0.0.0"), "--host 127.0.0.1"),
        (("--docs", "{missing}"), "missing"),
        (("--home", "{file}"), "--home"),
    ],
)
def test_what_a_server_cannot_start_with_is_said_in_one_line(
    strict: tuple[RunningServer, Path], tmp_path: Path, args: tuple[str, str], said: str
) -> None:
    file = tmp_path / "file"
    file.touch()
    places = {"port": strict[0].url.rpartition(":")[2], "missing": str(tmp_path / "missing"), "file": str(file)}
    home = () if args[0] == "--home" else ("--home", str(tmp_path / "home"))
    done = footnote("serve", *home, args[0], args[1].format(**places))

    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
