"""A browser for the tests of the page. Each module has its own: the loop that drives it must be gone when others begin."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.e2e.desk import Desk, window
from tests.e2e.frames import Frames
from tests.server import SCRIPTED, serving

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield browser
        browser.close()


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
