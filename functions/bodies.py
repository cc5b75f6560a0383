"""What clients send, checked: bodies of HTTP requests and frames of the WebSocket."""

import unicodedata
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, model_validator

LONGEST_QUESTION = 8_000
"""Code points."""


def _no_control_characters(text: str) -> str:
    for place, character in enumerate(text):
        if unicodedata.category(character) == "Cc" and character not in "\t\n\r":
            raise ValueError(f"character {place} is the control character U+{ord(character):04X}; remove it")
    return text


def _has_words(text: str) -> str:
    if not any(character.isalnum() for character in text):
        raise ValueError("there are no words in it; write a question")
    return text


Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Text = Annotated[str, StringConstraints(max_length=LONGEST_QUESTION), AfterValidator(_no_control_characters)]
Question = Annotated[Text, AfterValidator(_has_words)]
LanguageTag = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)]
Filters = Annotated[dict[str, object], Field(description="Conditions on metadata, all of which must hold.")]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class AskBody(_Body):
    """A question. An unknown ``thread_id`` starts that thread; a ``message_id`` sent again joins its turn."""

    question: Question
    thread_id: Identifier | None = None
    message_id: Identifier | None = None
    filters: Filters | None = None
    language: LanguageTag | None = None


class ResumeBody(_Body):
    """The reply to a turn that waits: ``answer`` to a question, ``approve`` to an action."""

    answer: Question | None = None
    approve: bool | None = None
    interrupt_id: str | None = None

    @model_validator(mode="after")
    def _one_reply(self) -> Self:
        if (self.answer is None) == (self.approve is None):
            raise ValueError("give either answer (to a question) or approve (to an action)")
        return self


class FeedbackBody(_Body):
    """What the user thinks of an answer."""

    rating: Literal["up", "down"]
    comment: Text | None = None


class SearchBody(_Body):
    """A search without an answer."""

    query: Question
    size: int = Field(default=5, ge=1, le=50)
    filters: Filters | None = None


class UploadBody(_Body):
    """A file that is to be put into the bucket."""

    filename: str = Field(description="Its path; folders stay.")
    size: int = Field(ge=0, description="Bytes, exactly.")
    content_type: Annotated[str, StringConstraints(pattern=r"^[\w.+-]+/[\w.+-]+(; ?[\w.-]+=[\w.\"-]+)*$")] | None = None
    meta: dict[str, object] | None = Field(default=None, description="The document's metadata.")


class AskFrame(AskBody):
    """Ask."""

    action: Literal["ask"]
    message_id: Identifier


class ResumeFrame(ResumeBody):
    """Reply to a turn that waits."""

    action: Literal["resume"]
    turn_id: str


class CancelFrame(_Body):
    """Stop a turn."""

    action: Literal["cancel"]
    turn_id: str


class ReplayFrame(_Body):
    """Send what was missed of a turn, then go on live."""

    action: Literal["replay"]
    turn_id: str
    after: int = Field(default=0, ge=0)


class PingFrame(_Body):
    """Answered by ``pong``."""

    action: Literal["ping"]


Frame = AskFrame | ResumeFrame | CancelFrame | ReplayFrame | PingFrame
FRAME: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="action")])
ACTIONS = ("ask", "resume", "cancel", "replay", "ping")
