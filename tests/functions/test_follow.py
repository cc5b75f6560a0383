"""Following turns, in one process, where what comes between two steps can be chosen."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from functions.bodies import ResumeBody
from functions.identity import LOCAL, Caller
from graph.errors import NotFound, TurnFinished
from tests.functions.turning import begin, told, turning


async def test_a_silent_turn_is_heard_of_by_heartbeats_that_have_no_number(tmp_path: Path) -> None:
    async with turning(tmp_path) as turns:
        turns.followers.heartbeat_s = 0.01
        turn_id = await begin(turns, "hang=1", thread_id="silent")
        beats = 0
        async with aclosing(turns.followers.follow(LOCAL, turn_id)) as events:
            async for event in events:
                if event["type"] == "heartbeat":
                    assert event == {"v": 1, "type": "heartbeat", "turn_id": turn_id, "thread_id": "silent"}
                    beats += 1
                if beats == 3:
                    break
        await turns.cancel(LOCAL, turn_id)
        stored = await told(turns, turn_id)

    assert [event["type"] for event in stored] == ["accepted", "status", "plan", "passages", "done"]


async def test_a_pause_is_cancelled_however_soon_after_it_that_is_asked(tmp_path: Path) -> None:
    async with turning(tmp_path) as turns:
        turn_id = await begin(turns, "ask=1")
        await told(turns, turn_id)
        assert turn_id in turns.live, "its run has not let go yet"
        await turns.cancel(LOCAL, turn_id)
        ends = [event["turn"]["outcome"] for event in await told(turns, turn_id) if event["type"] == "done"]

        assert ends == ["needs_clarification", "cancelled"]
        with pytest.raises(TurnFinished):
            await turns.cancel(LOCAL, turn_id)


async def test_a_turn_that_is_resumed_at_once_is_not_forgotten_with_its_first_run(tmp_path: Path) -> None:
    async with turning(tmp_path) as turns:
        turn_id = await begin(turns, "ask=1")
        await told(turns, turn_id)
        first = turns.live[turn_id]
        await turns.resume(LOCAL, turn_id, ResumeBody(answer="blue"))
        second = turns.live[turn_id]
        assert first.task is not None
        await asyncio.wait({first.task})
        await asyncio.sleep(0)

        assert second is not first
        assert turns.live[turn_id] is second
        turn = await turns.followers.result(LOCAL, turn_id)
        assert turn is not None
        assert (turn["outcome"], turn["answer"]) == ("answered", "blue")


async def test_another_process_follows_and_cancels_a_turn_by_the_table(tmp_path: Path) -> None:
    async with turning(tmp_path, holder="server.1") as runs, turning(tmp_path, holder="ask.2") as looks:
        turn_id = await begin(runs, "tokens=2000 every=0.01")
        await told(runs, turn_id, until="token")
        following = asyncio.create_task(told(looks, turn_id))
        await looks.cancel(LOCAL, turn_id)
        events = await following

        assert events[-1]["type"] == "done"
        assert events[-1]["turn"]["outcome"] == "cancelled"
        assert events == await told(runs, turn_id)


async def test_turns_and_threads_of_somebody_else_are_not_there(tmp_path: Path) -> None:
    ann, bob = Caller(tenant="t", user="ann"), Caller(tenant="t", user="bob")
    async with turning(tmp_path) as turns:
        turn_id = await begin(turns, "tokens=1", caller=ann, thread_id="same", message_id="same")
        await told(turns, turn_id, caller=ann)
        theirs = await begin(turns, "tokens=2", caller=bob, thread_id="same", message_id="same")
        await told(turns, theirs, caller=bob)

        for foreign in (bob, Caller(tenant="u", user="ann"), Caller(tenant="t/ann", user=""), LOCAL):
            for attempt in (
                turns.log.get(foreign, turn_id),
                turns.cancel(foreign, turn_id),
                turns.resume(foreign, turn_id, ResumeBody(answer="x")),
                told(turns, turn_id, caller=foreign),
                turns.followers.events(foreign, turn_id, after=0, wait_s=0),
            ):
                with pytest.raises(NotFound):
                    await attempt
        assert turn_id != theirs
        await turns.delete_thread(bob, "same")
        assert (await turns.log.get(ann, turn_id))["turn"]["outcome"] == "answered"
        assert (await turns.threads.page(bob, limit=5, cursor=None)) == ([], None)
        with pytest.raises(NotFound):
            await turns.delete_thread(LOCAL, "same")
