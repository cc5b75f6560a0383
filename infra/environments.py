"""The environments that can be deployed: ``cdk deploy -c env=NAME --all``. They differ by this data alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Embedder = Literal["e5-small-int8", "bedrock-titan-v2", "bedrock-cohere-multilingual"]


@dataclass(frozen=True, kw_only=True)
class ManagedSearch:
    """An OpenSearch Service domain of our own."""

    instance_type: str
    instances: int
    volume_gb: int
    masters: int = 0
    """Dedicated master nodes; three, or none where data nodes do it beside their work."""
    engine: Literal["lucene", "faiss"] = "faiss"


@dataclass(frozen=True, kw_only=True)
class ServerlessSearch:
    """An OpenSearch Serverless vector collection of our own."""

    has_standby: bool
    """Whether a second zone stands by, at twice the price."""


@dataclass(frozen=True, kw_only=True)
class ExternalSearch:
    """An OpenSearch that one already has: the context value ``opensearch-url`` is its address."""

    engine: Literal["lucene", "faiss"] = "lucene"


@dataclass(frozen=True, kw_only=True)
class OwnUsers:
    """A Cognito user pool of our own."""


@dataclass(frozen=True, kw_only=True)
class OpenId:
    """An issuer of JWTs that one already has."""

    issuer: str
    audience: str
    keys: str
    """Address of its JWKS."""
    tenant_claim: str
    groups_claim: str


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """Where things are: patterns of ``{api}``, ``{stage}``, ``{pool}``, ``{region}``, ``{suffix}`` and ``{emulator}``."""

    http: str = "https://{api}.execute-api.{region}.{suffix}"
    socket: str = "wss://{api}.execute-api.{region}.{suffix}/{stage}"
    callback: str = "https://{api}.execute-api.{region}.{suffix}/{stage}"
    keys: str = "https://cognito-idp.{region}.{suffix}/{pool}/.well-known/jwks.json"
    traces: str | None = "https://xray.{region}.{suffix}"
    """Who takes spans by OTLP/HTTP."""


EMULATED = Addresses(
    http="http://{emulator}/_aws/execute-api/{api}/$default",
    socket="ws://{emulator}/_aws/execute-api/{api}/{stage}",
    callback="http://{emulator}/_aws/execute-api/{api}/{stage}",
    keys="http://{emulator}/{pool}/.well-known/jwks.json",
    traces=None,
)
"""In an emulator, whose host and port the context value ``emulator`` says."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What an environment is made of."""

    name: str
    search: ManagedSearch | ServerlessSearch | ExternalSearch
    retains_data: bool
    """Whether data outlives the stack, protected from deletion and kept for point-in-time recovery."""
    users: OwnUsers | OpenId = OwnUsers()
    embedder: Embedder = "e5-small-int8"
    platform: Literal["lambda", "host"] = "lambda"
    """What the functions' code is put together for; ``host`` for an emulator that runs it here."""
    addresses: Addresses = Addresses()
    origins: tuple[str, ...] = ()
    """Web pages that browsers may call from, as ``https://HOST``."""
    concurrency: Mapping[str, int] = field(default_factory=dict)
    """Reserved concurrency by function; the others share the account's."""
    provisioned: Mapping[str, int] = field(default_factory=dict)
    """Environments by function that are always warm."""
    snapshots: frozenset[str] = frozenset()
    """Functions that start from a snapshot (SnapStart)."""
    requests_per_second: int = 50
    """What both APIs let through; twice that at once."""
    log_days: Literal[7, 30, 180] = 30
    log_level: Literal["DEBUG", "INFO"] = "INFO"
    alarm_email: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further variables of every function, such as ``FOOTNOTE_TURN_SECONDS``."""


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment(
            name="dev",
            search=ManagedSearch(instance_type="t3.small.search", instances=1, volume_gb=10),
            retains_data=False,
            log_days=7,
            log_level="DEBUG",
        ),
        Environment(
            name="staging",
            search=ServerlessSearch(has_standby=False),
            retains_data=False,
            snapshots=frozenset({"api", "worker", "websocket"}),
        ),
        Environment(
            name="prod",
            search=ManagedSearch(instance_type="r7g.large.search", instances=2, volume_gb=100, masters=3),
            retains_data=True,
            concurrency={"ingestion": 20, "worker": 100},
            snapshots=frozenset({"api", "websocket"}),
            provisioned={"worker": 2},
            requests_per_second=200,
            log_days=180,
        ),
        Environment(
            name="local",
            search=ExternalSearch(),
            retains_data=False,
            platform="host",
            addresses=EMULATED,
            log_days=7,
            log_level="DEBUG",
        ),
    )
}


def environment(name: str | None) -> Environment:
    """The environment of this name.

    Raises:
        SystemExit: there is none; the message lists those there are.
    """
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]
    said = "no environment is named" if name is None else f"there is no environment {name!r}"
    raise SystemExit(f"{said}: add -c env=NAME, one of {', '.join(ENVIRONMENTS)}")
