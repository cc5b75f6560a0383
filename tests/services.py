"""Services that tests talk to, each in a process of its own, started by the first test that needs it."""

from collections.abc import Iterator

import pytest

from graph.adapters import boto
from graph.adapters.dynamodb import DynamoDBTable
from graph.adapters.s3 import S3Bucket
from tests.standins import aws as aws_standin


@pytest.fixture(scope="session")
def aws_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A local AWS, as keyword arguments of ``boto3.client``; each xdist worker has its own."""
    with aws_standin.emulator(tmp_path_factory.mktemp("aws")) as connection:
        yield connection


@pytest.fixture
def aws(aws_emulator: dict[str, str]) -> Iterator[dict[str, str]]:
    """The local AWS, empty before and after the test."""
    aws_standin.reset(aws_emulator["endpoint_url"])
    yield aws_emulator
    aws_standin.reset(aws_emulator["endpoint_url"])


@pytest.fixture
def dynamodb_table(aws: dict[str, str]) -> Iterator[DynamoDBTable]:
    """A table that is empty, on the local AWS."""
    client = boto.build("dynamodb", **aws)
    aws_standin.make_table(client, "footnote")
    yield DynamoDBTable("footnote", client=client)
    client.close()


@pytest.fixture
def s3_bucket(aws: dict[str, str]) -> Iterator[S3Bucket]:
    """A bucket that is empty, on the local AWS."""
    client = boto.build("s3", **aws)
    client.create_bucket(Bucket="footnote")
    client.put_bucket_versioning(Bucket="footnote", VersioningConfiguration={"Status": "Enabled"})
    yield S3Bucket("footnote", client=client)
    client.close()
