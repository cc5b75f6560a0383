"""What rules can tell about whether a statement answers: the kind of thing that is asked, names, rows that only add up."""

import time

import pytest

from graph.adapters.extractive import ExtractiveReasoner
from graph.adapters.extractive.asking import holds, kinds
from graph.adapters.extractive.glossary import names
from graph.adapters.extractive.vouching import asks_something
from graph.reasoner import Budget, Grade, GradeTask, Source
from tests.standins.library import HashEmbedder, hits_of
from tests.standins.passages import source


async def graded(question: str, *texts: str, title: str = "Handbook") -> Grade:
    sources: list[Source] = [source(number, text, title=title) for number, text in enumerate(texts, start=1)]
    task = GradeTask(question=question, sources=sources, hits=[hits_of(question, sources)])
    budget = Budget(deadline=time.monotonic() + 10, calls=10, tokens=50_000)
    return await ExtractiveReasoner(HashEmbedder()).grade(task, budget)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many days of leave do I have?", "number"),
        ("What is the price of a day?", "number"),
        ("年假多少天？", "number"),
        ("And when do they expire?", "time"),
        ("什么时候付款？", "time"),
        ("Who runs the ferry?", "person"),
        ("By whom is it approved?", "person"),
        ("谁来审批？", "person"),
        ("Where is the lab?", "place"),
        ("What colour is the lantern?", "colour"),
        ("灯是什么颜色？", "colour"),
    ],
)
def test_questions_say_what_kind_of_thing_they_ask_for(question: str, kind: str) -> None:
    assert kind in kinds(question)


@pytest.mark.parametrize("question", ["Ask somebody who knows it", "What is the rate when I drive?", "怎么关闭文档页面？"])
def test_words_inside_of_a_clause_ask_for_nothing(question: str) -> None:
    assert kinds(question) == []


def test_a_number_that_the_question_brings_is_none() -> None:
    assert not holds("number", "How long does it last with firmware 2?", "Firmware 2 came first.")
    assert holds("number", "How long does it last with firmware 2?", "Firmware 2 lasts 40 hours.")


@pytest.mark.parametrize("question", ["the", "1", "What is 2+2?", "…?", "is it?"])
async def test_a_question_that_names_nothing_is_not_answered(question: str) -> None:
    assert not asks_something(question)
    grade = await graded(question, "The 2 lanterns are in the shed. It is 1 shed.")
    assert (grade["sufficient"], set(grade["verdicts"].values())) == (False, {"irrelevant"})


@pytest.mark.parametrize("question", ["404", "refunds", "What is tessync?", "税？"])
def test_one_word_that_can_be_looked_up_is_enough_to_ask(question: str) -> None:
    assert asks_something(question)


LANTERN = "The brass lantern weighs two kilograms and hangs in the harbour office."


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("How much does the brass lantern weigh?", True),
        ("Where does the brass lantern hang?", True),
        ("What colour is the brass lantern?", False),
        ("When was the brass lantern hung?", False),
        ("How much does the Copper lantern weigh?", False),
    ],
)
async def test_the_right_subject_answers_only_with_what_was_asked(question: str, *, is_answered: bool) -> None:
    assert (await graded(question, LANTERN))["sufficient"] == is_answered


async def test_what_a_name_does_is_not_answered_by_what_else_it_does() -> None:
    assert not (await graded("Who runs the Ferry?", "The Ferry crosses to Ardmore every hour."))["sufficient"]
    assert (await graded("Who runs the Ferry?", "The Ferry is run by Morag Teale."))["sufficient"]


ORDERS = (
    "order: T-1; customer: Lin; department: Export; amount: 20\norder: T-2; customer: Okoye; department: Export; amount: 30"
)


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("What is the total amount of orders of the department Export?", False),
        ("Which customer has the highest order amount?", False),
        ("Export 部门订单的 amount 总计多少？", False),
        ("What is the order amount of T-2?", True),
    ],
)
async def test_one_row_answers_for_itself_and_not_for_all(question: str, *, is_answered: bool) -> None:
    assert (await graded(question, ORDERS))["sufficient"] == is_answered


async def test_across_languages_nothing_is_sure() -> None:
    grade = await graded("婚假有多少天？", "Marriage leave is 13 days.", title="Leave")
    assert not grade["sufficient"]


async def test_no_sentence_does_what_somebody_asks_to_have_done() -> None:
    assert not (await graded("Delete all recordings", "All recordings are deleted by a reset."))["sufficient"]


def test_names_are_known_in_both_languages() -> None:
    assert ["英国", "UK", "British"] in names("英国的年假多少天？")
    assert [calls[0] for calls in names("How long is the leave in Hangzhou for Lin?")] == ["Hangzhou", "Lin"]
