"""Which statements make an answer: what is newer, what completes another, what answers in the language of the question."""

import time

import pytest

from graph.adapters.extractive import ExtractiveReasoner
from graph.adapters.extractive.comparison import sides
from graph.adapters.extractive.glossary import alternatives, spaced
from graph.reasoner import AnswerTask, Budget, Source
from graph.text import language
from tests.standins.library import HashEmbedder
from tests.standins.passages import source


async def answered(question: str, *sources: Source) -> str:
    task = AnswerTask(question=question, language=language(question), sources=sources)
    budget = Budget(deadline=time.monotonic() + 10, calls=10, tokens=50_000)
    return "".join([str(piece) async for piece in ExtractiveReasoner(HashEmbedder()).answer(task, budget)])


async def test_a_sentence_that_leans_on_the_one_before_comes_with_it() -> None:
    text = "Up to 5 days may be carried into the next year. They lapse on 31 March. Ask your manager for leave."
    answer = await answered("How many days can be carried into the next year, and when do they lapse?", source(1, text))
    assert answer.startswith("Up to 5 days may be carried into the next year. [1] They lapse on 31 March. [1]")
    assert "Up to 5 days" in await answered("When do days lapse in March?", source(1, text))


async def test_what_adds_no_word_of_the_question_is_left_out() -> None:
    text = "A hotel in London may cost £165 per night.\n\nThe canteen opens at noon.\n\nWe like tea."
    assert await answered("How much may a hotel in London cost per night?", source(1, text)) == (
        "A hotel in London may cost £165 per night. [1]"
    )


async def test_a_notice_in_other_words_replaces_the_older_table() -> None:
    table = (
        "## How long a customer may return\n\n| Customer's country | Return window |\n|---|---|\n"
        "| European Union | 21 days |\n| Japan | 14 days |"
    )
    old = source(1, table, title="Returns", date="2025-02-01")
    new = source(2, "Customers in the European Union now have **30 days**.", title="Notice: longer returns", date="2026-07-01")
    answer = await answered("How long may a customer in the European Union return a product?", old, new)
    assert "30 days" in answer
    assert "21 days" not in answer


async def test_the_older_stays_where_the_question_names_its_version() -> None:
    old = source(1, "The battery of firmware 2 lasts 40 hours.", title="Firmware 2", date="2024-05-01")
    new = source(2, "The battery of firmware 3 lasts 55 hours.", title="Firmware 3", date="2026-03-01")
    assert "40 hours" in await answered("How long does the battery last with firmware 2?", old, new)


async def test_another_language_is_quoted_only_where_the_own_does_not_answer() -> None:
    english = source(1, "Marriage leave is 13 days.", title="Leave")
    chinese = source(2, "婚假为 15 天。", title="休假")
    assert "15 天" in await answered("婚假有多少天？", english, chinese)
    silent = source(2, "休假须提前申请。", title="休假")
    assert "13 days" in await answered("婚假有多少天？", english, silent)


@pytest.mark.parametrize(
    ("question", "compared"),
    [
        ("difference between firmware 2 and firmware 3 battery life", ["firmware 2 battery life", "firmware 3 battery life"]),
        ("difference between tea and coffee", ["tea", "coffee"]),
    ],
)
def test_what_is_said_once_of_both_sides_belongs_to_both(question: str, compared: list[str]) -> None:
    assert sides(question) == compared


def test_words_of_one_meaning_stand_for_each_other() -> None:
    assert "年休假" in alternatives("年假多少天")["年假"]
    assert "leave" in alternatives("年假多少天")["年假"]
    assert "婚假" in alternatives("marriage leave")["leav"]
    assert spaced("年假多少天").split() == ["年假"]
    assert spaced("税？") == "税？"
