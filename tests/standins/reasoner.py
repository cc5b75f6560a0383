"""A reasoner that says what a test tells it to."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from graph.errors import ModelUnavailable
from graph.reasoner import (
    AnswerTask,
    Budget,
    CheckTask,
    Claim,
    Exchange,
    Grade,
    GradeTask,
    ModelCall,
    Plan,
    PlanTask,
)
from graph.turn import Revised, Step

T = TypeVar("T")


def step(query: str, *depends_on: int, tool: str = "search") -> Step:
    return Step(tool=tool, query=query, purpose="", depends_on=list(depends_on))


def lookup(question: str, *queries: str) -> Plan:
    return Plan(intent="lookup", question=question, steps=[step(query) for query in queries or (question,)])


def enough(*, conflicts: str = "") -> Grade:
    return Grade(verdicts={}, sufficient=True, missing="", conflicts=conflicts)


def lacking(missing: str) -> Grade:
    return Grade(verdicts={}, sufficient=False, missing=missing, conflicts="")


@dataclass
class ScriptedReasoner:
    """Each list is what the calls of one kind return, in order, the last one again and again; an error in it is raised."""

    name: str = "scripted"
    extractive: bool = False
    plans: list[Plan | Exception] = field(default_factory=list)
    grades: list[Grade | Exception] = field(default_factory=list)
    answers: list[list[str | Revised] | Exception] = field(default_factory=list)
    refuted: list[list[str] | Exception] = field(default_factory=list)
    """Sentences that each check finds unsupported."""
    tasks: list[tuple[str, object]] = field(default_factory=list)
    """What was asked."""
    tokens: int = 100
    """Of every call."""

    def calls(self, node: str) -> int:
        return sum(name == node for name, _ in self.tasks)

    async def plan(self, task: PlanTask, budget: Budget) -> Plan:
        self._book("plan", task, budget)
        return _next(self.plans, self.calls("plan"), lookup(task.question))

    async def grade(self, task: GradeTask, budget: Budget) -> Grade:
        self._book("grade", task, budget)
        return _next(self.grades, self.calls("grade"), enough())

    async def answer(self, task: AnswerTask, budget: Budget) -> AsyncIterator[str | Revised]:
        self._book("answer", task, budget)
        first = task.sources[0]
        said: list[str | Revised] = [f"{first['passage']['text'].split('.')[0]} [{first['number']}]."]
        for piece in _next(self.answers, self.calls("answer"), said):
            yield piece

    async def check(self, task: CheckTask, budget: Budget) -> list[Claim]:
        self._book("check", task, budget)
        return [Claim(text=text, supported=False) for text in _next(self.refuted, self.calls("check"), [])]

    async def summarise(self, summary: str, exchanges: Sequence[Exchange], budget: Budget) -> str:
        self._book("summarise", list(exchanges), budget)
        return f"{summary} {len(exchanges)} exchanges".strip()

    def _book(self, node: str, task: object, budget: Budget) -> None:
        self.tasks.append((node, task))
        if not self.extractive:
            budget.record(ModelCall(node=node, model="scripted", prompt_tokens=self.tokens))


class BrokenReasoner(ScriptedReasoner):
    """No model answers."""

    def _book(self, node: str, task: object, budget: Budget) -> None:  # noqa: ARG002  # the signature of its parent
        self.tasks.append((node, task))
        raise ModelUnavailable("No model answers.")


def _next(script: Sequence[T | Exception], call: int, default: T) -> T:
    chosen = script[min(call, len(script)) - 1] if script else default
    if isinstance(chosen, Exception):
        raise chosen
    return chosen
