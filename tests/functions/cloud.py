"""The functions of AWS in this process: turns in the local AWS's DynamoDB, with the scripted agent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from functions.websocket.door import Door
from functions.worker.turns import Worker
from graph.adapters import boto
from graph.event_loop import run
from graph.settings import Settings
from graph.tracing import Trace
from tests.scripted import ScriptedWiring
from tests.standins import aws as aws_standin
from tests.standins.gateway import Gateway

Json = dict[str, Any]
EVENTS = Path(__file__).parents[2] / "events"
ACME = {"tenant": "acme", "user": "u-1", "groups": '["finance"]'}


def stored(name: str, **changes: object) -> Json:
    """An event of AWS."""
    event: Json = json.loads((EVENTS / f"{name}.json").read_text())
    return event | changes


@dataclass
class Cloud:
    """What is deployed."""

    wiring: ScriptedWiring
    gateway: Gateway
    who: Json = field(default_factory=lambda: dict(ACME))
    """As whom the authorizer let clients in."""
    door: Door = field(init=False)
    worker: Worker = field(init=False)

    def __post_init__(self) -> None:
        self.door, self.worker = Door(self.wiring), Worker(self.wiring)

    async def send(self, connection: str = "c", **frame: object) -> None:
        """A client sends a frame."""
        context = {"connectionId": connection, "eventType": "MESSAGE", "authorizer": self.who}
        await self.door.take({"requestContext": context, "body": json.dumps(frame)}, Trace())

    async def ask(self, question: str, connection: str = "c", message_id: str = "m", **frame: str) -> str:
        """A client asks; the id of the turn."""
        await self.send(connection, action="ask", question=question, message_id=message_id, **frame)
        turn_id: str = self.gateway.posted[connection][-1]["turn_id"]
        return turn_id

    async def work(self, task: Json | None = None, *, request_id: str = "r", left_s: float = 100) -> None:
        """The worker is invoked with the oldest task."""
        task = self.gateway.tasks.pop(0) if task is None else task
        connection = task.get("connection", {})
        if task["do"] == "run":
            await self.worker.run(task["turn_id"], task["fence"], connection.get("id"), request_id=request_id, left_s=left_s)
        else:
            await self.worker.follow(task["turn_id"], task["after"], connection["id"], connection["teller"])


@contextmanager
def cloud(aws: dict[str, str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Cloud]:
    """Deployed, on tables that are empty."""
    with Gateway.running() as gateway:
        for name, value in {
            "AWS_ENDPOINT_URL": aws["endpoint_url"],
            "AWS_ENDPOINT_URL_LAMBDA": gateway.url,
            "AWS_ACCESS_KEY_ID": aws["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": aws["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": aws["region_name"],
        }.items():
            monkeypatch.setenv(name, value)
        boto._client.cache_clear()
        aws_standin.make_table(boto.client("dynamodb"), "footnote")
        settings = Settings.read({}, home=home, table="footnote", worker="worker", callback_url=f"{gateway.url}/live")
        wiring = ScriptedWiring(settings)
        yield Cloud(wiring, gateway)
        run(wiring.close())
        boto._client.cache_clear()
