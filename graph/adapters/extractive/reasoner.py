"""Rules in place of a model."""

from collections.abc import AsyncIterator, Sequence

from graph.adapters.extractive import planning
from graph.adapters.extractive.grading import Grading
from graph.adapters.extractive.picking import Picker
from graph.adapters.extractive.rendering import rendered
from graph.claims import claims_of
from graph.ports import Embedder
from graph.reasoner import AnswerTask, Budget, CheckTask, Claim, Exchange, Grade, GradeTask, Plan, PlanTask
from graph.turn import Revised

_LONGEST_SUMMARY = 2_000
_LONGEST_ANSWER = 200  # characters of an answer that a summary keeps


class ExtractiveReasoner:
    """Answers with the sentences of the sources that say most about the question."""

    name = "extractive"
    extractive = True

    def __init__(self, embedder: Embedder) -> None:
        self._picker = Picker(embedder)
        self._grading = Grading(embedder.calibration, self._picker)

    async def plan(self, task: PlanTask, budget: Budget) -> Plan:  # noqa: ARG002  # rules cost nothing
        return planning.plan(task)

    async def grade(self, task: GradeTask, budget: Budget) -> Grade:  # noqa: ARG002
        """By scores. Where they are not sure, documents in another language are searched once more, in their words."""
        return await self._grading.grade(task)

    async def answer(self, task: AnswerTask, budget: Budget) -> AsyncIterator[str | Revised]:  # noqa: ARG002
        """At most three statements, in reading order, each with its marker; nothing if none supports an answer."""
        picks = await self._picker.pick(task.question, task.sources, task.language)
        for number, paragraph in enumerate(rendered(picks)):
            yield f"\n\n{paragraph}" if number else paragraph

    async def check(self, task: CheckTask, budget: Budget) -> list[Claim]:  # noqa: ARG002
        """All supported: `answer` gives words of the sources, and the footnotes of any answer are verified by code."""
        return [Claim(text=text, supported=True) for text in claims_of(task.answer)]

    async def summarise(self, summary: str, exchanges: Sequence[Exchange], budget: Budget) -> str:  # noqa: ARG002
        """The questions with the beginnings of their answers; the oldest fall away first."""
        lines = [summary] if summary else []
        for one in exchanges:
            answer = " ".join(one["answer"].split())
            shortened = answer if len(answer) <= _LONGEST_ANSWER else f"{answer[: _LONGEST_ANSWER - 1]}…"
            lines.append(f"{one['standalone_question'] or one['question']} → {shortened}")
        text = "\n".join(lines)
        return text if len(text) <= _LONGEST_SUMMARY else text[-_LONGEST_SUMMARY:].partition("\n")[2]
