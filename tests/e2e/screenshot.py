"""The README's picture of the page: ``python -m tests.e2e.screenshot`` takes it anew, over the handbook."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.browser import chromium
from tests.e2e.client import Client
from tests.e2e.desk import Desk, window
from tests.server import serving

_PACKAGE = Path(__file__).parents[2] / "functions" / "local"
_HANDBOOK = _PACKAGE / "handbook"
_QUESTIONS = (
    "境外出差的餐费补贴是每天多少？",
    "How long may customers in the United Kingdom return a product?",
    "What happens when I lose my laptop?",
)


def take(picture: Path) -> None:
    """Ask the questions, each in its own conversation, and open the first footnote of the last answer."""
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home), docs=[_HANDBOOK]) as url,
        chromium() as browser,
        window(browser) as page,
    ):
        with Client.of(url) as client:
            client.read_all(sum(path.is_file() for path in _HANDBOOK.rglob("*")), seconds=120)
        desk = Desk(page, url).open()
        for question in _QUESTIONS:
            page.get_by_role("button", name="New conversation").click()
            expect(page.locator(".turn")).to_have_count(0)
            turn = desk.ask(question)
        turn.locator(".answer .marker").first.click()
        expect(desk.marked).to_be_in_viewport()
        page.mouse.move(0, 0)
        page.screenshot(path=picture)


if __name__ == "__main__":
    take(_PACKAGE / "page" / "screenshot.png")
