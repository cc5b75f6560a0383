"""What every node shares: it says that it begins, and leaves a span with what it spent."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import wraps
from typing import Protocol, cast

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from graph.state import Deps, Spent, State, Update
from graph.turn import Status
from graph.wording import Key, say


class Node(Protocol):
    """A node, as LangGraph calls it."""

    __name__: str

    async def __call__(self, state: State, runtime: Runtime[Deps]) -> Update: ...


def observed(progress: float) -> Callable[[Callable[[State, Runtime[Deps]], Awaitable[Update]]], Node]:
    """Make a node of a function; ``progress`` (0 to 1) is how far the turn is when it begins."""

    def decorate(function: Callable[[State, Runtime[Deps]], Awaitable[Update]]) -> Node:
        name = cast("Key", function.__name__)

        @wraps(function)
        async def node(state: State, runtime: Runtime[Deps]) -> Update:
            deps = runtime.context
            runtime.stream_writer(Status(node=name, message=say(name, state["language"]), progress=progress))
            fallbacks = len(deps.budget.fallbacks)
            with deps.trace.span(name, {"footnote.node": name}) as facts:
                try:
                    update = await function(state, runtime)
                except GraphBubbleUp:  # an interrupt is no error
                    facts["footnote.paused"] = True
                    raise
                facts |= {"footnote.fallbacks": deps.budget.fallbacks[fallbacks:]}
            update["spent"] = [cast("Spent", asdict(call)) for call in deps.budget.made]
            return update

        return cast("Node", node)

    return decorate
