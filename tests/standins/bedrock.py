"""Bedrock's runtime for embedding models: its wire format and its limits, with e5's vectors in theirs' shape."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np

from graph.ports import Embedder

Kind = Literal["query", "passage"]


class Refused(Exception):
    """A request that Bedrock would answer with this status and error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass
class Bedrock:
    """The server, what it was asked, and how it is to fail."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Refused] = field(default_factory=list)
    """For the next requests, one each."""

    @property
    def connection(self) -> dict[str, Any]:
        """Arguments of a boto3 client."""
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return {"endpoint_url": self.url, "region_name": "us-east-1"} | keys


@contextmanager
def bedrock(embedder: Embedder) -> Iterator[Bedrock]:
    """Serve on a free port of loopback."""
    state = Bedrock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append(body)
            try:
                if state.failures:
                    raise state.failures.pop(0)
                self._send(200, _answer(unquote(self.path), body, embedder))
            except Refused as refused:
                self._send(refused.status, {"message": str(refused)}, {"x-amzn-ErrorType": refused.code})

        def _send(self, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(path: str, body: dict[str, Any], embedder: Embedder) -> dict[str, Any]:
    match path.split("/"):
        case ["", "model", "amazon.titan-embed-text-v2:0", "invoke"]:
            return _titan(body, embedder)
        case ["", "model", "cohere.embed-multilingual-v3", "invoke"]:
            return _cohere(body, embedder)
    raise Refused(404, "ResourceNotFoundException", "Could not resolve the foundation model from the provided identifier.")


def _titan(body: dict[str, Any], embedder: Embedder) -> dict[str, Any]:
    text, dimensions = body["inputText"], body.get("dimensions", 1024)
    if not text.strip() or len(text) > 50_000 or set(body) - {"inputText", "dimensions", "normalize", "embeddingTypes"}:
        raise Refused(400, "ValidationException", "Malformed input request")
    if dimensions not in (256, 512, 1024):
        raise Refused(400, "ValidationException", f"{dimensions} is not a valid enum value")
    (vector,) = _vectors([text], "passage", dimensions, embedder)
    return {"embedding": vector, "inputTextTokenCount": len(text.split())}


def _cohere(body: dict[str, Any], embedder: Embedder) -> dict[str, Any]:
    texts, kind = body["texts"], body["input_type"]
    if len(texts) > 96 or any(not text.strip() or len(text) > 2048 for text in texts):
        raise Refused(400, "ValidationException", "Malformed input request")
    as_ours: dict[str, Kind] = {"search_query": "query", "search_document": "passage"}
    vectors = _vectors(texts, as_ours[kind], 1024, embedder)
    longer = [[3 * value for value in vector] for vector in vectors]  # Cohere's are not of length one
    return {"embeddings": longer, "id": "x", "response_type": "embeddings_floats", "texts": texts}


def _vectors(texts: list[str], kind: Kind, dimensions: int, embedder: Embedder) -> list[list[float]]:
    vectors = asyncio.run(embedder.embed(texts, kind))
    if dimensions < vectors.shape[1]:
        mix = np.random.default_rng(0).normal(size=(vectors.shape[1], dimensions)).astype(np.float32)
        vectors = vectors @ mix
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    padded = np.pad(vectors, ((0, 0), (0, max(0, dimensions - vectors.shape[1]))))
    rows: list[list[float]] = padded.tolist()
    return rows
