"""Turns on the page, against a real server whose agent plays what the question says: stop, reload, cuts, replies."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.desk import Desk, window
from tests.e2e.wire import Wire, wire

pytestmark = pytest.mark.browser

SLOW = "tokens=60 every=0.05"
"""Three seconds of words: time enough to do something in between."""
WORDS = " ".join(f"word{n}" for n in range(60))


@pytest.fixture
def line(scripted_url: str) -> Iterator[Wire]:
    with wire(scripted_url) as line:
        yield line


@pytest.fixture
def remote(chromium: Browser, line: Wire) -> Iterator[Desk]:
    """A window at the far end of a wire that can be cut."""
    with window(chromium) as page:
        yield Desk(page, line.url).open()


def test_stop_ends_the_turn_and_the_next_question_works(here: Desk) -> None:
    turn = here.open().begin(SLOW)
    expect(turn.locator(".answer")).to_contain_text("word3")
    here.page.get_by_role("button", name="Stop").click()
    here.ended(turn)
    expect(turn).to_have_attribute("data-outcome", "cancelled")
    expect(turn.locator(".badge")).to_have_text("Stopped")
    expect(here.ask("tokens=2").locator(".answer")).to_have_text("word0 word1")


def test_a_stopped_question_is_asked_again_with_one_button(here: Desk) -> None:
    turn = here.open().begin("hang=1")
    expect(turn.locator(".stage")).to_have_text("Planning")
    here.page.get_by_role("button", name="Stop").click()
    here.ended(turn).get_by_role("button", name="Ask again").click()
    expect(here.page.locator(".turn .question")).to_have_text(["hang=1", "hang=1"])
    expect(here.page.locator(".turn").nth(1).locator(".stage")).to_have_text("Planning")  # one not accepted yet is withdrawn
    here.page.get_by_role("button", name="Stop").click()
    here.ended(here.page.locator(".turn").nth(1))


def test_enter_does_not_send_while_a_turn_runs(here: Desk) -> None:
    turn = here.open().begin(SLOW)
    here.page.get_by_role("textbox", name="Your question").fill("impatient")
    here.page.keyboard.press("Enter")
    here.ended(turn)
    expect(here.page.locator(".turn")).to_have_count(1)
    expect(here.page.get_by_role("textbox", name="Your question")).to_have_value("impatient")


def test_a_reload_in_the_middle_of_a_turn_loses_and_doubles_nothing(here: Desk) -> None:
    turn = here.open().begin(SLOW)
    expect(turn.locator(".answer")).to_contain_text("word5")
    here.reload()
    expect(turn).to_have_attribute("data-phase", "running")
    expect(here.page.get_by_role("button", name="Stop")).to_be_visible()
    here.ended(turn)
    expect(turn.locator(".answer")).to_have_text(WORDS)


def test_a_cut_connection_is_said_and_made_anew_and_no_text_is_lost_or_doubled(remote: Desk, line: Wire) -> None:
    turn = remote.begin(SLOW)
    expect(turn.locator(".answer")).to_contain_text("word5")
    line.cut()
    expect(remote.page.locator("#away")).to_contain_text("Footnote cannot be reached.")
    expect(remote.page.get_by_role("button", name="Try now")).to_be_visible()
    line.mend()
    expect(remote.page.locator("#away")).to_be_hidden()
    remote.ended(turn)
    expect(turn.locator(".answer")).to_have_text(WORDS)


def test_a_question_asked_while_the_server_is_away_is_sent_once_it_is_back(remote: Desk, line: Wire) -> None:
    line.cut()
    expect(remote.page.locator("#away")).to_be_visible()
    turn = remote.begin("tokens=2")
    expect(turn.locator(".stage")).to_have_text("Sending the question…")
    line.mend()
    remote.ended(turn)
    expect(turn.locator(".answer")).to_have_text("word0 word1")
    expect(remote.page.locator(".thread")).to_contain_text(["tokens=2"])


def test_a_question_that_never_left_can_be_taken_back(remote: Desk, line: Wire) -> None:
    line.cut()
    remote.begin("tokens=2")
    remote.page.get_by_role("button", name="Stop").click()
    expect(remote.page.locator(".turn")).to_have_count(0)
    expect(remote.page.get_by_role("textbox", name="Your question")).to_have_value("tokens=2")


def test_a_conversation_of_several_turns_is_there_again_after_a_reload(here: Desk) -> None:
    here.open()
    here.ask("first tokens=1")
    here.ask("second tokens=2")
    here.page.get_by_role("textbox", name="Your question").fill("half a thou")
    here.reload()
    expect(here.page.locator(".turn .question")).to_have_text(["first tokens=1", "second tokens=2"])
    expect(here.page.locator(".turn .answer")).to_have_text(["word0", "word0 word1"])
    expect(here.page.get_by_role("textbox", name="Your question")).to_have_value("half a thou")


def test_what_a_reload_forgets_of_a_turn_is_fetched_when_it_is_looked_at(here: Desk) -> None:
    here.open().ask("tokens=1")
    here.reload()
    here.page.get_by_text("How this was found").click()
    expect(here.page.locator(".work")).to_contain_text("Look-up")
    expect(here.page.locator(".found li")).to_have_text("One")
    expect(here.page.locator(".timeline li")).to_contain_text(["turn"])


def test_conversations_are_listed_opened_and_deleted(here: Desk) -> None:
    here.open().ask("older tokens=1")
    older = here.page.url
    here.page.get_by_role("button", name="New conversation").click()
    expect(here.page.locator(".turn")).to_have_count(0)
    here.ask("newer tokens=2")
    assert here.page.url != older
    threads = here.page.get_by_role("navigation", name="Conversations")
    threads.get_by_role("link", name="older").first.click()
    expect(here.page.locator(".turn .question")).to_have_text("older tokens=1")
    assert here.page.url == older
    expect(threads.locator("[aria-current=page]")).to_contain_text("older")
    before = threads.get_by_role("link", name="older").count()
    threads.locator(".thread:has([aria-current])").hover()
    threads.locator(".thread:has([aria-current])").get_by_role("button").click()
    here.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(threads.get_by_role("link", name="older")).to_have_count(before - 1)
    expect(here.page.locator(".turn")).to_have_count(0)
    here.open(older.removeprefix(here.url).lstrip("/"))
    here.reload()
    expect(here.page.locator("#thread-notice")).to_contain_text("This conversation does not exist any more.")


def test_back_and_forward_go_through_conversations(here: Desk) -> None:
    here.open().ask("one tokens=1")
    here.page.get_by_role("button", name="New conversation").click()
    here.ask("two tokens=1")
    here.page.go_back()
    here.page.go_back()
    expect(here.page.locator(".turn .question")).to_have_text("one tokens=1")
    here.page.go_forward()
    here.page.go_forward()
    expect(here.page.locator(".turn .question")).to_have_text("two tokens=1")


def test_a_turn_that_asks_back_goes_on_after_a_reload_too(here: Desk) -> None:
    turn = here.open().ask("ask=1")
    expect(turn).to_contain_text("Which 0?")
    here.reload()
    turn.get_by_role("button", name="b", exact=True).click()
    expect(turn).to_have_attribute("data-outcome", "answered")
    expect(turn.locator(".answer")).to_have_text("b")


def test_a_turn_that_breaks_says_so_and_gives_the_id_to_report(here: Desk) -> None:
    turn = here.open().ask("crash=1")
    expect(turn.locator(".badge")).to_have_text("Failed")
    expect(turn.locator(".problem")).to_contain_text("An error inside Footnote")
    expect(turn.get_by_role("button", name="Try again")).to_be_visible()


def test_a_rating_and_its_comment_reach_the_server_and_are_remembered(here: Desk) -> None:
    turn = here.open().ask("tokens=1")
    is_feedback = lambda response: response.url.endswith("/feedback")  # noqa: E731
    with here.page.expect_response(is_feedback) as first:
        turn.get_by_role("button", name="Bad answer").click()
    assert first.value.status == 204
    assert first.value.request.post_data_json == {"rating": "down"}
    turn.get_by_role("textbox", name="What should be different?").fill("More words.")
    with here.page.expect_response(is_feedback) as second:
        turn.get_by_role("button", name="Send comment").click()
    assert second.value.status == 204
    assert second.value.request.post_data_json == {"rating": "down", "comment": "More words."}
    expect(turn).to_contain_text("Thank you, that is noted.")
    here.reload()
    expect(turn.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    expect(turn.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "false")


def test_a_question_that_is_too_long_is_not_sent_and_says_how_long_it_may_be(here: Desk) -> None:
    box = here.open().page.get_by_role("textbox", name="Your question")
    box.fill("🙂" * 8001)
    here.page.keyboard.press("Enter")
    expect(here.page.locator(".turn")).to_have_count(0)
    expect(here.page.locator("#composer-hint")).to_have_text("8001 of at most 8000 characters: please shorten the question.")
    box.fill("   ")
    here.page.keyboard.press("Enter")
    expect(here.page.locator(".turn")).to_have_count(0)


def test_a_conversation_that_could_not_be_read_is_read_once_the_server_is_back(remote: Desk, line: Wire) -> None:
    remote.ask("tokens=2")
    address = remote.page.url
    remote.page.get_by_role("button", name="New conversation").click()
    line.cut()
    remote.page.go_back()
    assert remote.page.url == address
    expect(remote.page.locator("#thread-notice")).to_contain_text("The server cannot be reached")
    expect(remote.page.locator("#away")).to_be_visible()
    line.mend()
    expect(remote.page.locator(".turn .answer")).to_have_text("word0 word1")
    expect(remote.page.locator("#thread-notice")).to_be_empty()


def test_both_languages_have_the_same_texts_with_the_same_values_in_them(here: Desk) -> None:
    texts = here.open().page.evaluate(
        """async () => {
            const { en } = await import('./static/texts_en.js');
            const { zh } = await import('./static/texts_zh.js');
            const shape = (texts) => Object.fromEntries(Object.entries(texts).map(([key, text]) => {
                const values = typeof text === 'function' ? text.toString().match(/^\\(\\{([^}]*)/)[1] : null;
                return [key, values === null ? typeof text : values.split(',').map(value => value.trim()).sort()];
            }));
            return { en: shape(en), zh: shape(zh) };
        }"""
    )
    assert texts["en"] == texts["zh"]
    assert len(texts["en"]) > 100
