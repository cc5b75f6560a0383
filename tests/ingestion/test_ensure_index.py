"""The custom resource that makes the index: on a real OpenSearch, and with what CloudFormation sends and hears."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from functions.local.invoke import Context, invoke
from graph.adapters.opensearch import Schema, connect, ensure_index, keep
from graph.settings import Settings
from graph.wiring import Wiring
from ingestion import ensure_index as resource
from tests.standins.aws import free_port

EVENT = Path(__file__).parents[2] / "events" / "index_create.json"


SCHEMA = Schema(model="m", dimensions=8)


@dataclass
class Listener:
    """What was sent to a server that agrees to everything, and has an index that fits `SCHEMA`."""

    url: str = ""
    heard: list[tuple[str, str, Any]] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            listener.heard.append((self.command, self.path, json.loads(body or b"{}")))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(json.dumps({"footnote-v1": {"mappings": {"_meta": SCHEMA.facts()}}}).encode())

        do_HEAD = do_GET = do_PUT  # noqa: N815  # as http.server wants them

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    listener.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def cloudformation() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


@pytest.fixture
def settings(opensearch_url: str, tmp_path: Path) -> Iterator[Settings]:
    name = f"footnote-{uuid.uuid4().hex}"
    yield Settings(home=tmp_path, opensearch_url=opensearch_url, opensearch_index=name)
    client = connect(opensearch_url)
    client.indices.delete(index=f"{name}-v*")
    client.close()


def call(settings: Settings, cloudformation: Listener, monkeypatch: pytest.MonkeyPatch, do: str = "Create") -> dict[str, Any]:
    """What CloudFormation hears."""
    monkeypatch.setattr(resource, "wiring", lambda: Wiring(settings))
    event = json.loads(EVENT.read_text()) | {"RequestType": do, "ResponseURL": f"{cloudformation.url}/answer?signed=1"}
    resource.handler(event, Context(function_name="ensure-index"))
    method, path, answer = cloudformation.heard.pop()
    assert (method, path, cloudformation.heard) == ("PUT", "/answer?signed=1", [])
    assert answer["RequestId"] == event["RequestId"]
    assert isinstance(answer, dict)
    return answer


def test_a_deploy_makes_the_index_and_the_next_one_finds_it(
    settings: Settings, cloudformation: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = call(settings, cloudformation, monkeypatch)
    found = call(settings, cloudformation, monkeypatch, "Update")

    assert (made["Status"], found["Status"]) == ("SUCCESS", "SUCCESS")
    assert made["PhysicalResourceId"] == found["PhysicalResourceId"]  # another one would be taken for a replacement
    client = connect(str(settings.opensearch_url))
    (mapping,) = client.indices.get_mapping(index=settings.opensearch_index).values()
    assert mapping["mappings"]["_meta"]["dimensions"] == 384
    client.close()


def test_an_index_of_another_dimension_or_analyzer_is_refused_with_both(
    settings: Settings, cloudformation: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect(str(settings.opensearch_url))
    monkeypatch.setattr("graph.adapters.opensearch.schema._ANALYZER", "older 0")
    ensure_index(client, settings.opensearch_index, Schema(model="older", dimensions=8))
    monkeypatch.undo()

    answer = call(settings, cloudformation, monkeypatch)

    assert answer["Status"] == "FAILED"
    for difference in ("dimensions 8 there, 384 wanted", "analyzer older 0 there, porter2", "model older there"):
        assert difference in answer["Reason"]
    client.close()


def test_a_stack_that_goes_leaves_the_index(
    settings: Settings, cloudformation: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(settings, cloudformation, monkeypatch)
    assert call(settings, cloudformation, monkeypatch, "Delete")["Status"] == "SUCCESS"
    client = connect(str(settings.opensearch_url))
    assert client.indices.exists_alias(name=settings.opensearch_index)
    client.close()


def test_an_opensearch_that_never_answers_fails_the_deploy_with_the_reason(
    cloudformation: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(resource, "_PATIENCE_S", 0.3)
    monkeypatch.setattr(resource, "_PAUSE_S", 0.1)
    settings = Settings(home=tmp_path, opensearch_url=f"http://127.0.0.1:{free_port()}")

    answer = call(settings, cloudformation, monkeypatch)

    assert answer["Status"] == "FAILED"
    assert "OpenSearch" in answer["Reason"]


def test_footnote_invoke_knows_it(cloudformation: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resource, "wiring", lambda: Wiring(Settings(home=tmp_path)))
    event = tmp_path / "event.json"
    event.write_text(EVENT.read_text().replace("http://127.0.0.1:9", cloudformation.url))

    assert invoke("ensure-index", event) == 0
    assert cloudformation.heard[0][2]["Status"] == "FAILED"  # no OpenSearch is named here


def test_no_opensearch_at_all_is_said(cloudformation: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = call(Settings(home=tmp_path), cloudformation, monkeypatch)

    assert (answer["Status"], "FOOTNOTE_OPENSEARCH_URL" in answer["Reason"]) == ("FAILED", True)


def test_a_domain_lets_in_the_roles_of_the_functions() -> None:
    """By the requests alone: the OpenSearch of these tests has no security plugin."""
    with listening() as domain:
        client = connect(domain.url)
        assert not keep(client, "footnote", SCHEMA, roles=["arn:b", "arn:a"])
        client.close()

    (_, role_path, role), (_, mapping_path, mapping) = domain.heard[:2]
    assert role_path == "/_plugins/_security/api/roles/footnote"
    assert role["index_permissions"][0]["index_patterns"] == ["footnote*"]
    assert (mapping_path, mapping) == ("/_plugins/_security/api/rolesmapping/footnote", {"backend_roles": ["arn:a", "arn:b"]})
