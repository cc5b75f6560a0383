"""The Lambda entry point of the WebSocket's authorizer: by token or ticket, it lets in or not, and says whom."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

from functions.errors import Forbidden, Unauthorized
from functions.gate import Gate
from functions.identity import Caller, to_context
from functions.tickets import Tickets
from functions.tokens import Tokens
from graph.errors import InvalidSetting
from graph.event_loop import run
from graph.wiring import wiring

_log = logging.getLogger(__name__)


class Refused(Exception):
    """With the message ``Unauthorized`` API Gateway answers 401; for any other, and for any other error, 500."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Decide on a handshake."""
    try:
        caller = run(_caller(event))
    except Unauthorized as error:
        _log.info("refused: %s", error)
        raise Refused("Unauthorized") from None
    except Forbidden as error:
        _log.info("forbidden: %s", error)
        return {"principalId": "nobody", "policyDocument": _policy("Deny", event)}
    return {"principalId": caller.key, "policyDocument": _policy("Allow", event), "context": to_context(caller)}


async def _caller(event: Mapping[str, Any]) -> Caller:
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    ticket = (event.get("queryStringParameters") or {}).get("ticket")
    return await _gate().socket(headers.get("authorization"), ticket)


@cache
def _gate() -> Gate:
    wired = wiring()
    if not wired.settings.has_identity:
        raise InvalidSetting("FOOTNOTE_AUTH_ISSUER, _AUDIENCE and _JWKS_URL are needed: whose tokens are believed")
    return Gate(Tokens(wired.settings), Tickets(wired.table))


def _policy(effect: str, event: Mapping[str, Any]) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": event["methodArn"]}
    return {"Version": "2012-10-17", "Statement": [statement]}
