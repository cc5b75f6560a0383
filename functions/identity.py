"""Who calls."""

from dataclasses import dataclass
from urllib.parse import quote

from graph.ports import Access


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
