"""Answers on the page: markers where the citations say, Markdown that brings nothing along, sources at the exact words."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.e2e.frames import Frames, citation, serve_text

pytestmark = pytest.mark.browser


def answer_of(here: Desk, frames: Frames, answer: str, citations: list[dict[str, Any]] | None = None) -> Locator:
    """The answer as it is shown."""
    turn = here.begin("What?")
    frames.done(answer=answer, citations=citations)
    here.ended(turn)
    return turn.locator(".answer")


def places(answer: str, marker: str) -> list[int]:
    """Where the marker stands, in code points."""
    return [match.start() for match in re.finditer(re.escape(marker), answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "**All bold.**[1] And *leaning*[1], then plain[1].",
        "# Heading[1]\n\n- item[1]\n- > quoted[1]\n\n| a | b |\n|---|--:|\n| 1[1] | 2 |",
        "看这里。[1]**粗体。**[1]",
        "🙂🙂 beyond the first plane[1]",
        "[1] at the start of a line, and [1](not a link) in front of brackets",
        "A link: https://example.com/a[1] and [named [1]](https://example.com/)",
        "｜\ue000 characters that stand for markers｜\ue0001｜[1]",
    ],
)
def test_markers_become_buttons_exactly_where_the_citation_says(here: Desk, frames: Frames, answer: str) -> None:
    at = places(answer, "[1]")
    shown = answer_of(here, frames, answer, [citation(1, at)])
    expect(shown.get_by_role("button", name="Footnote 1: A document")).to_have_count(len(at))
    expect(shown).not_to_contain_text("[1]")
    assert "\ue000" not in shown.inner_text().replace("｜\ue000 characters", "").replace("｜\ue0001｜", "")
    here.assert_unharmed()


def test_a_marker_stands_behind_the_words_it_belongs_to(here: Desk, frames: Frames) -> None:
    answer = "🙂 First.[1] Second.[2][1] `x[1]` third [1] literal."
    citations = [citation(1, [8, 22]), citation(2, [19])]
    assert [answer[at : at + 3] for at in (8, 22, 19)] == ["[1]", "[1]", "[2]"]
    shown = answer_of(here, frames, answer, citations)
    assert shown.inner_text().replace("\n", "") == "🙂 First.1 Second.21 x[1] third [1] literal."
    expect(shown.locator("code")).to_have_text("x[1]")
    expect(shown.get_by_role("button")).to_have_count(3)


def test_an_answer_cannot_bring_markup_scripts_images_or_other_addresses(here: Desk, frames: Frames) -> None:
    hostile = (
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\n\n"
        "<iframe srcdoc='<script>parent.hacked = 3</script>'></iframe>\n\n"
        "[run](javascript:window.hacked=4) [data](data:text/html,<script>1</script>)\n\n"
        "[file](file:///etc/passwd) [rel](/docs)\n\n"
        "![picture](https://evil.example/pixel.png) <https://good.example/> [x]: javascript:window.hacked=5\n\n"
        '[title](https://good.example/ "\\" onclick=\\"window.hacked=6") <a href="javascript:window.hacked=7">a</a>\n\n'
        "| a |\n|--:|\n| <b onmouseover=window.hacked=8>b</b>[1] |"
    )
    title = "<img src=x onerror=window.hacked=9>"
    shown = answer_of(
        here, frames, hostile, [citation(1, places(hostile, "[1]"), title=title, quote="<script>window.hacked=10</script>")]
    )
    expect(shown.locator("script, img, iframe, [onclick], [onerror], [onmouseover], [style]")).to_have_count(0)
    links = shown.locator("a").evaluate_all("links => links.map(link => [new URL(link.href).protocol, link.rel])")
    assert len(links) == 3
    assert all(protocol == "https:" and "noopener" in rel for protocol, rel in links)
    shown.locator("a").first.hover()
    shown.locator("td").hover()
    serve_text(here.page, "document-1", "<script>window.hacked=10</script> <img src=x onerror=window.hacked=11>", heading=title)
    shown.get_by_role("button").click()
    expect(here.marked).to_have_text("<script>window.hacked=10</script>")
    here.assert_unharmed()


def test_a_footnote_opens_at_the_exact_words_across_overlapping_passages(here: Desk, frames: Frames) -> None:
    text = "🙂 A first sentence.\n" * 40 + "The exact words.\n" + "Another sentence.\n" * 40
    start = text.index("The exact words.")
    serve_text(here.page, "document-1", text, heading="A > B")
    shown = answer_of(here, frames, "So it is.[1]", [citation(1, [9], quote="The exact words.", start=start)])
    shown.get_by_role("button").click()
    expect(here.marked).to_have_text("The exact words.")
    expect(here.marked).to_be_in_viewport()
    assert here.panel.locator(".source-text").evaluate("text => text.textContent") == text


@pytest.mark.parametrize("change", ["other text", "deleted"])
def test_a_source_that_has_changed_since_is_said_to_have(here: Desk, frames: Frames, change: str) -> None:
    if change == "other text":
        serve_text(here.page, "document-1", "These are not the words at all.", version="v2")
        says = "The document has changed since this answer."
    else:
        problem = {"status": 404, "code": "not_found", "detail": "no such document", "title": "Not found", "trace_id": "0"}
        body = json.dumps(problem)
        here.page.route(
            "**/passages*", lambda route: route.fulfill(status=404, content_type="application/problem+json", body=body)
        )
        says = "The document has been deleted since this answer."
    answer_of(here, frames, "So it is.[1]", [citation(1, [9])]).get_by_role("button").click()
    expect(here.panel).to_contain_text(says)
    expect(here.panel.locator("mark")).to_have_text("exact words")
