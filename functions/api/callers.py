"""How the API knows who calls: from a token that it verifies itself, or from claims that API Gateway has verified."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import HTTPConnection

from functions.errors import Unauthorized
from functions.gate import Gate
from functions.identity import LOCAL, Caller, caller_of
from graph.settings import Settings

Identify = Callable[[HTTPConnection], Awaitable[Caller]]


def by_gate(gate: Gate) -> Identify:
    """Verify the token of the request."""

    async def identify(request: HTTPConnection) -> Caller:
        return await gate.request(request.headers.get("authorization"))

    return identify


def by_gateway(settings: Settings) -> Identify:
    """Believe the claims in API Gateway's event, and nothing that a client could have written.

    Without claims it is the local user who asks, where the stores are a laptop's and no issuer is named.
    """
    is_open = not settings.has_identity and settings.table is None

    async def identify(request: HTTPConnection) -> Caller:
        claims = _claims(request.scope.get("aws.event", {}))
        if claims is not None:
            return caller_of(claims, tenant_claim=settings.auth_tenant_claim, groups_claim=settings.auth_groups_claim)
        if is_open:
            return LOCAL
        raise Unauthorized("send Authorization: Bearer and a token")

    return identify


def _claims(event: dict[str, Any]) -> dict[str, object] | None:
    claims: dict[str, object] | None = event.get("requestContext", {}).get("authorizer", {}).get("jwt", {}).get("claims")
    return claims
