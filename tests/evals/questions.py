"""Questions with the documents that answer them, and how well a Footnote did on them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from tests.e2e.client import Client, Json
from tests.server import serving

QUICK = {"FOOTNOTE_RATE_PER_MINUTE": "6000", "FOOTNOTE_RATE_BURST": "1000"}
"""Nobody waits between two questions."""
Kind = Literal["lookup", "two_documents", "contradiction", "follow_up", "cross_language", "no_answer"]


class Question(TypedDict):
    """A line of a ``questions.jsonl``."""

    id: str
    language: Literal["en", "zh"]
    kind: Kind
    question: str
    after: NotRequired[str]
    """The question before it in the same thread."""
    documents: list[str]
    """Paths that answer it: all are needed where ``kind`` is ``two_documents``, else one of them."""
    must_contain: list[str]
    """What the answer says, as the documents write it."""


def read(path: Path) -> list[Question]:
    """The questions of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


_UNCLAIMED = ("unanswerable", "partial", "refused", "needs_clarification")


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A question, the turn it became, and the paths that its footnotes lead to."""

    question: Question
    turn: Json
    cited: frozenset[str]

    @property
    def is_cited(self) -> bool:
        """Whether footnotes lead to what answers the question."""
        wanted = set(self.question["documents"])
        return wanted <= self.cited if self.question["kind"] == "two_documents" else bool(wanted & self.cited)

    @property
    def is_right(self) -> bool:
        """Whether the answer says it and footnotes lead there; for a question without an answer, that none is claimed."""
        if self.question["kind"] == "no_answer":
            return self.turn["outcome"] in _UNCLAIMED
        return self.is_cited and all(needed in self.turn["answer"] for needed in self.question["must_contain"])

    def __str__(self) -> str:
        """One line for a failing test."""
        asked = f"{self.question['id']} {self.question['question']}"
        return f"{asked}\n    {self.turn['outcome']}, cited {sorted(self.cited)}: {self.turn['answer'][:300]!r}"


@contextmanager
def read_by_footnote(home: Path, docs: Sequence[Path], seconds: float) -> Iterator[Client]:
    """A Footnote without a key that has read all files of some folders."""
    files = sum(path.is_file() for folder in docs for path in folder.rglob("*"))
    with serving(home, docs=docs, env=QUICK) as url, Client.of(url) as client:
        documents = client.read_all(files, seconds)
        assert [document for document in documents if document["status"] != "ready"] == []
        yield client


def ask(client: Client, questions: Iterable[Question]) -> list[Answered]:
    """Every question put to a Footnote, each in a thread of its own."""
    paths = {document["document_id"]: document["path"].partition("/")[2] for document in client.documents()}
    return [_ask(client, question, paths) for question in questions]


def _ask(client: Client, question: Question, paths: dict[str, str]) -> Answered:
    thread = {"thread_id": client.ask(question["after"])["thread_id"]} if "after" in question else {}
    turn = client.ask(question["question"], **thread)
    cited = frozenset(paths[citation["document_id"]] for citation in turn["citations"])
    return Answered(question=question, turn=turn, cited=cited)


def listed(answers: Iterable[Answered]) -> str:
    """Answers as a failing test prints them."""
    return "\n".join(["", *map(str, answers)])
