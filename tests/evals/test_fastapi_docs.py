"""FastAPI's documentation in English and Chinese, asked as developers ask, with no key."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.evals.questions import Answered, ask, listed, read, read_by_footnote

pytestmark = [pytest.mark.data, pytest.mark.timeout(1500)]

QUESTIONS = read(Path(__file__).parent / "fastapi_docs" / "questions.jsonl")


@pytest.fixture(scope="module")
def documentation(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server that has read all 279 pages."""
    pages = shared_data / "fastapi_docs"
    with read_by_footnote(tmp_path_factory.mktemp("home"), [pages / "en", pages / "zh"], seconds=1200) as client:
        assert len(client.documents()) == 279
        yield client


@pytest.fixture(scope="module")
def answers(documentation: Client) -> list[Answered]:
    return ask(documentation, QUESTIONS)


def test_the_right_page_is_cited_for_26_of_30_questions(answers: list[Answered]) -> None:
    answerable = [answer for answer in answers if answer.question["documents"]]
    missed = [answer for answer in answerable if not answer.is_cited]
    assert len(answerable) == 30
    assert len(missed) <= 4, listed(missed)


def test_what_the_documentation_does_not_answer_is_not_answered(answers: list[Answered]) -> None:
    unanswerable = [answer for answer in answers if not answer.question["documents"]]
    claimed = [answer for answer in unanswerable if not answer.is_right]
    assert len(unanswerable) == 6
    assert not claimed, listed(claimed)


def test_how_to_disable_the_docs_page_is_answered_with_the_setting(answers: list[Answered]) -> None:
    (answer,) = (answer for answer in answers if answer.question["must_contain"] and answer.question["language"] == "en")
    assert answer.is_right, listed([answer])


def test_the_same_asked_in_chinese_is_answered_from_the_english_pages(documentation: Client) -> None:
    turn = documentation.ask("怎么关闭自动生成的文档页面？", filters={"path": {"prefix": "en/"}})
    assert "docs_url=None" in turn["answer"]
    assert any(citation["uri"].endswith("en/tutorial/metadata.md") for citation in turn["citations"])
