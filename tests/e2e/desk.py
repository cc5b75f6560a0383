"""The page as its user meets it: what is done on it, what is seen on it, and what must never happen on it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request, expect

Scheme = Literal["light", "dark"]

_ENDS_MS = 60_000
"""A turn ends within this time, also on a machine that is busy with other tests."""


class Desk:
    """One browser window on Footnote. Whatever a hostile text manages to do to it is in ``mishaps``."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.mishaps: list[str] = []
        page.on("pageerror", lambda error: self.mishaps.append(f"error: {error}"))
        page.on("dialog", self._interrupted)
        page.on("console", self._heard)
        page.on("request", self._requested)

    def open(self, path: str = "") -> "Desk":
        """Go to Footnote, and wait until the page has found its language."""
        self.page.goto(f"{self.url.rstrip('/')}/{path}")
        return self.settled()

    def reload(self) -> "Desk":
        self.page.reload()
        return self.settled()

    def settled(self) -> "Desk":
        """The page, once its script has begun."""
        expect(self.page.locator("#ask")).to_have_attribute("aria-label", re.compile("."))
        return self

    def _heard(self, message: ConsoleMessage) -> None:
        # the browser reports each refused request and lost connection itself; tests of those look at what the page says
        if message.type == "error" and "Failed to load resource" not in message.text and "WebSocket" not in message.text:
            self.mishaps.append(f"console: {message.text}")

    def _interrupted(self, dialog: Dialog) -> None:
        self.mishaps.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc:
            self.mishaps.append(f"request: {request.url}")

    def begin(self, question: str) -> Locator:
        """Ask, and return the turn as it begins."""
        turns = self.page.locator(".turn")
        before = turns.count()
        self.page.get_by_role("textbox", name="Your question").fill(question)
        self.page.keyboard.press("Enter")
        expect(turns).to_have_count(before + 1)
        return turns.nth(before)

    def ask(self, question: str) -> Locator:
        """Ask, and return the turn when it is over."""
        return self.ended(self.begin(question))

    def ended(self, turn: Locator) -> Locator:
        """The turn, once it is over and shows its outcome."""
        expect(turn).to_have_attribute("data-phase", "over", timeout=_ENDS_MS)
        return turn

    @property
    def panel(self) -> Locator:
        return self.page.locator("#panel")

    @property
    def marked(self) -> Locator:
        """The highlighted words of the source that is open."""
        return self.panel.locator(".source-text mark")

    def document(self, path: str) -> Locator:
        """The row of a file in the open documents panel."""
        return self.panel.locator(f'.document[data-path="{path}"]')

    def drop(self, files: dict[str, bytes], target: str = "body") -> None:
        """Drop files, by name with their content, as from the desktop."""
        transfer = self.page.evaluate_handle(
            """files => {
                const transfer = new DataTransfer();
                for (const [name, bytes] of Object.entries(files)) transfer.items.add(new File([new Uint8Array(bytes)], name));
                return transfer;
            }""",
            {name: list(content) for name, content in files.items()},
        )
        for event in ("dragenter", "dragover", "drop"):
            self.page.dispatch_event(target, event, {"dataTransfer": transfer})

    def focused(self) -> Any:
        """What has the focus: its accessible name, or its text."""
        return self.page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")

    def barriers(self) -> list[str]:
        """What axe finds that keeps somebody from using the page."""
        violations = Axe().run(self.page).response["violations"]
        grave = [violation for violation in violations if violation["impact"] in {"serious", "critical"}]
        return [f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}" for one in grave]

    def assert_unharmed(self) -> None:
        """Nothing ran, loaded or left that a document or an answer had brought."""
        assert self.mishaps == []
        assert self.page.evaluate("window.hacked") is None


@contextmanager
def window(
    browser: Browser, *, locale: str = "en-GB", scheme: Scheme = "light", width: int = 1280, height: int = 800
) -> Iterator[Page]:
    """A fresh browser window, with nothing remembered."""
    context = browser.new_context(locale=locale, color_scheme=scheme, viewport={"width": width, "height": height})
    yield context.new_page()
    context.close()
