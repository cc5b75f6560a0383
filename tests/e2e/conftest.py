"""A browser for the tests of the page. Each module has its own: the loop that drives it must be gone when others begin."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e import browser
from tests.e2e.desk import Desk, window
from tests.e2e.frames import Frames
from tests.server import SCRIPTED, serving


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if browser.PROGRAM is None:
        pytest.skip("there is no chromium on this machine (Debian: apt-get install chromium)")
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def scripted_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without documents whose agent plays what the question says."""
    with serving(tmp_path_factory.mktemp("home"), program=SCRIPTED, env={"FOOTNOTE_RATE_PER_MINUTE": "6000"}) as url:
        yield url


@pytest.fixture
def here(chromium: Browser, scripted_url: str) -> Iterator[Desk]:
    """A window for that server, not opened yet."""
    with window(chromium) as page:
        yield Desk(page, scripted_url)


@pytest.fixture
def frames(here: Desk) -> Frames:
    """The window, opened on a WebSocket that says what the test wants."""
    frames = Frames(here.page)
    here.open()
    return frames
