"""Parts for ingestion's tests: an embedder that computes nothing, and the laptop's stores around it."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote_plus

import numpy as np
from numpy.typing import NDArray

from graph.documents import DocumentRecord, Documents, document_id
from graph.errors import Unavailable
from graph.keys import key_of
from graph.ports import Access, Calibration, Passage
from graph.settings import Settings
from graph.wiring import Wiring

TENANT = "default"
ANYBODY = Access(tenant=TENANT)
EVENTS = Path(__file__).parents[2] / "events"
_TOKEN = re.compile(r"[a-zA-Z0-9]{1,4}|[^\sa-zA-Z0-9]")


class CountingEmbedder:
    """An `Embedder` that remembers what it was asked to embed; a token is four letters or digits, or one other character."""

    model = "counting/1"
    dimensions = 4
    max_tokens = 508
    calibration = Calibration(random_mean=0.0, random_std=1.0)

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.is_down = False

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> NDArray[np.float32]:
        assert kind == "passage"
        if self.is_down:
            raise Unavailable("the embedder is down")
        self.embedded += texts
        vectors = np.array([list(hashlib.sha256(text.encode()).digest()[:4]) for text in texts], np.float32) + 1
        unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_TOKEN.findall(text)) for text in texts]

    async def warm(self) -> None: ...


class Laptop(Wiring):
    """The wiring of a laptop with a counting embedder."""

    def __init__(self, home: Path) -> None:
        super().__init__(Settings.read(home=home))
        self.counting = CountingEmbedder()
        self.__dict__["embedder"] = self.counting
        self.documents = Documents(self.table)

    async def put(self, path: str, body: str | bytes, metadata: dict[str, str] | None = None) -> dict[str, Any]:
        """Put an object; the event that S3 would send for it."""
        raw = body.encode() if isinstance(body, str) else body
        info = await self.bucket.put(key_of(TENANT, path), raw, metadata=metadata)
        return event(path, sequencer=info.sequencer, size=info.bytes)

    async def drop(self, path: str) -> dict[str, Any]:
        """Delete an object; the event that S3 would send for it."""
        await self.bucket.delete(key_of(TENANT, path))
        return event(path, "ObjectRemoved:Delete")

    async def record(self, path: str) -> DocumentRecord:
        record = await self.documents.find(TENANT, document_id(TENANT, path))
        assert record is not None, f"{path} is not in the registry"
        return record

    async def passages(self, path: str, access: Access = ANYBODY) -> list[Passage]:
        return await self.index.read(document_id(TENANT, path), access, limit=10_000)

    async def text(self, path: str) -> str:
        """All that answers from a document."""
        return "\n".join(passage["text"] for passage in await self.passages(path))


def event(
    path: str, name: str = "ObjectCreated:Put", *, sequencer: str = "", size: int = 0, tenant: str = TENANT
) -> dict[str, Any]:
    """An S3 notification."""
    item = {"key": quote_plus(key_of(tenant, path), safe="/"), "size": size, "sequencer": sequencer}
    return {"Records": [{"eventSource": "aws:s3", "eventName": name, "s3": {"object": item}}]}


def batch(*events: dict[str, Any], attempt: int = 1) -> dict[str, Any]:
    """A queue's batch, whose messages are called 0, 1, 2 and so on."""
    return {
        "Records": [
            {
                "messageId": str(number),
                "eventSource": "aws:sqs",
                "attributes": {"ApproximateReceiveCount": str(attempt)},
                "body": json.dumps(one),
            }
            for number, one in enumerate(events)
        ]
    }


def stored_event(name: str) -> dict[str, Any]:
    """One of the events in ``events/``."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return loaded
