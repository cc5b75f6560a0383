"""Who calls: made from claims that were verified, never from what a request says of itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote

from functions.errors import Forbidden
from graph.metadata import groups_of
from graph.ports import Access

_LONGEST_NAME = 255


@dataclass(frozen=True, kw_only=True)
class Caller:
    """A user of a tenant. Documents belong to the tenant and its groups; threads, turns and feedback to the user."""

    tenant: str
    user: str
    groups: frozenset[str] = frozenset()

    @property
    def access(self) -> Access:
        """What the caller may read."""
        return Access(tenant=self.tenant, groups=self.groups)

    @property
    def key(self) -> str:
        """The user's namespace: no two users have the same, whatever characters their names hold."""
        return f"{quote(self.tenant, safe='')}/{quote(self.user, safe='')}"


LOCAL = Caller(tenant="default", user="local")
"""The one user of a laptop."""


def caller_of(claims: Mapping[str, object], *, tenant_claim: str, groups_claim: str) -> Caller:
    """The caller whom a verified token's claims name.

    Raises:
        Forbidden: they name no user, or no tenant that documents could belong to.
    """
    user, tenant = _name(claims.get("sub")), _name(claims.get(tenant_claim))
    if not user:
        raise Forbidden("the token names no user (sub); sign in as one")
    if not tenant or "/" in tenant or tenant.startswith("."):  # it is a folder of the bucket
        raise Forbidden(f"the token names no tenant ({tenant_claim}); whoever administers the users can give you one")
    return Caller(tenant=tenant, user=user, groups=_groups(claims.get(groups_claim)))


def to_context(caller: Caller) -> dict[str, str]:
    """The caller as an authorizer hands it on: API Gateway carries texts only."""
    return {"tenant": caller.tenant, "user": caller.user, "groups": json.dumps(sorted(caller.groups))}


def from_context(context: Mapping[str, str]) -> Caller:
    """The caller whom the authorizer let in."""
    return Caller(tenant=context["tenant"], user=context["user"], groups=frozenset(json.loads(context["groups"])))


def _name(claim: object) -> str:
    """A name as text; empty where there is none that could be stored."""
    text = str(claim) if isinstance(claim, str | int) and not isinstance(claim, bool) else ""
    return text if text.strip() and text.isprintable() and len(text.encode()) <= _LONGEST_NAME else ""


def _groups(claim: object) -> frozenset[str]:
    """Names of groups: a list, or a text with commas.

    API Gateway writes a list as ``[a b]``, where a name with a space falls apart; it could then be that of another group,
    so such lists should hold no spaces, as Cognito's never do.
    """
    if isinstance(claim, str) and claim.startswith("[") and claim.endswith("]"):
        claim = _listed(claim)
    if isinstance(claim, list):
        return frozenset(groups_of([str(one) for one in claim]))
    return frozenset(groups_of(claim.split(","))) if isinstance(claim, str) else frozenset()


def _listed(text: str) -> list[object]:
    try:
        return cast("list[object]", json.loads(text))
    except ValueError:
        return list[object](text[1:-1].split())
