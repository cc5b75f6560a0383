"""The port of the model: it plans, grades, answers, checks, summarises."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NotRequired, Protocol, TypedDict

from graph.ports import ArmHits, Passage
from graph.turn import Intent, Revised, Step, Waiting


class Exchange(TypedDict):
    """A finished turn of the conversation."""

    question: str
    standalone_question: str
    answer: str


class Source(TypedDict):
    """A passage under the number by which an answer cites it (``[1]``, ``[2]`` …)."""

    number: int
    passage: Passage
    score: float
    """Fused score of ``retrieval``."""
    coverage: float
    """Share of the question's information (BM25 over its ceiling, 0 to 1) in this passage."""
    cosine: float
    """Cosine to the question, 0 where the vectors are down."""


class ToolSpec(TypedDict):
    """A tool as the planner sees it."""

    name: str
    contract: str


class Plan(TypedDict):
    """How to answer."""

    intent: Intent
    question: str
    """The question, standing alone."""
    steps: list[Step]


class Ambiguity(TypedDict):
    """A question to the user, because the reading changes the answer."""

    question: str
    options: list[str]


Verdict = Literal["relevant", "partial", "irrelevant"]


class Grade(TypedDict):
    """What the passages are worth."""

    verdicts: dict[str, Verdict]
    """By passage id."""
    sufficient: bool
    missing: str
    """What is not there yet, as the next query; empty if nothing."""
    conflicts: str
    """Where sources contradict each other, and which one is to be followed; empty if nowhere."""
    ambiguity: NotRequired[Ambiguity]


class Claim(TypedDict):
    """A sentence of the answer, and whether what it cites says so."""

    text: str
    """The sentence, exactly as it stands in the answer."""
    supported: bool


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One request to a model."""

    node: str
    model: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    ms: float = 0.0
    outcome: str = "ok"
    """``ok``, ``recovered``, ``retried``, or the kind of error."""


@dataclass(kw_only=True)
class Budget:
    """What a turn may still spend. Reasoners spend from it and record their calls; nodes read what is left."""

    deadline: float
    """``time.monotonic()`` at which the turn must have ended."""
    calls: int
    tokens: int
    announce: Callable[[Waiting], None] = lambda _: None
    made: list[ModelCall] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    """Reasons, one each, why something answered that was not asked first (another model, a rule)."""

    def record(self, call: ModelCall) -> None:
        """Book a call."""
        self.made.append(call)
        self.calls -= 1
        self.tokens -= call.prompt_tokens - call.cached_tokens + call.completion_tokens


@dataclass(frozen=True, kw_only=True)
class PlanTask:
    """What a plan is made from."""

    question: str
    history: Sequence[Exchange] = ()
    summary: str = ""
    tools: Sequence[ToolSpec] = ()
    missing: str = ""
    """On a replan: what the grade found missing."""
    tried: Sequence[str] = ()
    """On a replan: queries that were made."""
    found: Sequence[Source] = ()


@dataclass(frozen=True, kw_only=True)
class GradeTask:
    """What a grade is made from."""

    question: str
    sources: Sequence[Source]
    hits: Sequence[ArmHits] = ()
    """What the arms found for the question, where a reasoner judges by scores."""


@dataclass(frozen=True, kw_only=True)
class AnswerTask:
    """What an answer is made from."""

    question: str
    language: str
    """BCP 47 tag."""
    language_chosen: bool = False
    """Whether somebody chose it; else it is what the question seems to be in, ``en`` for every alphabet."""
    sources: Sequence[Source]
    history: Sequence[Exchange] = ()
    summary: str = ""
    conflicts: str = ""
    unsupported: Sequence[str] = ()
    """On a revision: sentences that nothing supports."""
    draft: str = ""
    """On a revision: the answer so far."""


@dataclass(frozen=True, kw_only=True)
class CheckTask:
    """What a check is made from."""

    question: str
    answer: str
    """With markers, as the model wrote it."""
    sources: Sequence[Source]


class Reasoner(Protocol):
    """A model, or rules that stand in for one.

    Every method raises `ModelUnavailable` when it cannot do its work within the budget's deadline, and nothing else.
    """

    name: str
    extractive: bool
    """Whether answers are sentences taken from the sources."""

    async def plan(self, task: PlanTask, budget: Budget) -> Plan: ...

    async def grade(self, task: GradeTask, budget: Budget) -> Grade: ...

    def answer(self, task: AnswerTask, budget: Budget) -> AsyncIterator[str | Revised]:
        """Pieces of the answer's text with markers ``[1]``; an empty answer means that nothing supports one.

        A `Revised` among them replaces all pieces before it (a stream broke and a fresh call went another way).
        """
        ...

    async def check(self, task: CheckTask, budget: Budget) -> list[Claim]: ...

    async def summarise(self, summary: str, exchanges: Sequence[Exchange], budget: Budget) -> str:
        """The running summary with these exchanges folded in."""
        ...
