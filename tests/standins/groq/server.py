"""The server: its routes, and the failure that a request is to meet."""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.standins.groq.profiles import PROFILES, Profile
from tests.standins.groq.reply import Latency, Reply, node_of

Script = Callable[[dict[str, Any]], str | dict[str, Any] | None]


NONE = Latency(first_token_s=0.0, token_s=0.0)


@dataclass
class Failing:
    """A failure that requests meet: only so often, only for one node (``plan``, ``grade``, ``answer``, ``check``) or model."""

    profile: Profile
    times: int = 1_000_000
    node: str | None = None
    model: str | None = None

    def meets(self, node: str, model: str) -> bool:
        """Whether it strikes now; counts."""
        hit = self.times > 0 and self.node in (None, node) and self.model in (None, model)
        self.times -= hit
        return hit


class StandIn:
    """Runs in a thread of its own; a context manager. ``url`` is what ``GROQ_BASE_URL`` takes."""

    def __init__(self, *, latency: Latency = NONE, port: int = 0) -> None:
        self.latency = latency
        self.requests: list[dict[str, Any]] = []
        """Bodies of all completions asked for, with ``node`` added."""
        self.keys: list[str] = []
        """The keys that they came with."""
        self.failing: list[Failing] = []
        self.script: Script = lambda _: None
        """What to say to a request: a text, an object for JSON, or None for what is made from the prompt."""
        self.retry_after_s = 0.05
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        app = Starlette(
            routes=[
                Route("/openai/v1/chat/completions", self._completions, methods=["POST"]),
                Route("/admin", self._admin, methods=["GET", "POST", "DELETE"]),
            ]
        )
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def url(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=5)
        self._socket.close()

    def fail(self, profile: Profile, *, times: int = 1_000_000, node: str | None = None, model: str | None = None) -> None:
        """Let the next requests meet a failure."""
        self.failing.append(Failing(profile, times, node, model))

    def recover(self) -> None:
        """Answer well again, and forget what was asked."""
        self.failing.clear()
        self.requests.clear()
        self.keys.clear()

    def calls(self, node: str | None = None) -> int:
        """Requests so far, for one node or all."""
        return sum(node in (None, one["node"]) for one in self.requests)

    async def _admin(self, request: Request) -> Response:
        """``POST {"profile", "times"?, "node"?, "model"?}``, ``GET`` what was asked, ``DELETE`` to recover."""
        if request.method == "GET":
            return JSONResponse({"calls": len(self.requests), "requests": self.requests})
        if request.method == "DELETE":
            self.recover()
        else:
            self.fail(**await request.json())
        return JSONResponse({"failing": [vars(one) for one in self.failing]})

    async def _completions(self, request: Request) -> Response:
        body: dict[str, Any] = await request.json()
        body["node"] = node_of(body)
        self.requests.append(body)
        self.keys.append(request.headers.get("authorization", "").removeprefix("Bearer "))
        profile = self._profile(request, body)
        reply = Reply(body, profile, self.latency, self.script(body), self.retry_after_s)
        return await reply.response()

    def _profile(self, request: Request, body: dict[str, Any]) -> Profile | None:
        """By header, by model id (``stand-in/429``), or as set by `fail`."""
        asked = request.headers.get("x-standin-profile") or str(body["model"]).removeprefix("stand-in/")
        if asked in PROFILES:
            return asked
        return next((one.profile for one in self.failing if one.meets(body["node"], body["model"])), None)
