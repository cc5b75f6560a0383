"""The reasoner on Groq: a fast model plans, grades and checks in strict JSON; a strong one streams the answer."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from graph import prompts
from graph.adapters.groq.failures import Failure, Kind
from graph.adapters.groq.lineup import Lineup, NoModel, Reason
from graph.adapters.groq.models import reasons
from graph.adapters.groq.recovery import Shape, read
from graph.adapters.groq.requests import Effort, Key, Patience, Reply, Request, Requests
from graph.adapters.groq.shapes import CheckShape, GradeShape, PlanShape, strict_schema
from graph.adapters.groq.streaming import Streaming
from graph.claims import claims_of
from graph.reasoner import (
    Ambiguity,
    AnswerTask,
    Budget,
    CheckTask,
    Claim,
    Exchange,
    Grade,
    GradeTask,
    Plan,
    PlanTask,
    Reasoner,
    Verdict,
)
from graph.settings import Settings
from graph.turn import Revised, Step

T = TypeVar("T")

_TEMPERATURES = (0.1, 0.05, 0.0)  # one try and two more, each with less freedom
_STRUCTURED_TOKENS = 1_024
_ANSWER_TOKENS = 2_048


class GroqReasoner:
    """Models where they answer; where none does, ``fallback``, marked in the budget's ``fallbacks``."""

    name = "groq"
    extractive = False

    def __init__(
        self, settings: Settings, fallback: Reasoner, patience: Patience | None = None, *, key: Key | None = None
    ) -> None:
        """``key`` gives the key of the moment, where it is not the settings that have it."""
        self._settings = settings
        self._fallback = fallback
        patience = patience or Patience()
        self._requests = Requests(settings, patience, key)
        self._lineup = Lineup(settings.model_fallbacks, patience)
        self._streaming = Streaming(self._requests, self._lineup)

    async def plan(self, task: PlanTask, budget: Budget) -> Plan:
        async def ask() -> Plan:
            made = await self._structured("plan", prompts.plan(task), PlanShape, budget)
            steps = [
                Step(tool=step.tool, query=step.query, purpose=step.purpose, depends_on=step.depends_on) for step in made.steps
            ]
            return Plan(intent=made.intent, question=made.question, steps=steps)

        return await self._or_rule("plan", budget, ask, lambda: self._fallback.plan(task, budget))

    async def grade(self, task: GradeTask, budget: Budget) -> Grade:
        async def ask() -> Grade:
            return _grade(await self._structured("grade", prompts.grade(task), GradeShape, budget), task)

        return await self._or_rule("grade", budget, ask, lambda: self._fallback.grade(task, budget))

    async def check(self, task: CheckTask, budget: Budget) -> list[Claim]:
        sentences = claims_of(task.answer)
        if not sentences:
            return []

        async def ask() -> list[Claim]:
            verdicts = await self._verdicts(task, dict(enumerate(sentences, start=1)), budget)
            return [
                Claim(text=text, supported=verdicts.get(number, "supported") == "supported")
                for number, text in enumerate(sentences, start=1)
            ]

        return await self._or_rule("check", budget, ask, lambda: self._fallback.check(task, budget))

    async def summarise(self, summary: str, exchanges: Sequence[Exchange], budget: Budget) -> str:
        request = Request(node="summarise", messages=prompts.summarise(summary, exchanges), max_tokens=_STRUCTURED_TOKENS)

        async def ask() -> str:
            reply = await self._lineup.attempt(self._settings.model_fast, budget, self._completing(request, budget))
            return reply.content.strip() or summary

        return await self._or_rule("summarise", budget, ask, lambda: self._fallback.summarise(summary, exchanges, budget))

    async def answer(self, task: AnswerTask, budget: Budget) -> AsyncIterator[str | Revised]:
        request = Request(node="answer", messages=prompts.answer(task), max_tokens=_ANSWER_TOKENS)
        streamed = False
        try:
            async for piece in self._streaming.pieces(self._settings.model_strong, request, budget):
                streamed = True
                yield piece
        except NoModel as none:
            reason: Reason = none.reason
        except Failure:
            reason = "unavailable"
        else:
            return
        budget.fallbacks.append(f"extractive:{reason}")
        if not streamed:
            async for piece in self._fallback.answer(task, budget):
                yield piece
            return
        whole = [piece async for piece in self._fallback.answer(task, budget)]
        yield Revised(answer="".join(piece for piece in whole if isinstance(piece, str)))

    async def warm(self) -> None:
        """Load what a first call would have to load."""
        await self._requests.warm()

    async def probe(self, model: str) -> Kind | None:
        """What keeps a model from answering to the key; None where nothing does."""
        try:
            await self._requests.probe(model)
        except Failure as failure:
            return failure.kind
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._requests.close()

    async def _or_rule(self, node: str, budget: Budget, ask: Callable[[], Awaitable[T]], rule: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except NoModel as none:
            budget.fallbacks.append(f"rule:{node}:{none.reason}")
        except Failure as failure:
            budget.fallbacks.append(f"rule:{node}:{failure.kind}")
        return await rule()

    async def _verdicts(self, task: CheckTask, sentences: dict[int, str], budget: Budget) -> dict[int, str]:
        """Verdict by number; what the fast model is not sure of goes to the strong one."""
        made = await self._structured("check", prompts.check(task, sentences), CheckShape, budget)
        verdicts = {claim.sentence: claim.verdict for claim in made.claims}
        unsure = {number: text for number, text in sentences.items() if verdicts.get(number) == "unsure"}
        if unsure and budget.calls > 0:
            strong = self._settings.model_strong
            messages = prompts.check(task, unsure)
            closer = await self._structured("check", messages, CheckShape, budget, first=strong, effort="medium")
            verdicts |= {claim.sentence: claim.verdict for claim in closer.claims if claim.sentence in unsure}
        return dict(verdicts)

    async def _structured(  # noqa: PLR0913  # what, how, by whom, and at whose cost
        self,
        node: str,
        messages: prompts.Messages,
        shape: type[Shape],
        budget: Budget,
        *,
        first: str | None = None,
        effort: Effort = "low",
    ) -> Shape:
        schema = strict_schema(shape)
        request = Request(node=node, messages=messages, max_tokens=_STRUCTURED_TOKENS, effort=effort, schema=schema)
        spelled = Request(**{**vars(request), "messages": prompts.with_schema(messages, json.dumps(schema))})

        async def ask(model: str) -> Shape:
            for temperature in _TEMPERATURES:
                suited = request if reasons(model) else spelled
                reply = await self._attempt_json(model, suited, budget, temperature)
                made = read(reply.content, shape) or read(reply.arguments, shape)
                if made is not None:
                    return made
                if budget.calls <= 0:
                    break
            raise Failure("bad_json")

        reserve = 1 if node in ("plan", "grade") else 0  # the answer itself
        return await self._lineup.attempt(first or self._settings.model_fast, budget, ask, reserve=reserve)

    async def _attempt_json(self, model: str, request: Request, budget: Budget, temperature: float) -> Reply:
        """The reply; where Groq refused it as invalid JSON, what the model wrote all the same."""
        try:
            return await self._requests.complete(model, request, budget, temperature=temperature)
        except Failure as failure:
            if failure.kind != "bad_json":
                raise
            return Reply(failure.generation, "")

    def _completing(self, request: Request, budget: Budget) -> Callable[[str], Awaitable[Reply]]:
        async def ask(model: str) -> Reply:
            return await self._requests.complete(model, request, budget, temperature=0.0)

        return ask


def _grade(made: GradeShape, task: GradeTask) -> Grade:
    verdicts: dict[str, Verdict] = {}
    for source in task.sources:
        number = source["number"]
        verdict: Verdict = "relevant" if number in made.relevant else "partial" if number in made.partial else "irrelevant"
        verdicts[source["passage"]["passage_id"]] = verdict
    grade = Grade(verdicts=verdicts, sufficient=made.sufficient, missing=made.missing, conflicts=made.conflicts)
    if made.ambiguity is not None and made.ambiguity.question:
        grade["ambiguity"] = Ambiguity(question=made.ambiguity.question, options=made.ambiguity.options)
    return grade
