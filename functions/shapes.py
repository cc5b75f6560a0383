"""What answers look like, as INTERFACE.md has them: plain data, and the source of the OpenAPI document."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from graph.documents import DocumentStatus, Stage
from graph.ports import MetaValue
from graph.turn import Approval, Citation, Clarification, ErrorCode, Outcome, TraceSpan, Usage


class TurnError(TypedDict):
    """Why a turn failed."""

    code: ErrorCode
    message: str


class TurnUsage(Usage):
    """What the model calls of a turn cost."""

    by_node: dict[str, Usage]


class Timings(TypedDict):
    """How long a turn took, in milliseconds."""

    first_token: NotRequired[float]
    total: float
    by_node: dict[str, float]


class Turn(TypedDict):
    """A question and what came of it. ``outcome`` is null while the turn runs."""

    turn_id: str
    thread_id: str
    message_id: NotRequired[str]
    question: str
    standalone_question: NotRequired[str]
    outcome: Outcome | None
    answer: str
    citations: list[Citation]
    note: NotRequired[str]
    error: NotRequired[TurnError]
    clarification: NotRequired[Clarification]
    approval: NotRequired[Approval]
    usage: TurnUsage
    timings_ms: Timings
    trace_id: str
    created_at: str


class TurnAccepted(TypedDict):
    """A turn that runs on."""

    turn_id: str
    thread_id: str


class Trace(TypedDict):
    """What a turn did, in brief."""

    trace_id: str
    turn_id: str
    spans: list[TraceSpan]


class ThreadSummary(TypedDict):
    """A conversation in a list."""

    thread_id: str
    title: str
    turns: int
    created_at: str
    updated_at: str


class ThreadPage(TypedDict):
    """A page of conversations, last updated first."""

    threads: list[ThreadSummary]
    next_cursor: str | None


class Thread(TypedDict):
    """A conversation with a page of its turns, oldest first."""

    thread_id: str
    title: str
    turns: list[Turn]
    next_cursor: str | None


class DocumentProblem(TypedDict):
    """Why a file cannot be answered from, and what to do."""

    code: str
    message: str
    remedy: str


class Document(TypedDict):
    """A file and what became of it."""

    document_id: str
    title: str
    path: str
    uri: str
    status: DocumentStatus
    stage: NotRequired[Stage]
    progress: NotRequired[float]
    version: str
    bytes: int
    content_type: str
    pages: NotRequired[int]
    passages: int
    meta: dict[str, MetaValue]
    error: NotRequired[DocumentProblem]
    warnings: list[str]
    created_at: str
    updated_at: str


class DocumentPage(TypedDict):
    """A page of documents."""

    documents: list[Document]
    next_cursor: str | None


class PassageText(TypedDict):
    """A passage of a document; ``text`` is the extracted text from ``start`` to ``end``."""

    passage_id: str
    start: int
    end: int
    text: str
    page: NotRequired[int]
    heading: NotRequired[str]


class PassagePage(TypedDict):
    """A page of a document's passages, in reading order."""

    document_id: str
    version: str
    characters: int
    passages: list[PassageText]
    next_cursor: str | None


class Arm(TypedDict):
    """Where one arm of the search had a passage."""

    rank: int
    score: float


class Arms(TypedDict):
    """The arms that found a passage."""

    bm25: NotRequired[Arm]
    knn: NotRequired[Arm]


class SearchHit(PassageText):
    """A passage that was found."""

    document_id: str
    title: str
    uri: str
    score: float
    arms: Arms


class SearchResult(TypedDict):
    """What a search found."""

    passages: list[SearchHit]
    degraded: list[Literal["bm25", "knn", "embedder"]]
    warnings: list[str]
    took_ms: float


class Health(TypedDict):
    """The process answers."""

    status: Literal["ok"]
    version: str


class PresignedUpload(TypedDict):
    """A form that puts one file into the bucket: a POST of `fields`, then the file as `file`, to `url`."""

    document_id: str
    url: str
    fields: dict[str, str]
    expires_in: int
    """Seconds."""


class Ticket(TypedDict):
    """What opens one WebSocket from a browser."""

    ticket: str
    expires_in: int
    """Seconds."""


class FieldProblem(TypedDict):
    """What is wrong with one field."""

    pointer: str
    """JSON pointer into the body, or ``/name`` of a query parameter."""
    message: str


class Problem(TypedDict):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    trace_id: str
    errors: NotRequired[list[FieldProblem]]
