"""The handbook that the first command serves, asked everything its questions ask, with no key."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tests.e2e.client import Client
from tests.evals.questions import Answered, Kind, ask, listed, read, read_by_footnote

HANDBOOK = Path(__file__).parents[2] / "functions" / "local" / "handbook"
QUESTIONS = read(Path(__file__).parent / "handbook" / "questions.jsonl")


FLOORS: dict[Kind, int] = {
    "lookup": 22,
    "two_documents": 1,
    "contradiction": 4,
    "follow_up": 4,
    "cross_language": 4,
    "no_answer": 8,
}
"""What sentences picked without a model reached when this was written (one less for lookups); two documents want a model."""


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with read_by_footnote(tmp_path_factory.mktemp("home"), [HANDBOOK], seconds=60) as client:
        yield client


@pytest.fixture(scope="module")
def answers(handbook: Client) -> list[Answered]:
    return ask(handbook, QUESTIONS)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_questions_are_answered_as_the_handbook_answers_them(kind: Kind, answers: list[Answered]) -> None:
    asked = [answer for answer in answers if answer.question["kind"] == kind]
    wrong = [answer for answer in asked if not answer.is_right]
    assert len(asked) - len(wrong) >= FLOORS[kind], listed(wrong)


def test_what_questions_expect_stands_in_the_documents_they_name() -> None:
    for question in QUESTIONS:
        text = "\n".join((HANDBOOK / path).read_text(encoding="utf-8") for path in question["documents"])
        assert all(needed in text for needed in question["must_contain"]), question
        assert bool(question["documents"]) == (question["kind"] != "no_answer")
