"""The WebSocket's authorizer, with API Gateway's events."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.authorizer import handler as authorizer
from functions.identity import Caller, from_context
from functions.local.invoke import Context, invoke
from functions.tickets import Tickets
from graph.errors import InvalidSetting, Unavailable
from graph.event_loop import run
from graph.settings import Settings
from graph.wiring import Wiring
from tests.standins.issuer import AUDIENCE, ISSUER, Issuer, issuing, rsa_key, token

EVENTS = Path(__file__).parents[2] / "events"
ADA = Caller(tenant="acme", user="ada", groups=frozenset({"hr"}))


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture
def wired(issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wiring]:
    settings = Settings(home=tmp_path, auth_issuer=ISSUER, auth_audience=AUDIENCE, auth_jwks_url=issuer.url)
    made = Wiring(settings)
    monkeypatch.setattr(authorizer, "wiring", lambda: made)
    authorizer._gate.cache_clear()
    yield made
    run(made.close())
    authorizer._gate.cache_clear()


def bearer(signed: str, *, header: str = "Authorization") -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "authorizer_bearer.json").read_text())
    event["headers"] = {name: value for name, value in event["headers"].items() if name != "Authorization"}
    event["headers"][header] = f"Bearer {signed}"
    return event


def with_ticket(ticket: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "authorizer_ticket.json").read_text())
    event["queryStringParameters"]["ticket"] = ticket
    return event


def decide(event: dict[str, Any]) -> dict[str, Any]:
    return authorizer.handler(event, Context(function_name="authorizer"))


@pytest.mark.usefixtures("wired")
@pytest.mark.parametrize("header", ["Authorization", "authorization"])
def test_a_token_lets_in_and_says_whom(header: str) -> None:
    event = bearer(token(groups=["hr"]), header=header)

    decided = decide(event)

    assert from_context(decided["context"]) == ADA
    (statement,) = decided["policyDocument"]["Statement"]
    assert statement == {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": event["methodArn"]}


def test_a_ticket_lets_in_once_over_warm_invocations(wired: Wiring) -> None:
    ticket = run(Tickets(wired.table).issue(ADA))

    assert from_context(decide(with_ticket(ticket))["context"]) == ADA
    with pytest.raises(authorizer.Refused, match=r"^Unauthorized$"):
        decide(with_ticket(ticket))


@pytest.mark.usefixtures("wired")
def test_strangers_are_refused_in_the_words_that_api_gateway_knows() -> None:
    nothing = {**bearer(""), "headers": None, "queryStringParameters": None}
    for event in (bearer("x"), bearer(token(rsa_key("stranger"))), with_ticket("never issued"), nothing):
        with pytest.raises(authorizer.Refused, match=r"^Unauthorized$"):
            decide(event)


@pytest.mark.usefixtures("wired")
def test_a_token_without_tenant_is_denied() -> None:
    decided = decide(bearer(token(tenant=None)))

    assert decided["policyDocument"]["Statement"][0]["Effect"] == "Deny"
    assert "context" not in decided


@pytest.mark.usefixtures("wired")
def test_tokens_and_tickets_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    stranger = token(rsa_key("stranger"))
    for event in (bearer(stranger), with_ticket("never-issued")):
        with pytest.raises(authorizer.Refused):
            decide(event)

    assert "refused" in caplog.text
    assert not any(secret in caplog.text for secret in (stranger, "never-issued"))


def test_keys_that_cannot_be_had_are_no_refusal(wired: Wiring, issuer: Issuer) -> None:
    issuer.keys = [{"kty": "unknown"}]
    with pytest.raises(authorizer.Refused):
        decide(bearer(token()))
    wired.settings = wired.settings.model_copy(update={"auth_jwks_url": "http://127.0.0.1:1/"})
    authorizer._gate.cache_clear()
    with pytest.raises(Unavailable):
        decide(bearer(token()))


def test_without_an_issuer_nobody_is_let_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(authorizer, "wiring", lambda: Wiring(Settings(home=tmp_path)))
    authorizer._gate.cache_clear()
    with pytest.raises(InvalidSetting, match="AUTH_ISSUER"):
        decide(bearer(token()))


@pytest.mark.usefixtures("wired")
def test_footnote_invoke_knows_the_authorizer(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke("authorizer", EVENTS / "authorizer_ticket.json") == 1
    assert "Unauthorized" in capsys.readouterr().err


def test_it_loads_little() -> None:
    heavy = ("numpy", "opensearchpy", "langgraph", "langchain_core", "fastapi", "starlette", "boto3", "onnxruntime", "httpx")
    program = f"import sys, functions.authorizer.handler; print([one for one in {heavy} if one in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603  # ours

    assert loaded.stdout.strip() == "[]"
