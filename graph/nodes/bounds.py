"""What a turn may still spend."""

import time

from graph.state import Bound, Deps

FINISHING_S = 0.2
"""Kept for verifying footnotes and saving the turn."""


def seconds_left(deps: Deps) -> float:
    """Seconds that nodes before `finish` may still use."""
    return deps.budget.deadline - time.monotonic() - FINISHING_S


def spent_bound(deps: Deps, *, reserve_calls: int = 0) -> Bound | None:
    """The bound at which no further model call is made, if one is reached.

    Args:
        deps: what the run may spend.
        reserve_calls: calls that are kept for nodes to come, each with the tokens of a prompt.
    """
    settings = deps.settings
    if seconds_left(deps) <= 0:
        return "seconds"
    if deps.budget.calls <= reserve_calls:
        return "calls"
    reserve_tokens = reserve_calls * min(settings.context_tokens, settings.turn_tokens // 2)
    return "tokens" if deps.budget.tokens <= reserve_tokens else None
