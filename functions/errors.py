"""The one table of what the outside is told of an error: an HTTP problem (RFC 9457), or an ``error`` event.

The tree of ``graph/errors.py`` goes on here with what only a transport can meet::

    FootnoteError
    ├── MalformedJson         not JSON, or JSON that means nothing certain
    ├── MethodNotAllowed      the path exists, not with this method
    ├── NotAcceptable         the client accepts nothing that the route sends
    ├── UnsupportedMediaType  the body is of another type than the route takes
    ├── Unauthorized          a caller that does not prove who they are
    ├── Forbidden             a caller that may not come in at all
    ├── InvalidFields         an `InvalidRequest` with one message for each field
    └── UnknownAction         an `InvalidRequest`: a frame that asks for something unknown
"""

import logging
import math
import secrets
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graph import errors

if TYPE_CHECKING:  # the authorizer pays for no protocol
    from functions.protocol import Error
    from functions.shapes import FieldProblem, Problem

logger = logging.getLogger(__name__)
_BUSY_RETRY_S = 2


class MalformedJson(errors.FootnoteError):
    """Not JSON, or JSON that means nothing certain."""


class MethodNotAllowed(errors.FootnoteError):
    """The path exists, but not with this method."""


class NotAcceptable(errors.FootnoteError):
    """The client accepts nothing that the route sends."""


class UnsupportedMediaType(errors.FootnoteError):
    """The body is of another type than the route takes."""


class Unauthorized(errors.FootnoteError):
    """A caller that does not prove who they are."""


class Forbidden(errors.FootnoteError):
    """A caller that may not come in at all."""


class InvalidFields(errors.InvalidRequest):
    """Fields that are not as they must be."""

    def __init__(self, problems: "list[FieldProblem]") -> None:
        super().__init__("; ".join(f"{one['pointer'] or '/'}: {one['message']}" for one in problems))
        self.problems = problems


class UnknownAction(errors.InvalidRequest):
    """A frame that asks for something unknown."""


@dataclass(frozen=True)
class Told:
    """What the outside is told of a kind of error."""

    status: int
    code: str
    title: str
    retryable: bool = False


INTERNAL = Told(500, "internal", "Internal error")
TABLE: Mapping[type[errors.FootnoteError], Told] = {  # the first that fits counts
    MalformedJson: Told(400, "malformed_json", "Malformed JSON"),
    Unauthorized: Told(401, "unauthorized", "Unauthorized"),
    Forbidden: Told(403, "forbidden", "Forbidden"),
    errors.NotFound: Told(404, "not_found", "Not found"),
    MethodNotAllowed: Told(405, "method_not_allowed", "Method not allowed"),
    NotAcceptable: Told(406, "not_acceptable", "Not acceptable"),
    errors.ThreadBusy: Told(409, "thread_busy", "The thread is busy", retryable=True),
    errors.MessageIdReused: Told(409, "message_id_reused", "The message id was used for another question"),
    errors.TurnFinished: Told(409, "turn_finished", "The turn has ended"),
    errors.NotWaiting: Told(409, "not_waiting", "The turn waits for nothing"),
    errors.InterruptIdRequired: Told(409, "interrupt_id_required", "The turn waits for several things"),
    errors.TooLarge: Told(413, "too_large", "Too large"),
    UnsupportedMediaType: Told(415, "unsupported_media_type", "Unsupported media type"),
    UnknownAction: Told(422, "unknown_action", "Unknown action"),
    errors.BadName: Told(422, "bad_name", "Bad name"),
    errors.InvalidRequest: Told(422, "invalid_request", "Invalid request"),
    errors.RateLimited: Told(429, "rate_limited", "Too many turns", retryable=True),
    errors.Unavailable: Told(503, "unavailable", "Unavailable", retryable=True),
}
CODES = tuple(told.code for told in (*TABLE.values(), INTERNAL))


def told(error: BaseException) -> Told:
    """What the outside is told of an error."""
    return next((told for kind, told in TABLE.items() if isinstance(error, kind)), INTERNAL)


def problem(error: BaseException, trace_id: str) -> "Problem":
    """The body of an HTTP answer. What is not in the table is logged, once, and shows an id only."""
    known = told(error)
    body: Problem = {
        "type": f"urn:footnote:problem:{known.code}",
        "title": known.title,
        "status": known.status,
        "detail": _detail(error, known, trace_id),
        "code": known.code,
        "trace_id": trace_id,
    }
    if isinstance(error, errors.InvalidRequest):
        body["errors"] = field_problems(error)
    return body


def headers(error: BaseException) -> dict[str, str]:
    """Headers that go with the answer."""
    match error:
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case errors.RateLimited():
            return {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
        case errors.ThreadBusy():
            return {"Retry-After": str(_BUSY_RETRY_S)}
        case _:
            return {}


def event(error: BaseException, trace_id: str, *, message_id: str | None = None, turn_id: str | None = None) -> "Error":
    """The ``error`` event of a frame that could not be acted on."""
    known = told(error)
    body: Error = {
        "v": 1,
        "type": "error",
        "code": known.code,
        "message": _detail(error, known, trace_id),
        "retryable": known.retryable,
        "trace_id": trace_id,
    }
    if message_id is not None:
        body["message_id"] = message_id
    elif turn_id is not None:
        body["turn_id"] = turn_id
    return body


def field_problems(error: errors.InvalidRequest) -> "list[FieldProblem]":
    """Which fields are wrong."""
    if isinstance(error, InvalidFields):
        return error.problems
    return [{"pointer": error.pointer, "message": str(error)}]


def invalid(problems: Iterable[Mapping[str, object]], *, skip: tuple[str, ...] = ()) -> InvalidFields:
    """What pydantic found wrong (``errors()``), without the values that it found.

    Args:
        problems: with ``loc`` and ``msg``.
        skip: parts at the start of ``loc`` that are no part of what the client sent.
    """
    return InvalidFields([_field(problem, skip) for problem in problems])


def new_trace_id() -> str:
    """An id by which a client's complaint finds its line in the log."""
    return secrets.token_hex(16)


def log_unknown(error: BaseException, trace_id: str) -> None:
    """Say in the log where an unknown error came from; its message could hold what somebody asked, so it stays out."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    logger.error("internal error trace_id=%s %s at %s", trace_id, type(error).__name__, where)


def _detail(error: BaseException, known: Told, trace_id: str) -> str:
    if known is INTERNAL:
        log_unknown(error, trace_id)
        return f"Something went wrong on our side. Its id is {trace_id}."
    return str(error)


def _field(problem: Mapping[str, object], skip: tuple[str, ...]) -> "FieldProblem":
    place = problem["loc"]
    parts = [str(part) for part in place] if isinstance(place, tuple) else []
    if parts and parts[0] in skip:
        parts = parts[1:]
    pointer = "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)
    message = str(problem["msg"]).removeprefix("Value error, ")
    return {"pointer": pointer, "message": message}
