"""How long a client can be kept waiting: API Gateway gives up 29 s after a request came in, a laptop never does."""

import time

from fastapi import Request

_OLDEST_S = 30.0
"""An event that came in longer ago is none that somebody still waits for, but a stored one."""


def left_s(request: Request) -> float | None:
    """Seconds in which the request must be answered; the function's own start, when it was cold, has used some."""
    within_s: float | None = request.app.state.answer_within_s
    arrived_ms = request.scope.get("aws.event", {}).get("requestContext", {}).get("timeEpoch")
    if within_s is None or not isinstance(arrived_ms, int | float):
        return within_s
    ago_s = time.time() - arrived_ms / 1000
    return max(0.0, within_s - ago_s) if 0 <= ago_s < _OLDEST_S else within_s
