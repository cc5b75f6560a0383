"""What the graph knows: plain data, because every field but one goes into checkpoints."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from langgraph.channels import UntrackedValue

from graph.drafts import Drafts
from graph.filters import Scalar
from graph.ports import Access, ArmHits
from graph.reasoner import Budget, Exchange, Grade, Plan, Reasoner, Source
from graph.retrieval import Retriever
from graph.settings import Settings
from graph.tools.toolbox import Toolbox
from graph.tracing import Trace
from graph.turn import Citation, ErrorCode, Outcome

Bound = Literal["rounds", "calls", "tokens", "seconds", "no_progress"]
Level = Literal["confident", "unsure", "none"]


class PlainCondition(TypedDict):
    """A `Condition`, as checkpoints keep it."""

    field: str
    operator: str
    values: list[Scalar]


class Result(TypedDict):
    """How the turn ended."""

    outcome: Outcome
    answer: str
    citations: list[Citation]
    note: str | None
    error_code: ErrorCode | None


class Spent(TypedDict):
    """A `ModelCall`, as checkpoints keep it: a turn that was resumed goes on counting."""

    node: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost_usd: float
    ms: float
    outcome: str


class Question(TypedDict):
    """What starts a turn."""

    turn_id: str
    question: str
    language: str
    """BCP 47 tag of the answer."""
    language_chosen: bool
    filters: list[PlainCondition]


class Turn(TypedDict, total=False):
    """What belongs to one turn. `begin` resets every field."""

    plan: Plan
    rounds: int
    """Plans that were made after the first."""
    tried: list[str]
    """Queries that were made, folded for comparison."""
    seen: list[str]
    """Ids of passages that any round found."""
    sources: list[Source]
    around: list[Source]
    """Passages before and after sources, for a model to read on where a source breaks off; nothing says that they fit."""
    sizes: dict[str, int]
    """Tokens of each of both by passage id: several nodes cut sources to their share, and counting takes time."""
    hits: Annotated[list[ArmHits], UntrackedValue]
    """What the arms found in the last round; a resumed turn searches again, so no checkpoint needs it."""
    confidence: Level
    news: bool
    """Whether the last round found a passage that none before it had."""
    degraded: list[str]
    warnings: list[str]
    grade: Grade
    stopped: Bound | None
    """What ended the search for more, if it ended before everything was there."""
    clarified: bool
    draft: str
    """The answer with markers, as the model wrote it."""
    shown: str
    """The answer as it was streamed."""
    cut: Bound | None
    """What ended the writing, if the answer is not whole."""
    unsupported: list[str]
    """Sentences of the draft that the check refuted."""
    revisable: bool
    """Whether a revision is worth it and affordable."""
    revisions: int
    result: Result | None
    spent: list[Spent]


class Memory(TypedDict, total=False):
    """What a conversation keeps from turn to turn."""

    history: list[Exchange]
    summary: str
    """What exchanges before ``history`` came to."""


class State(Question, Turn, Memory):
    """A conversation and the turn that runs in it."""


class Update(Turn, Memory, total=False):
    """What a node changes."""

    question: str


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What nodes need from outside, and what this run may spend."""

    reasoner: Reasoner
    retriever: Retriever
    settings: Settings
    access: Access
    budget: Budget
    toolbox: Toolbox
    drafts: Drafts
    trace: Trace
