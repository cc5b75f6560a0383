"""The page as somebody meets it who has just started Footnote: documents in, a question, a footnote at the exact words."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, expect

from tests.e2e.client import Client
from tests.e2e.desk import Desk, Scheme, window
from tests.server import serving

pytestmark = pytest.mark.browser

HANDBOOK = Path(__file__).parents[2] / "functions" / "local" / "handbook"
QUESTION = "How much may a hotel in London cost?"
READY_S = 120
READY_MS = 60_000
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0"
UNLIMITED = {"FOOTNOTE_RATE_PER_MINUTE": "6000"}
RULE = "The zeppelin hangar opens at half past seven on Thursdays."


@pytest.fixture(scope="module")
def url(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    del chromium  # asked for first: without one there is nothing to serve
    with serving(tmp_path_factory.mktemp("home"), docs=[HANDBOOK], env=UNLIMITED) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    with Client.of(url) as client:
        client.read_all(sum(path.is_file() for path in HANDBOOK.rglob("*")), READY_S)
        yield client


@pytest.fixture
def at(chromium: Browser, client: Client, url: str) -> Iterator[Desk]:
    """A window on the handbook, all of it read."""
    del client  # it has waited for the handbook
    with window(chromium) as page:
        yield Desk(page, url).open()


def marker(turn: Locator, number: int) -> Locator:
    return turn.locator(".answer").get_by_role("button", name=f"Footnote {number}:").first


def test_every_footnote_of_an_answer_opens_at_the_very_words(at: Desk, client: Client) -> None:
    turn = at.ask(QUESTION)
    expect(turn.locator(".answer")).to_contain_text("£165")
    (stored,) = client.json("GET", at.page.url.rsplit("#/", 1)[1])["turns"]
    citations = stored["citations"]
    expect(turn.locator(".footnotes li")).to_have_count(len(citations))
    for citation in citations:
        marker(turn, citation["number"]).click()
        expect(at.panel.get_by_role("heading")).to_have_text(citation["title"])
        expect(at.panel.locator(".source-text")).to_be_visible()
        assert at.marked.evaluate("mark => mark.textContent") == citation["quote"]
        expect(at.marked).to_be_in_viewport()
        if "heading" in citation:
            expect(at.panel).to_contain_text(citation["heading"])
    at.assert_unharmed()


def test_the_file_behind_a_footnote_can_be_downloaded(at: Desk) -> None:
    marker(at.ask(QUESTION), 1).click()
    with at.page.expect_download() as download:
        at.panel.get_by_role("link", name="Download the file").click()
    assert download.value.path().read_bytes() in {path.read_bytes() for path in HANDBOOK.rglob("*") if path.is_file()}


def test_a_follow_up_is_asked_in_the_same_conversation(at: Desk) -> None:
    at.ask("How long may customers in the United Kingdom return a product?")
    turn = at.ask("What about China?")
    expect(turn.locator(".answer")).to_contain_text("签收后 7 天内")  # only the Chinese pages say it
    expect(at.page.locator(".thread:has([aria-current])")).to_contain_text("2 questions")


def test_what_the_documents_do_not_say_is_not_answered(at: Desk) -> None:
    turn = at.ask("Who won the football world cup in 1998?")
    expect(turn.locator(".badge")).to_have_text("Not in the documents")
    expect(turn.locator(".note")).not_to_be_empty()


def test_a_reload_keeps_question_answer_and_footnotes(at: Desk) -> None:
    answer = at.ask(QUESTION).locator(".answer").inner_text()
    at.reload()
    turn = at.page.locator(".turn")
    expect(turn.locator(".question")).to_have_text(QUESTION)
    assert turn.locator(".answer").inner_text() == answer
    marker(turn, 1).click()
    expect(at.marked).to_be_visible()


def test_a_dropped_file_is_answered_from_as_soon_as_it_is_ready_and_not_once_it_is_deleted(at: Desk) -> None:
    at.drop({"hangar.md": f"# Hangar rules\n\n{RULE}\n".encode()})
    row = at.document("hangar.md")
    expect(row.locator(".document-status")).to_contain_text("Ready", timeout=READY_MS)
    turn = at.ask("When does the zeppelin hangar open on Thursdays?")
    expect(turn.locator(".answer")).to_contain_text("half past seven")
    row.get_by_role("button", name="Delete Hangar rules").click()
    at.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    marker(turn, 1).click()
    expect(at.panel).to_contain_text("The document has been deleted since this answer.")
    expect(at.panel.locator("mark")).to_contain_text("half past seven")


def test_files_are_chosen_with_the_button_too(at: Desk) -> None:
    with at.page.expect_file_chooser() as chooser:
        at.page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(FilePayload(name="chosen.txt", mimeType="text/plain", buffer=b"Chosen by hand."))
    expect(at.document("chosen.txt").locator(".document-status")).to_contain_text("Ready", timeout=READY_MS)


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(at: Desk, client: Client) -> None:
    at.drop({"picture.png": PNG})
    row = at.document("picture.png")
    expect(row.locator(".document-status")).to_have_text("Failed", timeout=READY_MS)
    (document,) = (one for one in client.documents() if one["path"] == "picture.png")
    expect(row.locator(".problem-title")).to_have_text("This format cannot be read")
    expect(row).to_contain_text(document["error"]["message"])
    expect(row).to_contain_text(document["error"]["remedy"])


def test_a_file_that_is_refused_says_why_and_can_be_taken_off_the_list(at: Desk) -> None:
    at.drop({".hidden.md": b"A dot in front."})
    row = at.document(".hidden.md")
    expect(row.locator(".problem-title")).to_have_text("This file name is not possible")
    expect(row.locator(".problem-detail")).not_to_be_empty()
    row.get_by_role("button", name="Remove .hidden.md from this list").click()
    expect(row).to_have_count(0)


def test_names_and_texts_of_documents_are_text_and_nothing_else(at: Desk) -> None:
    name = "<img src=x onerror=window.hacked=1>.md"
    text = (
        "# <script>window.hacked=2</script>\n\n"
        "The quokka password is <img src=x onerror=window.hacked=3> [here](javascript:window.hacked=4) "
        "![pixel](http://evil.example/pixel.png).\n"
    )
    at.drop({name: text.encode()})
    row = at.document(name)
    expect(row.locator(".document-status")).to_contain_text("Ready", timeout=READY_MS)
    turn = at.ask("What is the quokka password?")
    expect(turn.locator(".answer")).to_contain_text("quokka password")
    expect(turn.locator("img, script, a[href^=javascript]")).to_have_count(0)
    marker(turn, 1).click()
    expect(at.marked).to_be_visible()
    expect(at.panel.locator("img, script")).to_have_count(0)
    at.assert_unharmed()


def test_everything_works_with_the_keyboard_alone(at: Desk) -> None:
    keyboard = at.page.keyboard
    assert at.page.evaluate("document.activeElement.id") == "question"
    keyboard.type(QUESTION)
    keyboard.press("Enter")
    turn = at.ended(at.page.locator(".turn"))
    first = marker(turn, 1)
    for _ in range(40):  # back from the question's field, through what lies between
        keyboard.press("Shift+Tab")
        if first.evaluate("button => button === document.activeElement"):
            break
    expect(first).to_be_focused()
    keyboard.press("Enter")
    title = at.panel.get_by_role("heading", level=2)
    expect(title).to_be_focused()
    expect(at.marked).to_be_visible()
    keyboard.press("Tab")
    assert at.focused() == "Close"
    keyboard.press("Escape")
    expect(at.panel).to_be_hidden()
    expect(first).to_be_focused()


def test_the_first_tab_stop_leads_to_the_question(at: Desk) -> None:
    at.page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    at.page.keyboard.press("Tab")
    assert at.focused() == "Skip to the question"
    before = at.page.url
    at.page.keyboard.press("Enter")
    assert at.page.evaluate("document.activeElement.id") == "question"
    assert at.page.url == before


def test_a_chinese_browser_gets_a_chinese_interface_which_can_be_switched_for_good(
    chromium: Browser, client: Client, url: str
) -> None:
    del client  # it has waited for the handbook
    with window(chromium, locale="zh-CN") as page:
        at = Desk(page, url).open()
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        page.get_by_role("textbox", name="您的问题").fill("境外出差的餐费补贴是每天多少？")
        page.keyboard.press("Enter")
        turn = at.ended(page.locator(".turn"))
        expect(turn.locator(".badge")).to_have_text(re.compile("已回答|部分回答"))
        expect(turn.locator(".answer")).to_have_attribute("lang", "zh-Hans")
        expect(turn.locator(".answer")).to_contain_text("60 美元")
        turn.locator(".answer").get_by_role("button", name="脚注 1").first.click()
        expect(at.marked).to_be_visible()
        assert english_words(page.locator("body")) == []
        page.get_by_role("combobox", name="语言").select_option("English")
        expect(turn.get_by_role("heading", name="Footnotes")).to_be_visible()
        at.reload()
        expect(page.locator("html")).to_have_attribute("lang", "en")


def english_words(body: Locator) -> list[str]:
    """Texts that the page itself says and that are not in Chinese: those in a language of their own left out."""
    texts: list[str] = body.evaluate(
        """body => [...body.querySelectorAll('*')]
            .filter(element => element.closest('[lang]').lang === 'zh-Hans' && element.checkVisibility()
                && !element.matches('option, [translate=no], [translate=no] *'))
            .flatMap(element => [...element.childNodes, ...['aria-label', 'title', 'placeholder']
                .map(name => element.getAttributeNode(name))])
            .filter(node => node && node.nodeType !== Node.ELEMENT_NODE)
            .map(node => node.nodeValue.trim())
            .filter(text => /[a-z]{3}/i.test(text) && !/\\p{Script=Han}/u.test(text))"""
    )
    return texts


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window_of", [{}, {"locale": "zh-CN"}, {"width": 390}], ids=["wide", "chinese", "narrow"])
def test_axe_finds_nothing_serious(
    chromium: Browser, client: Client, url: str, scheme: Scheme, window_of: dict[str, Any]
) -> None:
    del client  # it has waited for the handbook
    with window(chromium, scheme=scheme, **window_of) as page:
        at = Desk(page, url).open()
        assert at.barriers() == []
        page.locator("#question").fill(QUESTION)
        page.keyboard.press("Enter")
        turn = at.ended(page.locator(".turn"))
        turn.locator(".work summary").click()
        expect(turn.locator(".timeline")).to_be_visible()
        assert at.barriers() == []
        turn.locator(".marker").first.click()
        expect(at.marked).to_be_visible()
        assert at.barriers() == []
        page.keyboard.press("Escape")
        page.locator("#documents-button").click()
        expect(at.panel.locator(".document").first).to_be_visible()
        assert at.barriers() == []


def test_on_a_small_screen_nothing_sticks_out_and_the_panel_covers_the_page(
    chromium: Browser, client: Client, url: str
) -> None:
    del client  # it has waited for the handbook
    with window(chromium, width=320, height=640) as page:
        at = Desk(page, url).open()
        turn = at.ask(QUESTION)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        marker(turn, 1).click()
        expect(at.marked).to_be_in_viewport()
        assert page.locator("#main").evaluate("main => main.inert")
        page.keyboard.press("Escape")
        assert not page.locator("#main").evaluate("main => main.inert")
        page.get_by_role("button", name="Conversations").click()
        expect(page.get_by_role("navigation", name="Conversations").get_by_role("link").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Conversations")).to_be_focused()
