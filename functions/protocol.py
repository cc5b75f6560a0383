"""The events of the wire: what WebSocket frames, SSE and the stored log of a turn all carry."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from functions.shapes import Turn
from graph import turn as agent
from graph.turn import Intent, PassageBrief, Step


class _Event(TypedDict):
    v: Literal[1]


class _TurnEvent(_Event):
    turn_id: str
    thread_id: str
    seq: int
    """1, 2, 3 … without gaps, the same on replay."""


class Accepted(_TurnEvent):
    """The turn begins."""

    type: Literal["accepted"]
    message_id: str


class Status(_TurnEvent):
    """A node begins; ``progress`` runs from 0 to 1."""

    type: Literal["status"]
    node: str
    message: str
    progress: float


class Plan(_TurnEvent):
    """The plan, or a new one."""

    type: Literal["plan"]
    intent: Intent
    question: str
    steps: list[Step]


class Passages(_TurnEvent):
    """What the answer may rest on."""

    type: Literal["passages"]
    passages: list[PassageBrief]


class Token(_TurnEvent):
    """Text of the answer."""

    type: Literal["token"]
    text: str


class Revised(_TurnEvent):
    """The check changed what was streamed; show this instead."""

    type: Literal["revised"]
    answer: str


class Clarify(_TurnEvent):
    """A question to the user."""

    type: Literal["clarify"]
    interrupt_id: str
    question: str
    options: list[str]


class Approval(_TurnEvent):
    """An action that waits for a yes."""

    type: Literal["approval"]
    interrupt_id: str
    tool: str
    arguments: dict[str, object]
    summary: str


class Waiting(_TurnEvent):
    """The turn waits, for a model's quota for example."""

    type: Literal["waiting"]
    reason: str
    seconds: float


class Done(_TurnEvent):
    """The end of the turn, or its pause."""

    type: Literal["done"]
    turn: Turn


class Heartbeat(_Event):
    """The turn runs on."""

    type: Literal["heartbeat"]
    turn_id: str
    thread_id: str


class Pong(_Event):
    """The reply to ``ping``."""

    type: Literal["pong"]


class Error(_Event):
    """A frame that could not be acted on."""

    type: Literal["error"]
    code: str
    message: str
    retryable: bool
    trace_id: str
    message_id: NotRequired[str]
    turn_id: NotRequired[str]


TurnEvent = Accepted | Status | Plan | Passages | Token | Revised | Clarify | Approval | Waiting | Done
Event = TurnEvent | Heartbeat | Pong | Error
EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


class EventPage(TypedDict):
    """Events of a turn, in order."""

    events: list[Annotated[TurnEvent, Field(discriminator="type")]]


Streamed = agent.Status | agent.Planned | agent.Found | agent.Token | agent.Revised | agent.Waiting


class Place(TypedDict):
    """Where an event stands."""

    v: Literal[1]
    turn_id: str
    thread_id: str
    seq: int


def streamed(event: Streamed, place: Place) -> TurnEvent:
    """An event of the agent as the wire carries it."""
    match event:
        case agent.Status():
            return {**place, "type": "status", "node": event.node, "message": event.message, "progress": event.progress}
        case agent.Planned():
            return {**place, "type": "plan", "intent": event.intent, "question": event.question, "steps": event.steps}
        case agent.Found():
            return {**place, "type": "passages", "passages": event.passages}
        case agent.Token():
            return {**place, "type": "token", "text": event.text}
        case agent.Revised():
            return {**place, "type": "revised", "answer": event.answer}
        case agent.Waiting():
            return {**place, "type": "waiting", "reason": event.reason, "seconds": event.seconds}
