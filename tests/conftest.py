"""What all tests share: the public sets, and the rule that CI lacks nothing."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

pytest_plugins = ["tests.services"]

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public sets; tests that need it are marked ``data``."""
    if not SHARED.is_dir():
        pytest.skip(f"the public sets are not at {SHARED}")
    return SHARED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip in CI is a failure: a part that the tests need was not brought."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped in CI: {call.excinfo.value if call.excinfo else report.longrepr}"
    return report
