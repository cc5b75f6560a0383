"""Services that tests talk to, each in a process of its own, started by the first test that needs it."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from graph.adapters import boto
from graph.adapters.dynamodb import DynamoDBTable
from graph.adapters.opensearch import OpenSearchIndex, Schema, connect, ensure_index
from graph.adapters.s3 import S3Bucket
from graph.adapters.sqlite_table import SQLiteTable
from tests.standins import aws as aws_standin
from tests.standins import opensearch as opensearch_standin
from tests.standins.opensearch_program import Missing, Version


@pytest.fixture(scope="session")
def aws_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A local AWS, as keyword arguments of ``boto3.client``; each xdist worker has its own."""
    with aws_standin.emulator(tmp_path_factory.mktemp("aws")) as connection:
        yield connection


@pytest.fixture
def aws(aws_emulator: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The local AWS, empty before and after the test."""
    aws_standin.reset(aws_emulator["endpoint_url"])
    yield aws_emulator
    aws_standin.reset(aws_emulator["endpoint_url"])


@pytest.fixture
def dynamodb_table(aws: dict[str, Any]) -> Iterator[DynamoDBTable]:
    """A table that is empty, on the local AWS."""
    client = boto.build("dynamodb", **aws)
    aws_standin.make_table(client, "footnote")
    yield DynamoDBTable("footnote", client=client)
    client.close()


@pytest.fixture
def s3_bucket(aws: dict[str, Any]) -> Iterator[S3Bucket]:
    """A bucket that is empty, on the local AWS."""
    client = boto.build("s3", **aws)
    client.create_bucket(Bucket="footnote")
    client.put_bucket_versioning(Bucket="footnote", VersioningConfiguration={"Status": "Enabled"})
    yield S3Bucket("footnote", client=client)
    client.close()


@pytest.fixture(scope="session")
def opensearch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An OpenSearch for all workers: ``OPENSEARCH_URL``, or a container, or one put together by Maven and run on a JDK.

    ``OPENSEARCH_VERSION`` chooses between those that `opensearch_program` knows.
    """
    if url := os.environ.get("OPENSEARCH_URL"):
        yield url
        return
    version = os.environ.get("OPENSEARCH_VERSION", "3.6.0")
    with _opensearch(tmp_path_factory, cast("Version", version)) as url:
        yield url


@contextmanager
def _opensearch(tmp_path_factory: pytest.TempPathFactory, version: Version) -> Iterator[str]:
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with ExitStack() as stack:
        try:
            url = stack.enter_context(opensearch_standin.server(shared / f"opensearch-{version}", version))
        except Missing as missing:
            pytest.skip(str(missing))
        yield url


@pytest.fixture
async def opensearch_index(opensearch_url: str, tmp_path: Path) -> AsyncIterator[OpenSearchIndex]:
    """An index of vectors of 8 dimensions that is empty."""
    client, name, table = connect(opensearch_url), f"footnote-{uuid.uuid4().hex}", SQLiteTable(tmp_path / "editions.sqlite")
    ensure_index(client, name, Schema(model="test", dimensions=8))
    yield OpenSearchIndex(client, name, table=table)
    client.indices.delete(index=f"{name}-v*")
    await table.close()
    client.close()
