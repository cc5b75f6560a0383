"""Rules in place of a model."""

from collections.abc import AsyncIterator, Sequence

from graph.adapters.extractive import planning
from graph.adapters.extractive.glossary import gloss
from graph.adapters.extractive.picking import Picker, is_foreign
from graph.adapters.extractive.rendering import rendered
from graph.claims import claims_of
from graph.confidence import judge
from graph.ports import Embedder
from graph.reasoner import AnswerTask, Budget, CheckTask, Claim, Exchange, Grade, GradeTask, Plan, PlanTask, Source, Verdict
from graph.turn import Revised

_LONGEST_SUMMARY = 2_000
_LONGEST_ANSWER = 200  # characters of an answer that a summary keeps
_FAR_BEHIND = 0.5  # of the best coverage
_FAR_BEHIND_DEVIATIONS = 2.0


class ExtractiveReasoner:
    """Answers with the sentences of the sources that say most about the question."""

    name = "extractive"
    extractive = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._picker = Picker(embedder)

    async def plan(self, task: PlanTask, budget: Budget) -> Plan:  # noqa: ARG002  # rules cost nothing
        return planning.plan(task)

    async def grade(self, task: GradeTask, budget: Budget) -> Grade:  # noqa: ARG002
        """By scores: nothing is relevant where nothing supports an answer, else all that is not far behind the best.

        Documents in another language are searched once more, in their words.
        """
        wording = gloss(task.question) if is_foreign(task.question, task.sources) else ""
        if wording and all(one.query != wording for one in task.hits):
            return _partial(task.sources, missing=wording)
        judged = judge(task.sources, task.hits, self._embedder.calibration)
        verdicts = {source["passage"]["passage_id"]: self._verdict(source, task.sources) for source in task.sources}
        if judged.level == "none":
            verdicts = dict.fromkeys(verdicts, "irrelevant")
        return Grade(verdicts=verdicts, sufficient=judged.level != "none", missing="", conflicts="")

    def _verdict(self, source: Source, sources: Sequence[Source]) -> Verdict:
        coverage = max(one["coverage"] for one in sources)
        cosine = max(one["cosine"] for one in sources)
        near = source["cosine"] >= cosine - _FAR_BEHIND_DEVIATIONS * self._embedder.calibration.random_std
        covers = source["coverage"] >= _FAR_BEHIND * coverage
        return "relevant" if near and covers else "partial" if near or covers else "irrelevant"

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


def _partial(sources: Sequence[Source], *, missing: str) -> Grade:
    verdicts: dict[str, Verdict] = {source["passage"]["passage_id"]: "partial" for source in sources}
    return Grade(verdicts=verdicts, sufficient=False, missing=missing, conflicts="")
