"""Frames of the WebSocket: read, and checked."""

from pydantic import ValidationError

from functions import errors, wire
from functions.bodies import ACTIONS, FRAME, Frame
from functions.errors import MalformedJson, UnknownAction
from graph.errors import InvalidRequest

LONGEST_FRAME_BYTES = 128 * 1024


def read(text: str | bytes | None) -> dict[str, object]:
    """The object that a frame holds.

    Raises:
        MalformedJson, InvalidRequest
    """
    if not isinstance(text, str):
        raise MalformedJson("a frame must be text that holds a JSON object, not binary")
    value = wire.parse(text)
    if not isinstance(value, dict):
        raise InvalidRequest("a frame must be a JSON object with an action")
    return value


def check(value: dict[str, object]) -> Frame:
    """The frame as what it is.

    Raises:
        UnknownAction, InvalidRequest
    """
    wire.check(value)
    action = value.get("action")
    if action not in ACTIONS:
        raise UnknownAction(f"there is no such action; one of {', '.join(ACTIONS)} is needed", pointer="/action")
    try:
        return FRAME.validate_python(value)
    except ValidationError as error:
        raise errors.invalid(error.errors(), skip=ACTIONS) from None


def name_of(value: dict[str, object], field: str) -> str | None:
    """What an ``error`` event names as the cause: the frame's ``message_id`` or ``turn_id``, if it is a text."""
    name = value.get(field)
    return name if isinstance(name, str) else None
