"""What goes into a turn and what comes out of it: plain data that the graph, its checkpoints and its callers share."""

from dataclasses import dataclass, field
from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads these as the wire's schema, before 3.12 too

from graph.filters import Condition
from graph.ports import Access

Outcome = Literal[
    "answered", "partial", "unanswerable", "needs_clarification", "needs_approval", "refused", "cancelled", "failed"
]
ErrorCode = Literal["model_unavailable", "index_unavailable", "deadline", "crashed", "internal"]
Intent = Literal["lookup", "multi_hop", "comparison", "summary", "action", "out_of_scope"]


class TraceSpan(TypedDict):
    """A span of the turn's trace."""

    span_id: str
    parent_id: str | None
    name: str
    start_ms: float
    """Since the turn began."""
    duration_ms: float
    attributes: dict[str, object]


class Origin(TypedDict):
    """Where a trace comes from, as plain data: it goes from one process to the next."""

    trace_id: str
    parent_id: str | None
    """The span that the next ones belong to."""
    began_ns: int
    """Unix time from which spans count."""
    spans: list[TraceSpan]
    """Those that are over."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question to the agent."""

    turn_id: str
    thread: str
    """Key of the conversation, the user's namespace included."""
    question: str
    access: Access
    filters: tuple[Condition, ...] = ()
    language: str | None = None
    """BCP 47 tag of the answer; None: the question's language."""
    seconds: float
    """How long the turn may take."""
    origin: Origin | None = None
    """Of its trace; None: it begins here."""


@dataclass(frozen=True, kw_only=True)
class Resume:
    """The user's reply to a turn that waits."""

    turn_id: str
    thread: str
    interrupt_id: str
    reply: str | bool
    """The answer to a question, or whether an action is approved."""
    access: Access
    seconds: float
    origin: Origin | None = None


class Citation(TypedDict):
    """A footnote. ``quote`` is the extracted text from ``start`` to ``end`` and lies inside its passage."""

    number: int
    document_id: str
    passage_id: str
    title: str
    uri: str
    version: str
    page: NotRequired[int]
    heading: NotRequired[str]
    start: int
    end: int
    quote: str
    at: list[int]
    """Where in the answer each of its markers starts."""


class Step(TypedDict):
    """A step of the plan."""

    tool: str
    query: str
    purpose: str
    depends_on: list[int]
    """Numbers of steps, from 1, whose results its query needs."""


class Usage(TypedDict):
    """What model calls cost."""

    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost_usd: float


class Clarification(TypedDict):
    """A question to the user on which the answer depends."""

    interrupt_id: str
    question: str
    options: list[str]


class Approval(TypedDict):
    """An action that waits for the user's yes."""

    interrupt_id: str
    tool: str
    arguments: dict[str, object]
    summary: str


class PassageBrief(TypedDict):
    """A passage as a progress event shows it."""

    document_id: str
    title: str
    page: NotRequired[int]
    score: float


# --- Events: what happens while a turn runs ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Status:
    """A node begins. ``progress`` runs from 0 to 1."""

    node: str
    message: str
    progress: float


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The plan, or a new one."""

    intent: Intent
    question: str
    """The question as it stands alone."""
    steps: list[Step]


@dataclass(frozen=True, kw_only=True)
class Found:
    """Passages that the answer may rest on."""

    passages: list[PassageBrief]


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of the answer's text, as the model sends it (not coalesced)."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Revised:
    """The text streamed so far is replaced by this."""

    answer: str


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The turn waits, for a model's quota for example."""

    reason: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of the turn, or its pause. Always the last event, and there always is one."""

    outcome: Outcome
    answer: str = ""
    citations: list[Citation] = field(default_factory=list)
    standalone_question: str | None = None
    note: str | None = None
    error_code: ErrorCode | None = None
    error_message: str | None = None
    clarifications: list[Clarification] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    usage_by_node: dict[str, Usage] = field(default_factory=dict)
    ms_by_node: dict[str, float] = field(default_factory=dict)
    trace_id: str = ""
    spans: list[TraceSpan] = field(default_factory=list)


Event = Status | Planned | Found | Token | Revised | Waiting | Finished
