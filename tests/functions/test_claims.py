"""The HTTP API behind API Gateway: who calls is what the gateway verified, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.api import handler as api
from functions.local.invoke import Context
from graph.event_loop import run
from graph.settings import Settings
from graph.wiring import Wiring
from tests.standins.issuer import token

EVENTS = Path(__file__).parents[2] / "events"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    issuer = {"auth_issuer": "https://issuer.example", "auth_audience": "footnote", "auth_jwks_url": "http://127.0.0.1:1/"}
    return Settings(home=tmp_path, **issuer)  # type: ignore[arg-type]  # texts


@pytest.fixture(autouse=True)
def wired(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wiring]:
    made = Wiring(settings)
    monkeypatch.setattr(api, "wiring", lambda: made)
    api._mangum.cache_clear()
    yield made
    run(made.close())
    api._mangum.cache_clear()


def call(name: str, claims: dict[str, str] | None, *, path: str | None = None) -> dict[str, Any]:
    """What the handler answers to a stored event; the client claims more than the gateway does."""
    event = json.loads((EVENTS / f"{name}.json").read_text())
    event["headers"]["authorization"] = f"Bearer {token(tenant='forged')}"
    event["headers"]["x-tenant"] = "forged"
    if claims is not None:
        event["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    if path is not None:
        event["rawPath"] = event["requestContext"]["http"]["path"] = path
        event["rawQueryString"] = ""
    return api.handler(event, Context(function_name="api"))


def test_documents_go_to_the_tenant_that_the_gateway_names(wired: Wiring) -> None:
    answer = call("http_base64", {"sub": "ada", "custom:tenant": "acme", "cognito:groups": "[hr finance]"})

    assert answer["statusCode"] == 202, answer["body"]
    assert run(wired.bucket.head("uploads/acme/people/café.bin")) is not None
    assert run(wired.bucket.head("uploads/forged/people/café.bin")) is None


def test_a_request_that_the_gateway_let_by_without_claims_gets_nothing() -> None:
    for answer in (call("http_chat", None), call("http_base64", None)):
        assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (401, "unauthorized")
    assert call("http_health", None)["statusCode"] == 200


def test_claims_without_tenant_are_forbidden() -> None:
    assert call("http_cookies", {"sub": "ada"})["statusCode"] == 403


def test_tickets_are_issued_here_too() -> None:
    answer = call("http_chat", {"sub": "ada", "custom:tenant": "acme"}, path="/tickets")

    assert answer["statusCode"] == 201, answer["body"]
