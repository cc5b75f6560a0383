"""Who calls: tokens, their keys, and what their claims come to."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest

from functions.errors import Forbidden, Unauthorized
from functions.identity import Caller, caller_of, from_context, to_context
from functions.jwks import Keys
from functions.tokens import Tokens
from graph.errors import InvalidSetting, Unavailable
from graph.settings import Settings
from tests.standins.issuer import AUDIENCE, ISSUER, Issuer, ec_key, issuing, public, rsa_key, token


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


def tokens(issuer: Issuer, keys: Keys | None = None) -> Tokens:
    settings = Settings(auth_issuer=ISSUER, auth_audience=AUDIENCE, auth_jwks_url=issuer.url)
    return Tokens(settings, keys)


def in_seconds(seconds: int) -> int:
    return int(time.time()) + seconds


async def caller(issuer: Issuer, bearer: str) -> Caller:
    return await tokens(issuer).caller(f"Bearer {bearer}")


async def test_a_token_says_who_calls_and_what_they_may_read(issuer: Issuer) -> None:
    assert await caller(issuer, token(groups=["hr", "finance"])) == Caller(
        tenant="acme", user="ada", groups=frozenset({"hr", "finance"})
    )
    assert await caller(issuer, token(ec_key("e"), kid="e", algorithm="ES256")) == Caller(tenant="acme", user="ada")


async def test_cognitos_access_tokens_have_a_client_in_place_of_an_audience(issuer: Issuer) -> None:
    assert (await caller(issuer, token(aud=None, client_id=AUDIENCE))).user == "ada"
    assert (await caller(issuer, token(aud=["else", AUDIENCE]))).user == "ada"
    for meant in ({"aud": "else"}, {"aud": "else", "client_id": AUDIENCE}, {"aud": None}, {"aud": None, "client_id": "else"}):
        with pytest.raises(Unauthorized, match="somebody else"):
            await caller(issuer, token(**meant))


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"exp": -600}, "expired"),
        ({"exp": None}, "exp"),
        ({"nbf": 600}, "not yet"),
        ({"iss": "https://issuer.example/"}, "issuer"),
        ({"iss": None}, "iss"),
    ],
)
async def test_a_token_that_does_not_hold_now_or_here_proves_nobody(issuer: Issuer, claims: dict[str, Any], why: str) -> None:
    from_now: dict[str, Any] = {name: in_seconds(value) if isinstance(value, int) else value for name, value in claims.items()}
    with pytest.raises(Unauthorized, match=why):
        await caller(issuer, token(**from_now))


async def test_clocks_may_differ_a_little(issuer: Issuer) -> None:
    assert (await caller(issuer, token(exp=in_seconds(-10)))).user == "ada"
    assert (await caller(issuer, token(nbf=in_seconds(20), iat=in_seconds(20)))).user == "ada"


@pytest.mark.parametrize(
    "forged",
    [
        "", "x", "a.b.c", "\ud800", "é" * 40,
        token(rsa_key("stranger")),
        token(ec_key("stranger"), kid="e", algorithm="ES256"),
        token(ec_key("e"), kid="a", algorithm="ES256"),
        token(rsa_key("a"), algorithm="RS512"),
        token(kid="unknown"),
        "eyJhbGciOiJub25lIn0." + token().split(".")[1] + ".",
        jwt.encode({"sub": "ada", "iss": ISSUER, "exp": in_seconds(86_400)}, "k" * 40, "HS256", headers={"kid": "a"}),
        token()[:-8] + "AAAAAAAA",
    ],
)  # fmt: skip
async def test_what_the_issuer_has_not_signed_proves_nobody(issuer: Issuer, forged: str) -> None:
    with pytest.raises(Unauthorized):
        await caller(issuer, forged)


@pytest.mark.parametrize("header", ["", "Bearer", f"Basic {token()}", token()])
async def test_only_bearer_tokens_count(issuer: Issuer, header: str) -> None:
    with pytest.raises(Unauthorized, match="Bearer"):
        await tokens(issuer).caller(header)


async def test_keys_are_fetched_once_and_anew_when_they_rotate(issuer: Issuer) -> None:
    now = 1000.0
    verify = tokens(issuer, Keys(issuer.url, clock=lambda: now)).caller
    await asyncio.gather(*(verify(f"Bearer {token()}") for _ in range(5)))
    assert issuer.asked == 1

    issuer.keys = [public("b", rsa_key("b"))]
    with pytest.raises(Unauthorized):  # too soon after the last fetch
        await verify(f"Bearer {token(rsa_key('b'), kid='b')}")
    assert issuer.asked == 1

    now += 11
    assert (await verify(f"Bearer {token(rsa_key('b'), kid='b')}")).user == "ada"
    with pytest.raises(Unauthorized):
        await verify(f"Bearer {token()}")
    assert issuer.asked == 2


async def test_a_key_that_was_taken_back_is_believed_for_an_hour_at_most(issuer: Issuer) -> None:
    now = 1000.0
    verify = tokens(issuer, Keys(issuer.url, clock=lambda: now)).caller
    await verify(f"Bearer {token()}")
    issuer.keys = [public("b", rsa_key("b"))]

    now += 3601

    with pytest.raises(Unauthorized):
        await verify(f"Bearer {token()}")


async def test_while_the_issuer_is_away_its_keys_count_for_a_day(issuer: Issuer) -> None:
    now = 1000.0
    gone = False

    def fetch(_url: str) -> bytes:
        if gone:
            raise OSError("no route")
        return json.dumps({"keys": issuer.keys}).encode()

    verify = tokens(issuer, Keys(issuer.url, fetch=fetch, clock=lambda: now)).caller
    await verify(f"Bearer {token()}")
    gone = True

    now += 80_000
    assert (await verify(f"Bearer {token()}")).user == "ada"
    now += 10_000
    with pytest.raises(Unavailable, match="keys"):
        await verify(f"Bearer {token()}")


async def test_without_any_keys_it_is_we_who_are_unavailable() -> None:
    nowhere = Issuer(url="http://127.0.0.1:1/jwks.json")
    with pytest.raises(Unavailable):
        await caller(nowhere, token())


async def test_an_issuer_with_one_key_need_not_name_it(issuer: Issuer) -> None:
    assert (await caller(issuer, token(kid=None))).user == "ada"


async def test_keys_for_other_uses_and_broken_ones_are_passed_over(issuer: Issuer) -> None:
    encrypting = public("a", rsa_key("a")) | {"use": "enc"}
    issuer.keys = [{"kty": "oct", "k": "AAAA", "kid": "a"}, {"kty": "RSA"}, {}, encrypting, *issuer.keys]
    assert (await caller(issuer, token())).user == "ada"
    issuer.keys = [encrypting]
    with pytest.raises(Unauthorized):
        await caller(issuer, token())


def of(**claims: object) -> Caller:
    return caller_of({"sub": "ada", "tenant": "acme"} | claims, tenant_claim="tenant", groups_claim="groups")


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": None}, {"sub": " "}, {"sub": True}, {"sub": ["ada"]}, {"sub": "a\0"}, {"sub": "x" * 256},
        {"tenant": None}, {"tenant": ""}, {"tenant": "a/b"}, {"tenant": ".."}, {"tenant": "a\nb"}, {"tenant": {"a": 1}},
        {"tenant": "\ud800"},
    ],
)  # fmt: skip
def test_a_token_without_user_or_tenant_is_forbidden(claims: dict[str, object]) -> None:
    with pytest.raises(Forbidden):
        of(**claims)


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (["hr", "finance", " hr "], {"hr", "finance"}),
        ("[hr finance]", {"hr", "finance"}),  # as API Gateway writes a list
        ('["hr", "two words"]', {"hr", "two words"}),
        ("hr, two words", {"hr", "two words"}),
        ("[]", set()),
        ("", set()),
        (None, set()),
        (7, set()),
        ([], set()),
    ],
)
def test_groups_are_read_as_issuers_and_gateways_write_them(claim: object, groups: set[str]) -> None:
    assert of(groups=claim).groups == groups


def test_a_caller_is_the_same_behind_an_authorizer() -> None:
    caller = Caller(tenant="公司", user='a "b"', groups=frozenset({"x, y", "z"}))

    context = to_context(caller)

    assert all(isinstance(value, str) for value in context.values())
    assert from_context(context) == caller


def test_numbers_name_tenants_as_api_gateway_would_write_them() -> None:
    assert of(tenant=42) == of(tenant="42")


def test_part_of_an_issuer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_AUTH_ISSUER", ISSUER)
    with pytest.raises(InvalidSetting, match="FOOTNOTE_AUTH_JWKS_URL and FOOTNOTE_AUTH_AUDIENCE"):
        Settings.read()
    monkeypatch.setenv("FOOTNOTE_AUTH_AUDIENCE", AUDIENCE)
    monkeypatch.setenv("FOOTNOTE_AUTH_JWKS_URL", "jwks.json")
    with pytest.raises(InvalidSetting, match="address"):
        Settings.read()
