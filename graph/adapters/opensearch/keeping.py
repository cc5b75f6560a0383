"""What a deploy does: it makes the index, or finds one that fits, and lets the functions use it."""

from collections.abc import Sequence

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from graph.adapters.opensearch.schema import Schema, ensure_index
from graph.errors import IndexUnavailable

_SECURITY = "/_plugins/_security/api"
_ROLE = "footnote"


def keep(client: OpenSearch, name: str, schema: Schema, *, roles: Sequence[str] = ()) -> bool:
    """See that there is an index as the schema says; whether it was made.

    Args:
        client: of somebody who may make indexes.
        name: the alias.
        schema: what the index must be like.
        roles: ARNs of those who may search and write, where a domain of AWS decides by its own roles.

    Raises:
        InvalidSetting: it is there, and differs.
        IndexUnavailable: OpenSearch does not answer, or not to us: a new one takes a while.
    """
    try:
        if roles:
            _let_in(client, name, roles)
        return ensure_index(client, name, schema)
    except OpenSearchException as error:
        raise IndexUnavailable(f"OpenSearch does not let the index be made: {error}") from error


def _let_in(client: OpenSearch, name: str, roles: Sequence[str]) -> None:
    """Map the roles to one that may read and write our passages, and nothing else."""
    ours = {"index_patterns": [f"{name}*"], "allowed_actions": ["crud", "indices:admin/mappings/get", "indices:admin/refresh*"]}
    role = {"cluster_permissions": ["cluster_composite_ops"], "index_permissions": [ours]}
    client.transport.perform_request("PUT", f"{_SECURITY}/roles/{_ROLE}", body=role)
    client.transport.perform_request("PUT", f"{_SECURITY}/rolesmapping/{_ROLE}", body={"backend_roles": sorted(roles)})
