"""What the WebSocket path adds in AWS's local stand-in: ask to accepted, and to the first token.

    python -m tests.bench.websocket [ROUNDS]

Deploys the environment ``local`` first, which takes some minutes. The stand-in for Groq takes 120 ms to a call's first token
and 4.2 ms for each token; beside the first token stands what that comes to along the calls which it had to wait for.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from websockets.sync.client import ClientConnection

from graph.turn import TraceSpan
from tests.bench.turns import FIRST_TOKEN_S, covered, model_ms
from tests.e2e.client import Client
from tests.standins import opensearch
from tests.standins.deployment import deployed

ROUNDS = 20
DOCUMENT = "# Ferry\n\nThe Zuluan ferry leaves at 07:41. A single ticket costs 6.35 crowns. Dogs travel free in winter."
QUESTIONS = ("When does the Zuluan ferry leave?", "How much is a single ticket of the Zuluan ferry?")


def ask(socket: ClientConnection, question: str) -> tuple[float, float, str]:
    """Milliseconds to ``accepted`` and to the first token, and the turn's id."""
    began, accepted, first = time.perf_counter(), 0.0, 0.0
    socket.send(json.dumps({"action": "ask", "message_id": uuid4().hex, "question": question}))
    while (event := json.loads(socket.recv(timeout=60)))["type"] != "done":
        elapsed = (time.perf_counter() - began) * 1_000
        accepted = elapsed if event["type"] == "accepted" else accepted
        first = first or (elapsed if event["type"] == "token" else 0.0)
    return accepted, first, event["turn_id"]


def critical_path(spans: Sequence[TraceSpan]) -> float:
    """Milliseconds of the stand-in's own that the first token had to wait for."""
    (answer,) = (span for span in spans if span["name"] == "answer")
    calls = [span for span in spans if span["name"].startswith("chat ")]
    before = [(one["start_ms"], model_ms(one)) for one in calls if one["start_ms"] < answer["start_ms"]]
    cut = [(start, min(took, answer["start_ms"] - start)) for start, took in before]
    is_streamed = any(one["parent_id"] == answer["span_id"] for one in calls)  # or it was drafted while the grade was made
    return covered(cut) + (FIRST_TOKEN_S * 1_000 if is_streamed else 0.0)


def measure(client: Client, rounds: int) -> None:
    """Print the medians."""
    accepted, first, path = list[float](), list[float](), list[float]()
    with client.socket() as socket:
        for number in range(rounds + 2):
            for question in QUESTIONS:
                to_accepted, to_first, turn_id = ask(socket, f"{question} ({number})")
                if number >= 2:  # the first warm everything
                    accepted.append(to_accepted)
                    first.append(to_first)
                    path.append(critical_path(client.json("GET", f"/turns/{turn_id}/trace")["spans"]))
    print(f"ask to accepted: p50 {statistics.median(accepted):.0f} ms")
    rest = [one - other for one, other in zip(first, path, strict=True)]
    print(f"ask to first token: p50 {statistics.median(first):.0f} ms; the stand-in's part {statistics.median(path):.0f} ms")
    print(f"the rest: p50 {statistics.median(rest):.0f} ms")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder, opensearch.server(Path(folder) / "opensearch", "3.6.0") as url:
        (Path(folder) / "deployed").mkdir()
        with deployed(Path(folder) / "deployed", url) as deployment:
            deployment.use_groq("gsk-stand-in")
            with deployment.client() as client:
                client.upload("ferry.md", DOCUMENT)
                measure(client, rounds)


if __name__ == "__main__":
    main()
