"""Which model is asked, when, and how often."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal, TypeVar

from graph.adapters.groq.failures import Failure
from graph.adapters.groq.requests import Patience
from graph.reasoner import Budget
from graph.turn import Waiting

T = TypeVar("T")
Reason = Literal["no_key", "wrong_key", "rate_limited", "calls", "unavailable"]

_MOST_WAITS = 2  # for one model in one request
_FAILED_FOR_THE_TURN = ("overloaded", "empty", "too_large", "rate_limited")
_MISSING_S = 300.0
_WRONG_KEY_S = 60.0


class NoModel(Exception):
    """No model of the list answers in time."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Lineup:
    """Models in the order in which they are tried. What Groq said about limits holds for every turn of the process."""

    def __init__(self, fallbacks: tuple[str, ...], patience: Patience) -> None:
        self._fallbacks = fallbacks
        self._patience = patience
        self._limited_until: dict[str, float] = {}
        self._absent_until: dict[str, float] = {}
        self._key_refused_until = 0.0

    async def attempt(self, first: str, budget: Budget, ask: Callable[[str], Awaitable[T]], *, reserve: int = 0) -> T:
        """What the first model that answers says; ``reserve`` calls of the budget are left for others.

        Raises:
            NoModel: none does.
            Failure: one answered, but its answer is of no use (``bad_json``, ``invalid``).
        """
        reason: Reason = "unavailable"
        for model in self._order(first, budget, reserve):
            try:
                answer = await self._persist(model, budget, ask, reserve)
            except Failure as failure:
                if failure.kind in ("bad_json", "invalid"):
                    raise
                if failure.kind == "no_key":
                    raise NoModel("no_key") from None
                reason = "rate_limited" if failure.kind == "rate_limited" else reason
                self._remember(model, failure, budget)
                continue
            if model != first:
                budget.fallbacks.append(f"model:{model}")
            return answer
        raise NoModel(self._why(reason, budget, reserve))

    def _order(self, first: str, budget: Budget, reserve: int) -> Iterator[str]:
        """Models that have not failed in this turn already, as long as there are calls to make."""
        last = {call.model: call.outcome for call in budget.made}
        failed = {model for model, outcome in last.items() if outcome in _FAILED_FOR_THE_TURN}
        for model in dict.fromkeys((first, *self._fallbacks)):
            now = time.monotonic()
            if self._key_refused_until > now or budget.calls <= reserve:
                return
            if model not in failed and self._absent_until.get(model, 0.0) <= now:
                yield model

    def _why(self, reason: Reason, budget: Budget, reserve: int) -> Reason:
        if self._key_refused_until > time.monotonic():
            return "wrong_key"
        if any(call.outcome == "rate_limited" for call in budget.made):
            return "rate_limited"
        return "calls" if budget.calls <= reserve else reason

    async def _persist(self, model: str, budget: Budget, ask: Callable[[str], Awaitable[T]], reserve: int) -> T:
        """Ask one model, waiting where Groq says for how long and the turn has the time, once more after a server error."""
        waits, retried = 0, False
        while True:
            await self._wait_for_quota(model, budget)
            try:
                return await ask(model)
            except Failure as failure:
                if budget.calls <= reserve:
                    raise
                if failure.kind == "rate_limited" and waits < _MOST_WAITS:
                    waits += 1
                    self._limited_until[model] = time.monotonic() + failure.wait_s
                elif failure.kind in ("overloaded", "empty") and not retried:
                    retried = True
                    await self._pause(max(failure.wait_s, self._patience.backoff), budget, failure)
                else:
                    raise

    async def _wait_for_quota(self, model: str, budget: Budget) -> None:
        wait_s = self._limited_until.get(model, 0.0) - time.monotonic()
        if wait_s > 0:
            await self._pause(wait_s, budget, Failure("rate_limited", wait_s=wait_s))

    async def _pause(self, seconds: float, budget: Budget, failure: Failure) -> None:
        if time.monotonic() + seconds >= budget.deadline:
            raise failure
        if failure.kind == "rate_limited":
            budget.announce(Waiting(reason="rate_limited", seconds=round(seconds, 1)))
        await asyncio.sleep(seconds)

    def _remember(self, model: str, failure: Failure, budget: Budget) -> None:
        now = time.monotonic()
        if failure.kind == "wrong_key":
            self._key_refused_until = now + _WRONG_KEY_S
        elif failure.kind == "missing":
            self._absent_until[model] = now + _MISSING_S
        elif failure.kind == "timeout" and now < budget.deadline:  # the model was slow, not the turn at its end
            self._absent_until[model] = now + self._patience.cool_down
