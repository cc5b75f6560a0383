"""Turns over API Gateway's WebSocket: asked for at the door, run by the worker, told to the connection."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions import run, runner
from functions.protocol import EVENT
from functions.worker import turns as worker_turns
from tests.functions.cloud import ACME, Cloud, Json, cloud, stored
from tests.functions.talk import seqs


@pytest.fixture
def deployed(aws: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    monkeypatch.setattr(run, "TICK_S", 0.05)
    monkeypatch.setattr(run, "RENEW_S", 0.1)
    monkeypatch.setattr(worker_turns, "_WATCH_S", 0.5)
    with cloud(aws, monkeypatch, tmp_path) as running:
        yield running


def told(deployed: Cloud, connection: str = "c") -> list[Json]:
    """Events of a connection without heartbeats, each checked against the protocol."""
    events = deployed.gateway.posted[connection]
    for event in events:
        EVENT.validate_python(event)
    return [event for event in events if event["type"] != "heartbeat"]


async def test_a_turn_is_acknowledged_at_the_door_and_run_by_the_worker_which_gets_ids_only(deployed: Cloud) -> None:
    turn_id = await deployed.ask("tokens=3 secret", thread_id="th")
    assert [event["type"] for event in told(deployed)] == ["accepted"]
    assert deployed.gateway.tasks == [{"do": "run", "turn_id": turn_id, "fence": 1, "connection": {"id": "c"}}]

    await deployed.work()
    events = told(deployed)
    assert seqs(events) == list(range(1, len(events) + 1))
    assert (events[-1]["type"], events[-1]["turn"]["outcome"]) == ("done", "answered")
    assert events[-1]["turn"]["answer"] == "word0 word1 word2 "


async def test_a_duplicated_or_retried_invocation_runs_nothing_twice(deployed: Cloud) -> None:
    await deployed.ask("tokens=20 every=0.05")
    task = deployed.gateway.tasks.pop()
    await asyncio.gather(*(deployed.work(task, request_id=f"r{n % 2}") for n in range(3)))
    await deployed.work(task, request_id="r0")

    events = told(deployed)
    assert seqs(events) == list(range(1, len(events) + 1))
    assert [event["type"] for event in events].count("done") == 1


async def test_the_same_message_runs_once_and_is_replayed(deployed: Cloud) -> None:
    turn_id = await deployed.ask("tokens=3")
    await deployed.work()
    first = told(deployed)
    await deployed.send("d", action="ask", question="tokens=3", message_id="m")
    (task,) = deployed.gateway.tasks
    assert (task["do"], task["turn_id"], task["after"]) == ("follow", turn_id, 0)
    await deployed.work()
    assert told(deployed, "d") == first


async def test_who_lost_the_connection_reads_on_from_another(deployed: Cloud) -> None:
    turn_id = await deployed.ask("tokens=60 every=0.02")
    running = asyncio.create_task(deployed.work())
    await asyncio.to_thread(deployed.gateway.wait, "c", "token", count=3)
    deployed.gateway.gone.add("c")
    seen = told(deployed)
    await deployed.send("d", action="replay", turn_id=turn_id, after=seen[-1]["seq"])
    await asyncio.gather(running, deployed.work())

    rest = told(deployed, "d")
    assert seqs(seen + rest) == list(range(1, len(seen + rest) + 1))
    assert "".join(event.get("text", "") for event in seen + rest) == rest[-1]["turn"]["answer"]
    assert told(deployed) == seen, "a connection that is gone gets nothing, and the turn runs on"


async def test_a_replay_on_the_same_connection_takes_the_run_s_place(deployed: Cloud) -> None:
    turn_id = await deployed.ask("tokens=60 every=0.02")
    running = asyncio.create_task(deployed.work())
    await asyncio.to_thread(deployed.gateway.wait, "c", "token", count=3)
    await deployed.send(action="replay", turn_id=turn_id)
    await asyncio.gather(running, deployed.work())

    numbers = seqs(told(deployed))
    again = len(numbers) - numbers[::-1].index(1) - 1
    assert numbers[:again] == list(range(1, again + 1))
    assert numbers[again:] == list(range(1, len(numbers) - again + 1))


async def test_a_cancelled_turn_ends_within_one_event(deployed: Cloud) -> None:
    turn_id = await deployed.ask("tokens=400 every=0.05")
    running = asyncio.create_task(deployed.work())
    await asyncio.to_thread(deployed.gateway.wait, "c", "token", count=2)
    await deployed.send(action="cancel", turn_id=turn_id)
    before = seqs(told(deployed))[-1]
    await running

    done = told(deployed)[-1]
    assert (done["type"], done["turn"]["outcome"]) == ("done", "cancelled")
    assert done["seq"] <= before + 3, "one that was on its way, one more, and the end"


async def test_a_busy_gateway_gets_events_again_and_in_order(deployed: Cloud) -> None:
    await deployed.ask("tokens=5 every=0.06")
    deployed.gateway.refusals = [429, 503, 429]
    await deployed.work()
    events = told(deployed)
    assert deployed.gateway.refusals == []
    assert seqs(events) == list(range(1, len(events) + 1))


async def test_events_stay_under_the_largest_frame(deployed: Cloud) -> None:
    await deployed.ask("tokens=3 wide=9000")
    await deployed.work()
    pieces = [event for event in told(deployed) if event["type"] == "token"]
    assert "".join(piece["text"] for piece in pieces) == "宽" * 27_000
    assert all(len(str(piece["text"]).encode()) < 32_000 for piece in pieces)


async def test_a_turn_takes_no_longer_than_its_worker_has(deployed: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    drive = run.Run.drive

    async def driven(self: run.Run, source: object) -> None:
        given.append(self._seconds)
        await drive(self, source)  # type: ignore[arg-type]

    monkeypatch.setattr(run.Run, "drive", driven)
    for message_id, left_s in (("one", 60), ("two", 900)):
        await deployed.ask("tokens=1", message_id=message_id)
        await deployed.work(left_s=left_s)
    assert given == [60 - worker_turns._MARGIN_S, deployed.wiring.settings.turn_seconds]


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("is_retried", [True, False])
async def test_a_turn_whose_worker_died_ends_as_crashed_and_its_thread_is_free(
    deployed: Cloud,
    is_retried: bool,  # noqa: FBT001
) -> None:
    await deployed.ask("tokens=1", thread_id="th")
    task = deployed.gateway.tasks.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner.Here, "start", _die)
        with pytest.raises(Killed):
            await deployed.work(task, request_id="r1")
    await deployed.send("busy", action="ask", question="tokens=1", message_id="m2", thread_id="th")
    assert told(deployed, "busy")[-1]["code"] == "thread_busy"
    assert deployed.gateway.types("c") == ["accepted"]

    for _ in range(2):
        if is_retried:
            await deployed.work(task, request_id="r1")
        else:
            await deployed.worker.clean_up(stored("worker_failed", requestPayload=task)["requestPayload"])
    done = told(deployed)[-1]
    assert (done["type"], done["turn"]["outcome"], done["turn"]["error"]["code"]) == ("done", "failed", "crashed")
    assert deployed.gateway.types("c") == ["accepted", "done"]
    await deployed.ask("tokens=1", message_id="m3", thread_id="th")
    await deployed.work()
    assert told(deployed)[-1]["turn"]["outcome"] == "answered"


async def _die(*_: object) -> None:
    raise Killed


async def test_a_turn_that_nobody_takes_on_is_swept(deployed: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    await deployed.ask("tokens=1", message_id="one")
    await deployed.worker.sweep()
    assert deployed.gateway.types("c") == ["accepted"], "it may still be taken on"
    for module in ("leases", "sweeper"):
        monkeypatch.setattr(f"functions.{module}.LEASE_S", 0.0)
    await deployed.ask("tokens=1", "late", message_id="two")
    await deployed.worker.sweep()
    done = told(deployed, "late")[-1]
    assert (done["seq"], done["turn"]["error"]["code"]) == (2, "crashed")
    await deployed.work(deployed.gateway.tasks.pop())
    assert deployed.gateway.types("late") == ["accepted", "done"], "who comes too late runs nothing"


async def test_a_worker_that_cannot_be_called_is_said_and_asking_again_begins_anew(deployed: Cloud) -> None:
    deployed.gateway.lambda_status = 500
    await deployed.send(action="ask", question="tokens=1", message_id="m", thread_id="th")
    error = told(deployed)[-1]
    assert (error["type"], error["code"], error["retryable"], error["message_id"]) == ("error", "unavailable", True, "m")
    deployed.gateway.lambda_status = 202
    await deployed.ask("tokens=1", thread_id="th")
    await deployed.work()
    assert told(deployed)[-1]["turn"]["outcome"] == "answered"


async def test_a_turn_that_asks_back_goes_on_where_it_paused(deployed: Cloud) -> None:
    turn_id = await deployed.ask("ask=1")
    await deployed.work()
    assert told(deployed)[-1]["turn"]["outcome"] == "needs_clarification"
    await deployed.send("d", action="resume", turn_id=turn_id, answer="the first")
    await deployed.work()
    first, second = told(deployed), told(deployed, "d")
    assert seqs(first + second) == list(range(1, len(first + second) + 1))
    assert second[-1]["turn"]["answer"] == "the first"


async def test_a_deleted_thread_is_stopped_and_forgotten_by_the_worker(
    deployed: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_id = await deployed.ask("hang=1", thread_id="th")
    running = asyncio.create_task(deployed.work())
    await asyncio.to_thread(deployed.gateway.wait, "c", "passages")
    turns, caller = deployed.door._turns, deployed.door._caller(ACME)
    monkeypatch.setattr(runner, "_POLL_S", 0.02)
    deployed.gateway.lambda_status = 200
    await turns.delete_thread(caller, "th")
    await running
    assert told(deployed)[-1]["turn"]["outcome"] == "cancelled"
    assert await turns.log.find(turn_id) is None
    assert deployed.gateway.tasks == [{"do": "forget", "thread": "acme/u-1/th"}]
