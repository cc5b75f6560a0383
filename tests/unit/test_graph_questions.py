"""What is decided about a question without a model."""

import pytest

from graph.questions import folded, leans_on_history, one_search_is_enough


@pytest.mark.parametrize(
    "question",
    [
        "What about China?",
        "那国内呢？",
        "And abroad?",
        "Why?",
        "Who approves it?",
        "How long does that take for managers?",
        "它需要多长时间？",
        "这个要多久才能到账？",
        "is it the same for contractors",
    ],
)
def test_a_follow_up_leans_on_the_conversation(question: str) -> None:
    assert leans_on_history(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many days of annual leave do employees get?",
        "员工每年有多少天年假？",
        "Who approves travel expenses over 500 euros?",
    ],
)
def test_a_question_that_names_its_things_stands_alone(question: str) -> None:
    assert not leans_on_history(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many days of annual leave do employees get?",
        "docs_url=None",
        "如何关闭文档页面？",
        "Who approves travel expenses over 500 euros?",
    ],
)
def test_one_clause_about_one_thing_needs_one_search(question: str) -> None:
    assert one_search_is_enough(question)


@pytest.mark.parametrize(
    "question",
    [
        "Compare leave in Hangzhou and Hamburg",
        "What is the difference between firmware 2 and firmware 3?",
        "国内和国外的报销有什么区别？",
        "Who wrote the rule and when does it apply?",
        "List all approvers",
        "总结一下休假政策",
        "What is the allowance? Who pays it?",
        "Which manager approves what?",
        " ".join(["word"] * 60),
    ],
)
def test_several_things_need_a_plan(question: str) -> None:
    assert not one_search_is_enough(question)


def test_queries_are_compared_without_case_space_and_end() -> None:
    assert folded("  Annual   Leave? ") == folded("annual leave")
    assert folded("年假？") == folded("年假")
