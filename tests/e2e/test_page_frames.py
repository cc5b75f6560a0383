"""The page against a WebSocket that says exactly what a test wants: what it makes of each event, and of each accident."""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.frames import TURN, Frames, resumable

pytestmark = pytest.mark.browser


def test_plan_progress_and_tokens_are_shown_as_they_come(here: Desk, frames: Frames) -> None:
    turn = here.begin("How long is a piece of string?")
    frames.event("status", node="plan", message="", progress=0.1)
    expect(turn.locator(".stage")).to_have_text("Planning")
    step = {"tool": "search", "query": "length of string", "purpose": "find its length", "depends_on": []}
    after = step | {"query": "width of string", "depends_on": [1]}
    frames.event("plan", intent="multi_hop", question="How long and wide is string?", steps=[step, after])
    expect(turn.locator(".steps li")).to_contain_text(["length of string", "after step 1"])
    expect(turn).to_contain_text("Understood as: How long and wide is string?")
    frames.event("passages", passages=[{"document_id": "d", "title": "On string", "page": 3, "score": 0.9}])
    expect(turn.locator(".found")).to_have_text("On string · page 3")
    frames.event("status", node="answer", message="", progress=0.6)
    expect(turn.get_by_role("progressbar")).to_have_attribute("value", "0.6")
    frames.event("token", text="It is **two** ")
    expect(turn.locator(".answer")).to_have_text("It is two")
    frames.event("token", text="metres long.")
    expect(turn.locator(".answer")).to_have_text("It is two metres long.")
    expect(turn.locator(".answer strong")).to_have_text("two")


def test_what_the_check_revised_replaces_what_was_streamed(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.event("token", text="Wrong.")
    frames.event("revised", answer="Right.")
    expect(turn.locator(".answer")).to_have_text("Right.")


def test_waiting_is_said_with_its_reason(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.event("waiting", reason="the model's quota is used up", seconds=6.2)
    expect(turn.locator(".stage")).to_have_text("Waiting 7 s: the model's quota is used up")
    frames.event("status", node="answer", message="", progress=0.5)
    expect(turn.locator(".stage")).to_have_text("Writing the answer")


def test_a_question_back_is_answered_with_a_button_and_the_turn_goes_on(here: Desk, frames: Frames) -> None:
    replies = resumable(here.page)
    turn = here.begin("How much leave?")
    asked = {"interrupt_id": "i1", "question": "Which country?", "options": ["Germany", "China"]}
    frames.event("clarify", **asked)
    frames.done("needs_clarification", clarification=asked, note="Which country decides.")
    expect(turn).to_contain_text("Which country?")
    expect(turn.locator(".badge")).to_have_text("A question back")
    turn.get_by_role("button", name="China").click()
    expect(turn).to_have_attribute("data-phase", "running")
    assert replies == [{"answer": "China", "interrupt_id": "i1"}]
    frames.event("token", text="Ten ")
    frames.event("token", text="days.")
    frames.done(answer="Ten days.")
    here.ended(turn)
    expect(turn.locator(".answer")).to_have_text("Ten days.")
    expect(turn.get_by_role("button", name="China")).to_have_count(0)


def test_a_question_back_is_answered_in_own_words(here: Desk, frames: Frames) -> None:
    replies = resumable(here.page)
    turn = here.begin("How much leave?")
    frames.done("needs_clarification", clarification={"interrupt_id": "i1", "question": "Which country?", "options": []})
    turn.get_by_role("textbox", name="Your reply").fill("The one in the north")
    here.page.keyboard.press("Enter")
    expect(turn).to_have_attribute("data-phase", "running")
    assert replies == [{"answer": "The one in the north", "interrupt_id": "i1"}]


@pytest.mark.parametrize(("button", "approve"), [("Yes, do it", True), ("No", False)])
def test_an_action_waits_for_a_yes_or_a_no(here: Desk, frames: Frames, button: str, approve: bool) -> None:  # noqa: FBT001
    replies = resumable(here.page)
    turn = here.begin("Open a ticket.")
    asked = {"interrupt_id": "i1", "tool": "create_ticket", "arguments": {"title": "Lamp"}, "summary": "Open a ticket?"}
    frames.done("needs_approval", approval=asked)
    expect(turn).to_contain_text("Open a ticket?")
    expect(turn.locator(".reply-arguments")).to_have_text("titleLamp")
    turn.get_by_role("button", name=button, exact=True).click()
    expect(turn).to_have_attribute("data-phase", "running")
    assert replies == [{"approve": approve, "interrupt_id": "i1"}]


def test_a_reply_that_comes_too_late_says_so(here: Desk, frames: Frames) -> None:
    body = json.dumps({"status": 409, "code": "not_waiting", "detail": "It was answered elsewhere.", "trace_id": "0"})
    here.page.route("**/resume", lambda route: route.fulfill(status=409, content_type="application/problem+json", body=body))
    turn = here.begin("How much leave?")
    frames.done("needs_clarification", clarification={"interrupt_id": "i1", "question": "Which?", "options": ["A"]})
    turn.get_by_role("button", name="A", exact=True).click()
    expect(turn.get_by_role("alert")).to_contain_text("It was answered elsewhere.")


@pytest.mark.parametrize(
    ("outcome", "badge"),
    [
        ("answered", "Answered"),
        ("partial", "Partly answered"),
        ("unanswerable", "Not in the documents"),
        ("refused", "Refused"),
        ("cancelled", "Stopped"),
    ],
)
def test_every_outcome_shows_its_badge_and_the_note(here: Desk, frames: Frames, outcome: str, badge: str) -> None:
    turn = here.begin("What?")
    frames.done(outcome, note="This is what there is to say.")
    here.ended(turn)
    expect(turn.locator(".badge")).to_have_text(badge)
    expect(turn.locator(".note")).to_have_text("This is what there is to say.")


def test_a_failed_turn_says_why_and_can_be_asked_again(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.done("failed", error={"code": "model_unavailable", "message": "Groq answered 503 three times."})
    here.ended(turn)
    expect(turn.locator(".problem")).to_contain_text("The model does not answer")
    expect(turn.locator(".problem")).to_contain_text("Groq answered 503 three times.")
    first = frames.asked
    turn.get_by_role("button", name="Try again").click()
    expect(here.page.locator(".turn")).to_have_count(2)
    assert frames.asked["question"] == "What?"
    assert frames.asked["message_id"] != first["message_id"]


def test_a_refused_question_says_why_and_can_be_asked_again(here: Desk, frames: Frames) -> None:
    frames.is_mute = True
    turn = here.begin("What?")
    error = {"type": "error", "code": "thread_busy", "message": "Another turn runs.", "retryable": True, "trace_id": "abc"}
    frames.send(error | {"message_id": frames.asked["message_id"]})
    here.ended(turn)
    expect(turn.locator(".problem")).to_contain_text("A question is still running here")
    expect(turn.locator(".problem")).to_contain_text("Error id: abc")
    turn.get_by_role("button", name="Try again").click()
    expect(here.page.locator(".turn")).to_have_count(1)
    expect(here.page.locator(".turn")).to_have_attribute("data-phase", "sending")


def test_an_event_that_comes_twice_counts_once(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    event = frames.event("token", text="Once ")
    frames.send(event)
    frames.event("token", text="only.")
    frames.send(event)
    expect(turn.locator(".answer")).to_have_text("Once only.")


def test_a_gap_is_asked_for_again(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.event("token", text="One ")
    frames.store("token", text="two ")
    frames.event("token", text="three.")
    expect(turn.locator(".answer")).to_have_text("One two three.")
    replays = [frame for frame in frames.heard if frame["action"] == "replay"]
    assert replays == [{"action": "replay", "turn_id": TURN, "after": 2}]


def test_a_lost_connection_is_made_anew_and_the_turn_replayed_without_doubled_text(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.event("token", text="Before ")
    expect(turn.locator(".answer")).to_have_text("Before")
    frames.connections[-1].close(code=1001)
    frames.store("token", text="meanwhile ")
    expect(turn.locator(".answer")).to_have_text("Before meanwhile")
    frames.event("token", text="after.")
    expect(turn.locator(".answer")).to_have_text("Before meanwhile after.")
    assert len(frames.connections) == 2
    assert [frame["after"] for frame in frames.heard if frame["action"] == "replay"] == [2]


def test_a_question_that_was_not_accepted_is_sent_again_with_the_same_id(here: Desk, frames: Frames) -> None:
    frames.is_mute = True
    here.begin("What?")
    frames.connections[-1].close(code=1001)
    while len([frame for frame in frames.heard if frame["action"] == "ask"]) < 2:
        here.page.wait_for_timeout(50)
    first, second = (frame for frame in frames.heard if frame["action"] == "ask")
    assert first == second


def test_a_question_that_is_taken_back_is_stopped_when_it_was_accepted_all_the_same(here: Desk, frames: Frames) -> None:
    frames.is_mute = True
    turn = here.begin("What?")
    here.page.get_by_role("button", name="Stop").click()
    expect(turn).to_have_count(0)
    expect(here.page.get_by_role("textbox", name="Your question")).to_have_value("What?")
    frames.event("accepted", message_id=frames.asked["message_id"], thread_id=frames.asked["thread_id"])
    while frames.heard[-1]["action"] == "ask":  # the test's own time limit ends this
        here.page.wait_for_timeout(20)
    assert frames.heard[-1] == {"action": "cancel", "turn_id": TURN}
    expect(here.page.locator(".turn")).to_have_count(0)


def test_a_finished_answer_is_announced_once_and_tokens_never(here: Desk, frames: Frames) -> None:
    region = here.page.locator("#announcer")
    here.page.evaluate(
        """() => {
            window.said = [];
            const region = document.querySelector('#announcer');
            const note = () => region.textContent && window.said.push(region.textContent);
            new MutationObserver(note).observe(region, { childList: true, characterData: true });
        }"""
    )
    turn = here.begin("What?")
    frames.event("status", node="answer", message="", progress=0.5)
    for word in ("These ", "are ", "the ", "words."):
        frames.event("token", text=word)
    frames.done(answer="These are the words.", note="A note.")
    here.ended(turn)
    expect(region).to_have_text("Answered. These are the words. A note.")
    assert here.page.evaluate("window.said") == ["Answered. These are the words. A note."]
    assert region.get_attribute("aria-live") == "polite"
    assert turn.locator("[aria-live]").count() == 0


def test_unknown_events_and_fields_change_nothing(here: Desk, frames: Frames) -> None:
    turn = here.begin("What?")
    frames.event("weather", sky="blue")
    frames.done(answer="Fine.", mood="good")
    here.ended(turn)
    expect(turn.locator(".answer")).to_have_text("Fine.")
    here.assert_unharmed()
