"""API Gateway's management API and Lambda's invocations, as far as the functions use them, on loopback."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]
_ERRORS = {
    410: "GoneException",
    413: "PayloadTooLargeException",
    429: "LimitExceededException",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}


class Gateway:
    """Keeps what was posted to connections, and what functions were called with."""

    def __init__(self) -> None:
        self.url = ""
        self.posted: defaultdict[str, list[Json]] = defaultdict(list)
        """Events by connection, in the order in which they arrived."""
        self.tasks: list[Json] = []
        self.largest_bytes = 0
        self.refusals: list[int] = []
        """Statuses that the next posts are answered with."""
        self.gone: set[str] = set()
        self.lambda_status = 202
        self.news = threading.Condition()

    @classmethod
    @contextmanager
    def running(cls) -> "Iterator[Gateway]":
        """Answer until the block ends."""
        gateway = cls()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # the server's name for it
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = gateway._take(unquote(self.path), body)
                self.send_response(status)
                if status in _ERRORS:
                    self.send_header("x-amzn-ErrorType", _ERRORS[status])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # its own name
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield gateway
        server.shutdown()
        server.server_close()
        thread.join()

    def _take(self, path: str, body: bytes) -> tuple[int, bytes]:
        with self.news:
            if path.endswith("/invocations"):
                if self.lambda_status < 300:
                    self.tasks.append(json.loads(body))
                return self.lambda_status, b""
            connection = path.rpartition("/@connections/")[2]
            status = 410 if connection in self.gone else self.refusals.pop(0) if self.refusals else 200
            if status == 200:
                self.posted[connection].append(json.loads(body))
                self.largest_bytes = max(self.largest_bytes, len(body))
            self.news.notify_all()
            return status, b"" if status == 200 else b"{}"

    def types(self, connection: str) -> list[str]:
        """The types of the events of a connection."""
        return [event["type"] for event in self.posted[connection]]

    def wait(self, connection: str, kind: str, *, count: int = 1) -> Json:
        """The event of this type that is posted as the ``count``th, waiting for it."""
        with self.news:
            assert self.news.wait_for(lambda: self.types(connection).count(kind) >= count, 20), self.types(connection)
        return [event for event in self.posted[connection] if event["type"] == kind][count - 1]
