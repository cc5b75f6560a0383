"""Passages: exact slices that cover the text, within the window, cut where the text pauses."""

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingestion.chunks import Chunk, above, chunk
from ingestion.failures import FileFailure
from ingestion.parsed import Parsed
from ingestion.parsers import parse
from tests.ingestion.parts import CountingEmbedder

COUNT = CountingEmbedder().count_tokens
WINDOW = CountingEmbedder.max_tokens


def cut(text: str, path: str = "page.md", window: int = WINDOW) -> tuple[Parsed, list[Chunk], list[str]]:
    parsed = parse(text.encode(), path=path)
    chunks = chunk(parsed, parsed.title, COUNT, window)
    return parsed, chunks, [parsed.text[one.start : one.end] for one in chunks]


def uncovered(parsed: Parsed, chunks: list[Chunk]) -> str:
    at, missing = 0, []
    for one in sorted(chunks, key=lambda one: one.start):
        missing.append(parsed.text[at : max(at, one.start)])
        at = max(at, one.end)
    return "".join([*missing, parsed.text[at:]]).strip()


WORDS = st.sampled_from(
    [
        "rule",
        "Reisekosten",
        "报销",
        "每天三百元。",
        "経費は一日三千円まで。",
        "👩‍💻",
        "e\u0301tude",
        "`code`",
        "**bold**",
        "x" * 300,
        "a.b",
        "!?",
        "：",
        "-",
    ]
)
SENTENCE = st.lists(WORDS, min_size=1, max_size=30).map(lambda words: " ".join(words) + ". ")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=12).map("".join)
PIECES = st.one_of(
    PARAGRAPH,
    st.builds(lambda level, words: f"{'#' * level} {words} {{ #anchor }}", st.integers(1, 6), SENTENCE),
    PARAGRAPH.map(lambda text: f"```python\n{text}\n\n{text}\n```"),
    PARAGRAPH.map(lambda text: f"    {text}"),
    st.lists(SENTENCE, min_size=1, max_size=20).map(lambda items: "\n".join(f"* {item}" for item in items)),
    st.lists(WORDS, min_size=1, max_size=60).map(
        lambda cells: "| a | b |\n|---|---|\n" + "\n".join(f"| {c} | 1 |" for c in cells)
    ),
    SENTENCE.map(lambda text: f"> {text}\n> {text}"),
    st.text(max_size=200),
    st.just("[link]: https://example.com 'title'"),
    st.just("<div>\n\n<b>html</b>\n</div>"),
)
MARKDOWN = st.lists(PIECES, min_size=1, max_size=25).map("\n\n".join)


@settings(max_examples=150, deadline=None)
@given(MARKDOWN, st.sampled_from([64, 200, WINDOW]))
def test_passages_cover_all_that_is_not_white_and_fit_the_window(text: str, window: int) -> None:
    assume(parse_or_none(text) is not None)
    parsed, chunks, texts = cut(text, window=window)

    assert uncovered(parsed, chunks) == ""
    for one, passage in zip(chunks, texts, strict=True):
        assert 0 <= one.start < one.end <= len(parsed.text)
        assert passage.strip() == passage
        if window > 64:  # a heading may need more than a tiny window
            assert COUNT([above(parsed.title[:149], one.heading) + passage])[0] <= window
    assert all(before.start < after.start and before.end < after.end for before, after in pairwise(chunks))


def parse_or_none(text: str) -> Parsed | None:
    try:
        return parse(text.encode(), path="page.md")
    except FileFailure:
        return None


def test_a_section_that_says_enough_has_a_passage_of_its_own() -> None:
    body = "It is allowed. " * 60
    _, chunks, texts = cut(f"# Handbook\n\n## Travel {{ #travel }}\n\n{body}\n\n### Abroad\n\n{body}\n\n## Leave\n\n{body}")

    assert [one.heading for one in chunks] == ["", "Travel > Abroad", "Leave"]
    assert [text.split("\n")[0] for text in texts[1:]] == ["### Abroad", "## Leave"]


def test_short_sections_share_a_passage() -> None:
    _, chunks, _ = cut("# FAQ\n\n## One\n\nYes.\n\n## Two\n\nNo.\n\n## Three\n\nPerhaps.")

    assert len(chunks) == 1


def test_a_long_section_overlaps_by_whole_sentences() -> None:
    sentences = [f"Rule {number} says that number {number} holds." for number in range(200)]
    parsed, chunks, texts = cut("# Rules\n\n" + " ".join(sentences))

    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        shared = parsed.text[after.start : before.end]
        assert 64 < COUNT([shared])[0] <= 128
        assert shared.startswith("Rule ")
    assert all(text.endswith("holds.") for text in texts)


def test_chinese_is_cut_at_its_full_stops() -> None:
    _, chunks, texts = cut("# 规则\n\n" + "".join(f"第{number}条规则规定了报销的上限是多少元！" for number in range(100)))

    assert len(chunks) > 2
    assert all(text.endswith("！") for text in texts)
    assert all(text.startswith(("第", "#")) for text in texts)


def test_code_is_kept_whole_where_it_fits() -> None:
    code = "```python\n" + "\n\n".join(f"def f{number}():\n    return {number}" for number in range(30)) + "\n```"
    _, _, texts = cut(f"# A\n\n{'Some words here. ' * 60}\n\nFor example:\n\n{code}\n\n{'More words here. ' * 60}")

    assert sum(code in text for text in texts) == 1
    assert any("For example:\n\n```python" in text for text in texts), "what announces code stays with it"


def test_a_heading_never_ends_a_passage() -> None:
    section = "## A heading\n\n" + "Some words of a sentence. " * 25
    _, _, texts = cut("# Top\n\n" + "\n\n".join(section for _ in range(12)))

    assert not any(text.split("\n")[-1].startswith("#") for text in texts)


def test_no_row_of_a_table_is_cut() -> None:
    rows = "\n".join(f"{number},Customer {number},{number * 7}.50" for number in range(500))
    _, chunks, texts = cut(f"order,customer,amount\n{rows}\n", "orders.csv")

    lines = [line for text in texts for line in text.split("\n")]
    assert lines == [f"order: {n}; customer: Customer {n}; amount: {n * 7}.50" for n in range(500)]
    assert len(chunks) > 10


def test_one_endless_word_is_cut_all_the_same() -> None:
    parsed, chunks, _ = cut("x" * 50_000, "x.txt")

    assert uncovered(parsed, chunks) == ""
    assert len(chunks) > 20


@pytest.mark.parametrize("character", ["👩‍👩‍👧", "e\u0301", "❤️"])
def test_a_forced_cut_leaves_composed_characters_whole(character: str) -> None:
    parsed, chunks, _ = cut(character * 5000, "x.txt")

    assert uncovered(parsed, chunks) == ""
    assert all((one.end - one.start) % len(character) == 0 for one in chunks)


def test_titles_and_headings_of_any_length_leave_room_for_the_text() -> None:
    long = "very " * 400
    parsed, chunks, texts = cut(f"# {long}\n\n## {long}\n\n{'Words of a sentence. ' * 300}")

    assert all(len(text) > 200 for text in texts[:-1])
    assert uncovered(parsed, chunks) == ""
