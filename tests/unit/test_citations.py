"""Markers of an answer become footnotes that open at the exact words, or go."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graph.citations import Grounded, ground
from graph.markers import code
from graph.reasoner import Source
from tests.standins.library import HashEmbedder
from tests.standins.passages import passage, source

REFUNDS = source(1, "Refunds abroad take 30 days. Keep your receipts. The limit is 1,500 euros per trip.", title="Refunds")
HOTELS = source(2, "A hotel in London may cost £165 per night.\n\nA hotel in Paris may cost €180 per night.", title="Hotels")
SETTINGS = source(
    3,
    "# API\n\nDisable the documentation:\n\n```python\napp = FastAPI(docs_url=None)\n```\n\n"
    "| name | price |\n|---|---|\n| green tea | 4 |\n| lemon cake | 6 |\n",
    title="Settings",
)
CHINESE = source(4, "国内退款需要7天。请保留发票原件。", title="退款")
SOURCES = [REFUNDS, HOTELS, SETTINGS, CHINESE]
TRANSLATIONS = {"Domestic refunds take 7 days.": "国内退款需要7天。", "国外退款要30天。": "Refunds abroad take 30 days."}


class Bilingual(HashEmbedder):
    """Knows some sentences in both languages."""

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> NDArray[np.float32]:
        return await super().embed([TRANSLATIONS.get(text, text) for text in texts], kind)


async def grounded(answer: str, sources: Sequence[Source] = SOURCES) -> Grounded:
    return await ground(answer, sources, Bilingual())


def quotes(result: Grounded) -> list[str]:
    return [citation["quote"] for citation in result.citations]


async def test_a_marker_opens_at_the_sentence_that_says_it() -> None:
    result = await grounded("Refunds from abroad take 30 days [1].")
    assert result.answer == "Refunds from abroad take 30 days [1]."
    assert quotes(result) == ["Refunds abroad take 30 days."]
    assert result.unsupported == []


async def test_offsets_count_in_the_document_and_not_in_the_passage() -> None:
    moved = source(1, "")
    moved["passage"] = {**passage("Refunds take long. Hotels cost £165 a night."), "start": 1_000, "end": 1_044}
    [citation] = (await grounded("Hotels cost £165 a night [1].", [moved])).citations
    assert (citation["start"], citation["end"]) == (1_019, 1_044)


async def test_numbers_are_given_in_order_of_first_use() -> None:
    result = await grounded("A hotel in Paris may cost €180 [2]. Refunds abroad take 30 days [1]. Keep your receipts [1].")
    assert re.findall(r"\[\d\]", result.answer) == ["[1]", "[2]", "[3]"]
    assert quotes(result) == [
        "A hotel in Paris may cost €180 per night.",
        "Refunds abroad take 30 days.",
        "Keep your receipts.",
    ]


async def test_the_same_words_keep_their_number() -> None:
    result = await grounded("Refunds abroad take 30 days [1].\n\nIn short: refunds abroad take 30 days [1].")
    assert [citation["at"] for citation in result.citations] == [[28, 72]]


@pytest.mark.parametrize(
    "marker", ["[1, 2]", "[1][2]", "[1-2]", "【1】【2】", "[1] [2]", "[1,2]", "【1，2】", "[Source 1, Source 2]"]
)
async def test_every_way_to_write_markers_becomes_one(marker: str) -> None:
    result = await grounded(f"A refund abroad takes 30 days, and a hotel in London costs £165 per night {marker}.")
    assert result.answer.endswith("per night [1][2].")
    assert quotes(result) == ["Refunds abroad take 30 days.", "A hotel in London may cost £165 per night."]


async def test_markers_of_sources_that_do_not_exist_go() -> None:
    result = await grounded("Refunds abroad take 30 days [7][1][12].")
    assert result.answer == "Refunds abroad take 30 days [1]."


async def test_a_marker_on_a_sentence_that_its_source_does_not_say_goes_and_the_sentence_is_named() -> None:
    result = await grounded("Refunds abroad take 30 days [1]. The canteen serves penguins on Fridays [2].")
    assert result.answer == "Refunds abroad take 30 days [1]. The canteen serves penguins on Fridays."
    assert result.unsupported == ["The canteen serves penguins on Fridays."]


async def test_a_number_that_the_source_does_not_have_is_not_supported() -> None:
    result = await grounded("Refunds abroad take 45 days [1].")
    assert result.citations == []
    assert result.unsupported == ["Refunds abroad take 45 days."]


async def test_a_number_may_be_written_otherwise() -> None:
    assert quotes(await grounded("The limit is 1500 euros per trip [1].")) == ["The limit is 1,500 euros per trip."]


async def test_markers_at_the_start_in_the_middle_and_at_the_end_of_a_sentence() -> None:
    start = await grounded("[1] Refunds abroad take 30 days.\n[2] A hotel in Paris may cost €180.")
    assert start.answer == "[1] Refunds abroad take 30 days.\n[2] A hotel in Paris may cost €180."
    middle = await grounded("A hotel in London may cost £165 [2], while refunds abroad take 30 days [1].")
    assert quotes(middle) == ["A hotel in London may cost £165 per night.", "Refunds abroad take 30 days."]
    end = await grounded("Refunds abroad take 30 days.[1] Keep your receipts.[1]")
    assert quotes(end) == ["Refunds abroad take 30 days.", "Keep your receipts."]


async def test_chinese_punctuation() -> None:
    result = await grounded("国内退款需要7天[4]，请保留发票原件【4】。国内退款需要7天。[4]")
    assert result.answer == "国内退款需要7天[1]，请保留发票原件[2]。国内退款需要7天。[1]"
    assert result.unsupported == []


async def test_an_answer_in_another_language_than_its_source() -> None:
    assert quotes(await grounded("Domestic refunds take 7 days.[4]")) == ["国内退款需要7天。"]
    assert quotes(await grounded("国外退款要30天。[1]")) == ["Refunds abroad take 30 days."]


async def test_across_languages_too_a_number_must_be_there() -> None:
    assert (await grounded("Domestic refunds take 8 days.[4]")).citations == []


async def test_markers_inside_of_code_are_literals() -> None:
    answer = "Use `items[1]` and:\n\n```python\nx = items[2]  # [1]\n```\n\nRefunds abroad take 30 days [1]."
    result = await grounded(answer)
    assert result.answer == answer
    assert [citation["at"] for citation in result.citations] == [[answer.rindex("[1]")]]


async def test_a_link_whose_text_is_a_number_is_no_marker() -> None:
    answer = "See [1](https://a.example). Refunds abroad take 30 days [1]."
    assert (await grounded(answer)).answer == answer


async def test_a_list_with_a_marker_on_each_item() -> None:
    result = await grounded("Hotels:\n\n- A hotel in London may cost £165 [2]\n- A hotel in Paris may cost €180 [2]")
    assert quotes(result) == ["A hotel in London may cost £165 per night.", "A hotel in Paris may cost €180 per night."]
    assert result.unsupported == []


async def test_code_with_its_marker_below_is_quoted_with_the_sentence_that_leads_up_to_it() -> None:
    answer = "Disable the documentation:\n\n```python\napp = FastAPI(docs_url=None)\n```\n[3]"
    result = await grounded(answer)
    assert result.answer == answer.replace("[3]", "[1]")
    assert quotes(result) == ["Disable the documentation:\n\n```python\napp = FastAPI(docs_url=None)\n```"]


async def test_a_row_of_a_table() -> None:
    result = await grounded("| name | price |\n|---|---|\n| lemon cake | 6 [3] |")
    assert quotes(result) == ["| lemon cake | 6 |"]
    assert result.answer.endswith("| lemon cake | 6 [1] |")


async def test_a_sentence_without_a_marker_gets_one_where_a_source_says_it() -> None:
    result = await grounded("Refunds abroad take 30 days [1]. A hotel in Paris may cost €180 per night.")
    assert result.answer == "Refunds abroad take 30 days [1]. A hotel in Paris may cost €180 per night. [2]"


async def test_a_sentence_that_asserts_nothing_needs_no_source() -> None:
    for sentence in (
        "Here is what I found:",
        "The documents do not mention dogs.",
        "文档中没有提到宠物。",
        "Do you mean abroad?",
    ):
        assert (await grounded(f"{sentence}\n\nKeep your receipts [1].")).unsupported == []


async def test_a_marker_at_the_end_of_a_paragraph_quotes_the_sentence_before_too() -> None:
    result = await grounded("Refunds abroad take 30 days. Keep your receipts. [1]")
    assert quotes(result) == ["Refunds abroad take 30 days. Keep your receipts."]
    assert result.answer.count("[") == 1


async def test_an_answer_without_sources_has_no_markers() -> None:
    result = await grounded("Refunds abroad take 30 days [1].", [])
    assert (result.answer, result.citations) == ("Refunds abroad take 30 days.", [])
    assert result.unsupported == ["Refunds abroad take 30 days."]


PIECES = st.sampled_from(
    [
        *re.split(r"(?<=\.) ", REFUNDS["passage"]["text"]), *HOTELS["passage"]["text"].split("\n\n"), "国内退款需要7天。",
        "[1]", "[2]", " [3]", "【4】", "[1, 2]", "[1-4]", "[9]", "[0]", "[[2]]", "［3］", "[1](https://a.example)",
        "`x[1]`", "\n```\ny[2]\n```\n", "\n\n", "\n- ", "\n1. ", "\n| a | b [1] |\n", " ", "`", "```", "[", "]",
        "€", "𠀀", "?", "\\[1]",
        "The moon is made of cheese.", "猫喜欢鱼。",
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=14).map("".join))
async def test_whatever_a_model_writes_footnotes_hold(answer: str) -> None:
    result = await grounded(answer)
    texts = {one["passage"]["passage_id"]: one["passage"] for one in SOURCES}
    numbers = [citation["number"] for citation in result.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    firsts = [min(citation["at"]) for citation in result.citations]
    assert firsts == sorted(firsts)
    literal = code(result.answer)
    for citation in result.citations:
        cited = texts[citation["passage_id"]]
        assert citation["quote"] == cited["text"][citation["start"] - cited["start"] : citation["end"] - cited["start"]]
        assert citation["quote"].strip()
        for at in citation["at"]:
            assert result.answer.startswith(f"[{citation['number']}]", at)
            assert not any(start <= at < end for start, end in literal)
    assert [result.answer[start:end] for start, end in literal] == [answer[start:end] for start, end in code(answer)]
