"""``python -m tests.standins.groq --port N``: print the address, serve until interrupted."""

import argparse
import signal
import threading

from tests.standins.groq import Latency, StandIn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--first-token-ms", type=float, default=120.0)
parser.add_argument("--token-ms", type=float, default=4.2)
arguments = parser.parse_args()

stop = threading.Event()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.set())
latency = Latency(first_token_s=arguments.first_token_ms / 1000, token_s=arguments.token_ms / 1000)
with StandIn(latency=latency, port=arguments.port) as groq:
    print(f"GROQ_BASE_URL={groq.url} GROQ_API_KEY=stand-in", flush=True)
    stop.wait()
