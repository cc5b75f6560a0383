"""Fifty users at once over the WebSocket, against a stand-in for Groq: turns, errors and memory.

    python -m tests.bench.load [--users 50] [--seconds 60]

Server and stand-in run in processes of their own. Each user has one connection and asks on as soon as it is answered, in a
new thread every fifth question. Memory is the server's resident set; its growth counts from the middle of the run, when
every cache has been filled.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psutil
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.turns import HANDBOOK, SEVERAL, SIMPLE, stand_in
from tests.e2e.client import Client
from tests.evals.questions import QUICK
from tests.server import RunningServer, start_server

QUESTIONS = SIMPLE + SEVERAL
_TURNS_A_THREAD = 5
_SAMPLE_S = 5.0
_PATIENCE_S = 120.0


@dataclass
class Seen:
    """What the users got."""

    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    accepted_ms: list[float] = field(default_factory=list)
    first_token_ms: list[float] = field(default_factory=list)
    turn_ms: list[float] = field(default_factory=list)


async def user(url: str, number: int, until: float, seen: Seen) -> None:
    """Ask until the time is over; whatever goes wrong is counted."""
    try:
        async with connect(url, proxy=None, max_size=None) as socket:
            asked = 0
            while time.monotonic() < until:
                thread = f"load-{number}-{asked // _TURNS_A_THREAD}"
                await turn(socket, QUESTIONS[(number + asked) % len(QUESTIONS)], thread, seen)
                asked += 1
    except Exception as error:  # noqa: BLE001  # a user who is thrown out is what this looks for
        seen.errors[type(error).__name__] += 1


async def turn(socket: ClientConnection, question: str, thread: str, seen: Seen) -> None:
    """One question, to its end."""
    began, last, first_token = time.perf_counter(), 0, 0.0
    await socket.send(json.dumps({"action": "ask", "message_id": uuid4().hex, "thread_id": thread, "question": question}))
    while True:
        event = json.loads(await asyncio.wait_for(socket.recv(), _PATIENCE_S))
        elapsed = (time.perf_counter() - began) * 1_000
        if event["type"] == "error":
            seen.errors[event["code"]] += 1
            return
        if event["type"] == "heartbeat":
            continue
        seen.errors["gap in seq"] += event["seq"] != last + 1
        last = event["seq"]
        if event["type"] == "accepted":
            seen.accepted_ms.append(elapsed)
        if event["type"] == "token" and not first_token:
            first_token = elapsed
            seen.first_token_ms.append(elapsed)
        if event["type"] == "done":
            seen.outcomes[event["turn"]["outcome"]] += 1
            seen.turn_ms.append(elapsed)
            return


async def watch(process: psutil.Process, memory: list[float]) -> None:
    """Note the resident set, in MB."""
    while True:
        memory.append(process.memory_info().rss / 1e6)
        await asyncio.sleep(_SAMPLE_S)


async def load(server: RunningServer, users: int, seconds: float) -> tuple[Seen, list[float]]:
    """Let the users ask for so long; what they got, and the memory that the server had meanwhile."""
    seen, memory, until = Seen(), list[float](), time.monotonic() + seconds
    watching = asyncio.create_task(watch(psutil.Process(server.process.pid), memory))
    await asyncio.gather(*(user(server.socket_url, number, until, seen) for number in range(users)))
    watching.cancel()
    return seen, memory


def show(seen: Seen, memory: list[float], users: int, seconds: float) -> None:
    """Print one line for each thing that is looked for."""
    print(f"{users} users, {seconds:.0f} s, load {os.getloadavg()[0]:.1f}: {sum(seen.outcomes.values())} turns", flush=True)
    print(f"  outcomes: {dict(seen.outcomes)}")
    print(f"  errors: {dict(+seen.errors) or 'none'}")
    for name, values in (("accepted", seen.accepted_ms), ("first token", seen.first_token_ms), ("whole turn", seen.turn_ms)):
        ordered = sorted(values) or [0.0]
        print(f"  {name}: p50 {statistics.median(ordered):.0f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.0f} ms")
    middle, end = statistics.median(memory[len(memory) // 2 :][:3]), statistics.median(memory[-3:])
    print(f"  memory: {memory[0]:.0f} MB at first, {middle:.0f} in the middle, {end:.0f} at the end ({end - middle:+.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, stand_in() as groq:
        env = QUICK | {"GROQ_BASE_URL": groq, "GROQ_API_KEY": "stand-in"}
        server = start_server(Path(home), "--docs", str(HANDBOOK), env=env)
        try:
            with Client.of(server.url) as client:
                client.read_all(sum(path.is_file() for path in HANDBOOK.rglob("*")), seconds=120)
            seen, memory = asyncio.run(load(server, chosen.users, chosen.seconds))
            show(seen, memory, chosen.users, chosen.seconds)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
