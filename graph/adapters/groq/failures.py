"""What goes wrong at Groq, sorted by what can be done about it."""

import json
from collections.abc import Mapping
from typing import Literal, cast

import groq
import httpx

Kind = Literal[
    "no_key", "wrong_key", "missing", "too_large", "rate_limited", "overloaded", "empty", "timeout", "broken", "bad_json",
    "invalid",
]  # fmt: skip

_DEFAULT_WAIT_S = 2.0
_BY_STATUS: dict[int, Kind] = {401: "wrong_key", 403: "wrong_key", 404: "missing", 413: "too_large", 429: "rate_limited"}
_GENERATION_CODES = ("json_validate_failed", "tool_use_failed")


class Failure(Exception):
    """A request that brought no usable answer."""

    def __init__(self, kind: Kind, *, wait_s: float = 0.0, generation: str = "") -> None:
        """``wait_s``: seconds after which Groq allows the next try. ``generation``: what the model wrote all the same."""
        super().__init__(kind)
        self.kind = kind
        self.wait_s = wait_s
        self.generation = generation


def failure_of(error: Exception) -> Failure:
    """The failure behind an error of the SDK, of HTTP, or of an answer that is no JSON."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, groq.APIStatusError):
        return _status(error)
    if isinstance(error, groq.APITimeoutError | httpx.TimeoutException | TimeoutError):
        return Failure("timeout")
    if isinstance(error, groq.APIError) and not isinstance(error, groq.APIConnectionError):
        return _in_stream(error)  # an error inside of a stream comes without a status
    if isinstance(error, groq.GroqError | httpx.HTTPError | json.JSONDecodeError):
        return Failure("overloaded")
    raise error


def _status(error: groq.APIStatusError) -> Failure:
    details = _details(error.body)
    if error.status_code == 400 and details.get("code") in _GENERATION_CODES:
        return Failure("bad_json", generation=str(details.get("failed_generation") or ""))
    wait_s = _wait_s(error.response.headers)
    if error.status_code >= 500:
        return Failure("overloaded", wait_s=wait_s or 0.0)
    kind = _BY_STATUS.get(error.status_code, "invalid")
    return Failure(kind, wait_s=(_DEFAULT_WAIT_S if wait_s is None else wait_s) if kind == "rate_limited" else 0.0)


def _in_stream(error: groq.APIError) -> Failure:
    details = _details(error.body)
    limited = "rate_limit" in f"{details.get('code')}{details.get('type')}"
    return Failure("rate_limited", wait_s=_DEFAULT_WAIT_S) if limited else Failure("overloaded")


def _details(body: object) -> Mapping[str, object]:
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            return cast("Mapping[str, object]", inner)
    return {}


def _wait_s(headers: httpx.Headers) -> float | None:
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None
