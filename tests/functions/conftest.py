"""One server with the scripted agent for all tests of this folder, and clients of it."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from tests.functions.talk import Talk, talking
from tests.server import SCRIPTED, RunningServer, start_server

PATIENT = {"FOOTNOTE_RATE_PER_MINUTE": "100000", "FOOTNOTE_RATE_BURST": "100000", "FOOTNOTE_LOG_LEVEL": "DEBUG"}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the scripted agent."""
    running = start_server(tmp_path_factory.mktemp("home"), program=SCRIPTED, env=PATIENT)
    yield running
    assert running.stop() == 0


@pytest.fixture
async def http(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
async def talk(server: RunningServer) -> AsyncIterator[Talk]:
    async with talking(server) as client:
        yield client
