"""Clients of AWS services: built at the first use, kept for the life of the process, used from any thread."""

import threading
from functools import cache
from typing import Any

from boto3.session import Session
from botocore.config import Config

_building = threading.Lock()


def client(service: str) -> Any:
    """The process's client of a service; region, credentials and endpoint are found as AWS's own tools find them."""
    with _building:  # two first calls at once would read the service's model twice
        return _client(service)


def build(service: str, *, attempts: int = 5, **connection: Any) -> Any:
    """A new client. ``connection``: arguments of boto3's ``client`` to use instead of what the environment says."""
    config = Config(
        connect_timeout=3,
        read_timeout=10,
        retries={"mode": "standard", "max_attempts": attempts},
        max_pool_connections=32,
        signature_version="s3v4" if service == "s3" else None,  # URLs and forms are presigned by v2 otherwise
    )
    return Session().client(service, config=config, **connection)


_client = cache(build)
