"""``clarify``: ask the user."""

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.nodes.observed import observed
from graph.state import Deps, State, Update


@observed(progress=0.5)
async def clarify(state: State, runtime: Runtime[Deps]) -> Update:  # noqa: ARG001  # every node takes both
    """Wait for the user's reading of the question, and go on with it. Runs again from its top when the reply is there."""
    ambiguity = state["grade"]["ambiguity"]
    reply = interrupt({"question": ambiguity["question"], "options": ambiguity["options"]})
    question = f"{state['plan']['question']} ({reply})"
    return Update(question=question, clarified=True, sources=[], around=[], sizes={}, seen=[], hits=[])
