"""``finish``: verify the footnotes, say how it ended, remember the exchange."""

from langgraph.runtime import Runtime

from graph.citations import Grounded, ground
from graph.claims import without
from graph.nodes.memory import remembered
from graph.nodes.observed import observed
from graph.nodes.outcome import answer_note, nothing_note, outcome_of
from graph.nodes.sources import useful
from graph.state import Deps, Result, State, Update
from graph.turn import Outcome, Revised, Token


@observed(progress=0.95)
async def finish(state: State, runtime: Runtime[Deps]) -> Update:
    """Resolve every marker to the exact words, drop what nothing supports, set the outcome, fold old exchanges."""
    deps = runtime.context
    result = await _concluded(state, deps)
    if not state["shown"] and result["answer"]:
        runtime.stream_writer(Token(text=result["answer"]))
    elif result["answer"] != state["shown"]:
        runtime.stream_writer(Revised(answer=result["answer"]))
    history, summary = await remembered(state, result, deps)
    return Update(result=result, history=history, summary=summary)


async def _concluded(state: State, deps: Deps) -> Result:
    if state["cut"] and not state["draft"].strip():
        return Result(outcome="failed", answer="", citations=[], note=None, error_code="deadline")
    draft = without(state["draft"], state["unsupported"])
    sources = [*useful(state), *state["around"]]
    grounded = await ground(draft, sources, deps.retriever.embedder) if draft.strip() else Grounded(draft, [], [])
    if not grounded.citations:  # an answer that no source carries is none
        outcome: Outcome = "refused" if state["plan"]["intent"] in ("out_of_scope", "action") else "unanswerable"
        return Result(outcome=outcome, answer="", citations=[], note=nothing_note(state, deps, outcome), error_code=None)
    lacking = [*state["unsupported"], *grounded.unsupported]
    outcome = outcome_of(state, deps, lacking)
    note = answer_note(state, deps, lacking, outcome)
    return Result(outcome=outcome, answer=grounded.answer, citations=grounded.citations, note=note, error_code=None)
