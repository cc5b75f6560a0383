"""The laptop's stores in a folder of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.ingestion.parts import Laptop


@pytest.fixture
async def laptop(tmp_path: Path) -> AsyncIterator[Laptop]:
    wiring = Laptop(tmp_path / "home")
    yield wiring
    await wiring.index.close()
    await wiring.table.close()
