"""What a conversation remembers: whole exchanges up to a share of the prompt, what came before as a summary."""

from graph.errors import ModelUnavailable
from graph.nodes.bounds import spent_bound
from graph.nodes.tasks import HISTORY_SHARE, recent, tokens_of
from graph.reasoner import Exchange
from graph.state import Deps, Result, State


async def remembered(state: State, result: Result, deps: Deps) -> tuple[list[Exchange], str]:
    """History and summary with this turn in them; the older half is folded away once it outgrows its share."""
    exchange = Exchange(question=state["question"], standalone_question=state["plan"]["question"], answer=_unmarked(result))
    history, summary = [*state["history"], exchange], state["summary"]
    allowed = int(deps.settings.context_tokens * HISTORY_SHARE)
    if len(history) < 2 or tokens_of(history, deps.retriever.embedder) <= allowed:
        return history, summary
    kept = len(recent(history, allowed // 2, deps.retriever.embedder))
    try:
        if spent_bound(deps) is None:
            return history[-kept:], await deps.reasoner.summarise(summary, history[:-kept], deps.budget)
    except ModelUnavailable:
        pass
    return history, summary  # prompts take what fits; the next turn tries again


def _unmarked(result: Result) -> str:
    """The answer without its markers: their numbers mean nothing in another turn."""
    answer = result["answer"]
    markers = [(at, f"[{one['number']}]") for one in result["citations"] for at in one["at"]]
    for at, marker in sorted(markers, reverse=True):
        answer = answer[:at] + answer[at + len(marker) :]
    return answer
