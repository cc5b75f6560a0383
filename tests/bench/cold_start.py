"""From process start to a function that can take its first request, beside the plain import of what a chat takes.

    python -m tests.bench.cold_start [ROUNDS]

Each start is a process of its own, with bytecode there. A function is ready when all that its first request works with is
there: the handler, the adapters that AWS's settings name, and their clients; so nothing is gained by putting an import off.
Only what the network or the embedder's model takes is left out. The reference is the import of langgraph, DynamoDBSaver, groq,
opensearch-py, FastAPI and Powertools in the same run. Medians of interleaved rounds; below each, the packages whose own code
takes longest.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

ROUNDS = 7
REFERENCE = """
import langgraph.graph, langgraph_checkpoint_aws, groq, opensearchpy, fastapi
import aws_lambda_powertools, aws_lambda_powertools.metrics, aws_lambda_powertools.utilities.parameters
"""
_STORES = """
from graph.wiring import wiring
from graph.adapters import boto
wired = wiring()
wired.table, wired.bucket, wired.index, wired.embedder
boto.client("dynamodb"), boto.client("s3")
"""
READY = {
    "worker": (
        f"""
from functions.worker import handler
{_STORES}
from graph.event_loop import run
handler._worker(), wired.callback, run(wired.agent())
""",
        0.65,
    ),
    "api": (f"from functions.api import handler\n{_STORES}\nhandler.run(handler._current())\nhandler._mangum()", 0.75),
    "api, GET /health": (
        """
import json, pathlib
from functions.api import handler
class Context: aws_request_id = "r"
answer = handler.handler(json.loads(pathlib.Path("events/http_health.json").read_text()), Context())
assert answer["statusCode"] == 200
""",
        0.45,
    ),
    "ingestion": (f"from ingestion import handler, metrics\n{_STORES}", 0.45),
    "websocket": (
        """
from functions.websocket import handler
from graph.adapters import boto
handler._door(), handler.wiring().callback
boto.client("dynamodb"), boto.client("lambda")
""",
        0.3,
    ),
    "authorizer": (
        """
from functions.authorizer import handler
from graph.adapters import boto
handler._gate()
boto.client("dynamodb")
""",
        0.3,
    ),
}
"""What a function works with, and the share of the reference that it may take."""
SETTINGS = {
    "FOOTNOTE_TABLE": "t",
    "FOOTNOTE_CHECKPOINTS_TABLE": "c",
    "FOOTNOTE_BUCKET": "b",
    "FOOTNOTE_OPENSEARCH_URL": "http://127.0.0.1:9",
    "FOOTNOTE_WORKER": "w",
    "FOOTNOTE_CALLBACK_URL": "http://127.0.0.1:9/live",
    "FOOTNOTE_GROQ_SECRET": "g",
    "FOOTNOTE_AUTH_ISSUER": "https://issuer.example",
    "FOOTNOTE_AUTH_AUDIENCE": "a",
    "FOOTNOTE_AUTH_JWKS_URL": "https://issuer.example/keys",
    "POWERTOOLS_METRICS_NAMESPACE": "Footnote",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
}
_IMPORT = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\w+)", re.MULTILINE)


def start(code: str, home: str, *options: str) -> tuple[float, str]:
    """Seconds that a process takes that runs this, and what it says on stderr."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("FOOTNOTE_", "GROQ_", "AWS_"))}
    began = time.perf_counter()
    ended = subprocess.run(  # noqa: S603  # ours
        [sys.executable, *options, "-c", code],
        env=bare | SETTINGS | {"FOOTNOTE_HOME": home},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return time.perf_counter() - began, ended.stderr


def dominating(code: str, home: str) -> str:
    """The packages whose own modules take longest to import."""
    spent: Counter[str] = Counter()
    for microseconds, package in _IMPORT.findall(start(code, home, "-X", "importtime")[1]):
        spent[package] += int(microseconds)
    return ", ".join(f"{package} {microseconds / 1000:.0f} ms" for package, microseconds in spent.most_common(4))


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    taken: dict[str, list[float]] = {name: [] for name in ("reference", *READY)}
    with tempfile.TemporaryDirectory() as home:
        for number in range(rounds + 1):
            for name, times in taken.items():
                spent = start(REFERENCE if name == "reference" else READY[name][0], home)[0]
                if number:  # the first round compiles
                    times.append(spent)
        reference = statistics.median(taken["reference"])
        print(f"reference: {reference:.2f} s")
        for name, (code, goal) in READY.items():
            ratio = statistics.median(taken[name]) / reference
            print(f"{name}: {ratio:.2f}x (goal {goal}x)\n  {dominating(code, home)}", flush=True)


if __name__ == "__main__":
    main()
