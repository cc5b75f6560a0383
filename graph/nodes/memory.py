"""What a conversation remembers: whole exchanges up to a share of the prompt, what came before as a summary."""

import re

from graph.errors import ModelUnavailable
from graph.nodes.bounds import spent_bound
from graph.nodes.tasks import HISTORY_SHARE, recent, tokens_of
from graph.reasoner import Exchange
from graph.state import Deps, Result, State

_MARKER = re.compile(r"\[\d+\]")


async def remembered(state: State, result: Result, deps: Deps) -> tuple[list[Exchange], str]:
    """History and summary with this turn in them; the older half is folded away once it outgrows its share."""
    answer = _MARKER.sub("", result["answer"])
    exchange = Exchange(question=state["question"], standalone_question=state["plan"]["question"], answer=answer)
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
