"""``POST /chat`` without a key over FastAPI's documentation: milliseconds of questions never asked before, and what is right.

    python -m tests.bench.chat [HOME]

HOME has read the documentation (``footnote ingest --home HOME …/fastapi_docs/en …/fastapi_docs/zh``); without one it is read
first, which takes some minutes. Each round is a fresh server that is asked every question of the eval once. Other work on the
machine counts in full, so its load is printed beside.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.e2e.client import Client, Json
from tests.evals.questions import QUICK, Answered, Question, ask, listed, read, read_by_footnote
from tests.server import serving

DOCS = Path(__file__).parents[3] / "shared" / "data" / "fastapi_docs"
QUESTIONS = Path(__file__).parents[1] / "evals" / "fastapi_docs" / "questions.jsonl"
ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class Timed(Client):
    """A client that notes how long each answer took."""

    ms: list[float] = field(default_factory=list)

    def ask(self, question: str, **body: object) -> Json:
        started = time.perf_counter()
        turn = super().ask(question, **body)
        self.ms.append((time.perf_counter() - started) * 1_000)
        return turn


def measure(home: Path, questions: Sequence[Question]) -> tuple[list[float], list[Answered]]:
    """Milliseconds of every question on a fresh server, and the answers."""
    with serving(home, env=QUICK) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        client = Timed(http=http, socket_url="")
        client.json("POST", "/search", json={"query": "the embedder is loaded"})
        return client.ms, ask(client, questions)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def run(home: Path) -> None:
    """Print one line a round, then what was wrong."""
    questions = read(QUESTIONS)
    print(f"{'p50 ms':>8} {'p95 ms':>8} {'load':>6}   cited   claimed", flush=True)
    wrong: list[Answered] = []
    medians = []
    for _ in range(ROUNDS):
        ms, answers = measure(home, questions)
        answerable = [answer for answer in answers if answer.question["documents"]]
        cited = sum(answer.is_cited for answer in answerable)
        claimed = sum(not answer.is_right for answer in answers if not answer.question["documents"])
        medians.append(statistics.median(ms))
        counts = f"{cited:2} of {len(answerable)}   {claimed} of {len(answers) - len(answerable)}"
        print(f"{medians[-1]:8.0f} {quantile(ms, 0.95):8.0f} {os.getloadavg()[0]:6.2f}   {counts}", flush=True)
        wrong = [answer for answer in answers if not answer.is_right]
    print(f"median of {ROUNDS} rounds: p50 {statistics.median(medians):.0f} ms\nnot right in the last:{listed(wrong)}")


def main() -> None:
    """Measure over a home that has read the documentation."""
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        with read_by_footnote(Path(folder), [DOCS / "en", DOCS / "zh"], seconds=1_800):
            pass
        run(Path(folder))


if __name__ == "__main__":
    main()
