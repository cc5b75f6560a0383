"""A laptop's server with an issuer: HTTP and WebSocket let in whom it has signed in, each to what is theirs."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.functions.conftest import PATIENT
from tests.functions.talk import Talk
from tests.server import SCRIPTED, RunningServer, start_server
from tests.standins.issuer import Issuer, issuing, rsa_key, token


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that asks who comes."""
    home = tmp_path_factory.mktemp("guarded")
    running = start_server(home, "--host", "0.0.0.0", program=SCRIPTED, env=PATIENT | issuer.environment)
    running.url = running.url.replace("0.0.0.0", "127.0.0.1")
    yield running
    assert running.stop() == 0


@pytest.fixture
async def http(guarded: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=guarded.url, timeout=60, trust_env=False) as client:
        yield client


def bearer(user: str = "ada", **claims: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(sub=user, **claims)}"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/chat"), ("GET", "/turns/t"), ("GET", "/turns/t/events"), ("POST", "/turns/t/cancel"), ("GET", "/threads"),
        ("DELETE", "/threads/t"), ("POST", "/documents"), ("GET", "/documents"), ("DELETE", "/documents/d"),
        ("GET", "/documents/d/source"), ("POST", "/search"), ("POST", "/tickets"),
    ],
)  # fmt: skip
async def test_nothing_is_done_for_strangers(http: httpx.AsyncClient, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": f"Bearer {token(rsa_key('stranger'))}"}, {"Authorization": "Bearer"}):
        answer = await http.request(method, path, headers=headers, content=b"{")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_token_without_tenant_is_forbidden(http: httpx.AsyncClient) -> None:
    answer = await http.get("/threads", headers=bearer(tenant=None))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("path", ["/health", "/openapi.json", "/docs", "/"])
async def test_what_shows_nothing_of_anybody_is_open(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(path, headers={"Accept": "*/*"})).status_code == 200


async def test_documents_are_the_tenants_and_turns_the_users(http: httpx.AsyncClient) -> None:
    put = await http.post("/documents", headers=bearer(), files={"file": ("a.md", b"# A\n\nText.")})
    turn = await http.post("/chat", headers=bearer(), json={"question": "tokens one two", "thread_id": "t"})
    assert (put.status_code, turn.status_code) == (202, 200), (put.text, turn.text)
    document, turn_id = f"/documents/{put.json()['document_id']}", f"/turns/{turn.json()['turn_id']}"

    colleague, other = bearer("ben"), bearer("ada", tenant="rival")

    assert (await http.get(document, headers=colleague)).status_code == 200
    assert (await http.get(turn_id, headers=colleague)).status_code == 404
    assert (await http.get("/threads", headers=colleague)).json()["threads"] == []
    assert [(await http.get(path, headers=other)).status_code for path in (document, turn_id, "/threads/t")] == [404] * 3
    assert (await http.get("/documents", headers=other)).json()["documents"] == []


async def test_a_websocket_opens_by_a_token(guarded: RunningServer) -> None:
    async with connect(guarded.socket_url, additional_headers=bearer(), proxy=None) as socket:
        talk = Talk(socket)
        await talk.send(action="ping")
        assert (await talk.next())["type"] == "pong"


async def test_a_websocket_opens_by_a_ticket_once(guarded: RunningServer, http: httpx.AsyncClient) -> None:
    answer = await http.post("/tickets", headers=bearer())
    assert (answer.status_code, answer.json()["expires_in"], answer.headers["Cache-Control"]) == (201, 60, "no-store")
    address = f"{guarded.socket_url}?ticket={answer.json()['ticket']}"

    async with connect(address, proxy=None) as socket:
        await Talk(socket).send(action="ping")
        assert (await Talk(socket).next())["type"] == "pong"
    assert await refusal(address) == 401


@pytest.mark.parametrize("query", ["", "?ticket=", "?ticket=x"])
async def test_a_websocket_stays_shut_for_strangers(guarded: RunningServer, query: str) -> None:
    assert await refusal(guarded.socket_url + query) == 401


async def test_a_websocket_stays_shut_without_a_tenant(guarded: RunningServer) -> None:
    assert await refusal(guarded.socket_url, bearer(tenant=None)) == 403


async def test_a_laptop_without_issuer_has_tickets_too(server: RunningServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        ticket = (await client.post("/tickets")).json()["ticket"]
    address = f"{server.socket_url}?ticket={ticket}"

    async with connect(address, proxy=None) as socket:
        await Talk(socket).send(action="ping")
        assert (await Talk(socket).next())["type"] == "pong"
    assert await refusal(address) == 401


async def refusal(address: str, headers: dict[str, str] | None = None) -> int:
    """The status that a handshake is refused with."""
    with pytest.raises(InvalidStatus) as refused:
        async with connect(address, additional_headers=headers, proxy=None):
            pass
    return refused.value.response.status_code
