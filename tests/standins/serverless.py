"""The rules of a vector collection of OpenSearch Serverless, in front of a real OpenSearch.

From AWS's list of supported operations: no ids of one's own, no updates, no refresh, no deletes by query, no term vectors.
"""

import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_ALLOWED = re.compile(
    r"PUT /[^_/][^/]*|(HEAD|GET) /_alias/[^/]+|GET /[^/]+/_mapping"
    r"|POST /[^/]+/(_bulk|_search|_count)|(GET|POST) /[^/]+/_msearch"
)
_NO_ID = "Document ID is not supported in create/index operation request"


@contextmanager
def collection(of: str) -> Iterator[tuple[str, list[str]]]:
    """A URL that obeys the rules over the server at another, and a list of what was refused."""
    refused: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(urlsplit(of).netloc, refused))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", refused
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(upstream: str, refused: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reason = _violation(self.command, self.path, body)
            if reason:
                refused.append(reason)
                self._send(400, json.dumps({"error": {"type": "illegal_argument_exception", "reason": reason}}).encode())
                return
            connection = http.client.HTTPConnection(upstream)
            connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            self._send(answer.status, answer.read())
            connection.close()

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815  # as http.server wants them

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _violation(method: str, target: str, body: bytes) -> str | None:
    url = urlsplit(target)
    if not _ALLOWED.fullmatch(f"{method} {url.path}"):
        return f"{method} {url.path} is not supported"
    if "refresh" in url.query or "require_alias" in url.query:
        return f"{url.query} is not supported"
    if method == "PUT" and "number_of" in body.decode():
        return "shards and replicas cannot be set"
    return _bulk_violation(body) if url.path.endswith("/_bulk") else None


def _bulk_violation(body: bytes) -> str | None:
    lines = iter(body.decode().splitlines())
    for line in lines:
        action: Any = json.loads(line)
        if "update" in action:
            return "updates are not supported"
        if "delete" not in action:
            next(lines)
            if "_id" in action.get("index", action.get("create")):
                return _NO_ID
    return None
