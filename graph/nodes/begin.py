"""``begin``: a new turn on an old thread."""

from langgraph.runtime import Runtime

from graph.nodes.observed import observed
from graph.state import Deps, Question, State, Update
from graph.tools.search import Search


@observed(progress=0.0)
async def begin(state: State, runtime: Runtime[Deps]) -> Update:
    """Reset what belongs to one turn, and start the first search while the plan is being made."""
    runtime.context.toolbox.start([Search(query=first_query(state))])
    return Update(
        rounds=0,
        tried=[],
        seen=[],
        sources=[],
        around=[],
        sizes={},
        hits=[],
        confidence="none",
        news=False,
        degraded=[],
        warnings=[],
        grade={"verdicts": {}, "sufficient": False, "missing": "", "conflicts": ""},
        plan={"intent": "lookup", "question": state["question"], "steps": []},
        stopped=None,
        clarified=False,
        draft="",
        shown="",
        cut=None,
        unsupported=[],
        revisable=False,
        revisions=0,
        result=None,
        history=state.get("history", []),
        summary=state.get("summary", ""),
    )


def first_query(state: Question) -> str:
    """The raw question, cut to what a query may have."""
    return state["question"][:1_000]
