"""``check``: every claim against its sources."""

from langgraph.runtime import Runtime

from graph.errors import ModelUnavailable
from graph.nodes.bounds import spent_bound
from graph.nodes.observed import observed
from graph.nodes.tasks import in_context
from graph.reasoner import CheckTask
from graph.state import Deps, State, Update


@observed(progress=0.85)
async def check(state: State, runtime: Runtime[Deps]) -> Update:
    """Find the sentences that their sources do not support. Sentences taken from the sources need no second look."""
    deps = runtime.context
    if not state["draft"].strip() or deps.reasoner.extractive:
        return Update(unsupported=[])
    if spent_bound(deps):
        deps.budget.fallbacks.append("unchecked")
        return Update(unsupported=[])
    task = CheckTask(question=state["plan"]["question"], answer=state["draft"], sources=in_context(state, deps))
    try:
        claims = await deps.reasoner.check(task, deps.budget)
    except ModelUnavailable:
        deps.budget.fallbacks.append("unchecked")
        return Update(unsupported=[])
    unsupported = [claim["text"] for claim in claims if not claim["supported"]]
    return Update(unsupported=unsupported, revisable=bool(unsupported) and _may_revise(state, deps))


def _may_revise(state: State, deps: Deps) -> bool:
    return state["revisions"] < deps.settings.max_revisions and spent_bound(deps) is None and not state["cut"]
