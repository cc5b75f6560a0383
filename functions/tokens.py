"""Tokens of an OpenID issuer: verified here on a laptop and in the authorizer, by API Gateway itself before our HTTP API."""

from collections.abc import Mapping
from typing import Any

import jwt

from functions.errors import Unauthorized
from functions.identity import Caller, caller_of
from functions.jwks import ALGORITHMS, Keys
from graph.settings import Settings

_LEEWAY_S = 30
"""How far the issuer's clock may be from ours."""


class Tokens:
    """Tokens that the settings' issuer has signed for the settings' audience."""

    def __init__(self, settings: Settings, keys: Keys | None = None) -> None:
        self._settings = settings
        self._keys = keys or Keys(settings.auth_jwks_url or "")

    async def caller(self, authorization: str) -> Caller:
        """The caller whom an ``Authorization`` header proves.

        Raises:
            Unauthorized: it proves nobody.
            Forbidden: somebody without a user's name or a tenant.
            Unavailable: the issuer's keys cannot be had.
        """
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthorized("send Authorization: Bearer and a token")
        claims = await self._claims(token.strip())
        settings = self._settings
        return caller_of(claims, tenant_claim=settings.auth_tenant_claim, groups_claim=settings.auth_groups_claim)

    async def _claims(self, token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            kid, algorithm = header.get("kid"), header.get("alg")
            if algorithm not in ALGORITHMS or not isinstance(kid, str | None):
                raise Unauthorized(f"the token must be signed by {' or '.join(ALGORITHMS)}")
            for key in await self._keys.find(kid, algorithm):
                claims = self._verified(token, key)
                if claims is not None:
                    return claims
        except jwt.ExpiredSignatureError:
            raise Unauthorized("the token has expired; sign in again") from None
        except (jwt.PyJWTError, ValueError) as error:
            raise Unauthorized(f"the token is not valid: {error}") from None
        raise Unauthorized("the token is not signed by the issuer that is believed here")

    def _verified(self, token: str, key: jwt.PyJWK) -> Mapping[str, Any] | None:
        """The claims; None where another key has signed them."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[str(key.algorithm_name)],
                issuer=self._settings.auth_issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss"], "verify_aud": False},
            )
        except jwt.InvalidSignatureError:
            return None
        if not _is_for(claims, str(self._settings.auth_audience)):
            raise Unauthorized("the token is meant for somebody else")
        return claims


def _is_for(claims: Mapping[str, Any], audience: str) -> bool:
    """As API Gateway has it: Cognito's access tokens have ``client_id`` in place of ``aud``."""
    meant = claims.get("aud") or claims.get("client_id")
    return audience in meant if isinstance(meant, list) else audience == meant
