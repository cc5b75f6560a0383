"""Addresses of what is deployed, in AWS or in an emulator."""

from aws_cdk import Aws
from constructs import Node

from infra.environments import Addresses

STAGE = "live"


class Places:
    """Fills the patterns of an environment."""

    def __init__(self, addresses: Addresses, node: Node) -> None:
        self._addresses = addresses
        self._emulator = node.try_get_context("emulator") or "127.0.0.1:4566"

    def http(self, api: str) -> str:
        """Of an HTTP API."""
        return self._fill(self._addresses.http, api=api)

    def socket(self, api: str) -> str:
        """Of a WebSocket API, for its clients."""
        return self._fill(self._addresses.socket, api=api)

    def callback(self, api: str) -> str:
        """Of a WebSocket API, for who posts to its connections."""
        return self._fill(self._addresses.callback, api=api)

    def keys(self, pool: str) -> str:
        """Of a user pool's JWKS."""
        return self._fill(self._addresses.keys, pool=pool)

    def tracing(self) -> dict[str, str]:
        """Variables of functions that send spans."""
        where = self._addresses.traces
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self._fill(where)} if where else {}

    def _fill(self, pattern: str, **names: str) -> str:
        return pattern.format(stage=STAGE, region=Aws.REGION, suffix=Aws.URL_SUFFIX, emulator=self._emulator, **names)
