"""What a conversation remembers: whole exchanges up to a share of the prompt, what came before as a summary."""

import re
from collections.abc import Sequence

from graph.errors import ModelUnavailable
from graph.nodes.bounds import spent_bound
from graph.ports import Embedder
from graph.reasoner import Exchange
from graph.state import Deps, Result, State

HISTORY_SHARE = 0.2
"""Of a prompt's tokens."""
_MARKER = re.compile(r"\[\d+\]")


async def remembered(state: State, result: Result, deps: Deps) -> tuple[list[Exchange], str]:
    """History and summary with this turn in them; the older half is folded away once it outgrows its share."""
    answer = _MARKER.sub("", result["answer"])
    exchange = Exchange(question=state["question"], standalone_question=state["plan"]["question"], answer=answer)
    history, summary = [*state["history"], exchange], state["summary"]
    allowed = int(deps.settings.context_tokens * HISTORY_SHARE)
    if len(history) < 2 or _tokens(history, deps.retriever.embedder) <= allowed:
        return history, summary
    kept = _newest(history, allowed // 2, deps.retriever.embedder)
    older = history[: len(history) - len(kept)]
    try:
        if spent_bound(deps) is None:
            return kept, await deps.reasoner.summarise(summary, older, deps.budget)
    except ModelUnavailable:
        pass
    return history, summary  # prompts take what fits; the next turn tries again


def _newest(history: Sequence[Exchange], tokens: int, embedder: Embedder) -> list[Exchange]:
    kept = 1
    while kept < len(history) and _tokens(history[-kept - 1 :], embedder) <= tokens:
        kept += 1
    return list(history[-kept:])


def _tokens(history: Sequence[Exchange], embedder: Embedder) -> int:
    return sum(embedder.count_tokens([text for one in history for text in (one["standalone_question"], one["answer"])]))
