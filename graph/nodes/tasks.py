"""What a reasoner is given, cut to its shares of a prompt (the rest is left to the instructions and the reply)."""

from collections.abc import Sequence

from graph.nodes.sources import useful, with_around, within
from graph.ports import Embedder
from graph.reasoner import AnswerTask, Exchange, Source
from graph.retrieval import counted
from graph.state import Deps, State

PASSAGES_SHARE = 0.5
HISTORY_SHARE = 0.2


def budgeted(state: State, deps: Deps) -> list[Source]:
    """The sources that fit, the best first; no more than the turn's tokens allow."""
    return within(useful(state), _share(deps), state["sizes"])


def in_context(state: State, deps: Deps) -> list[Source]:
    """The sources that fit with what stands around them: what an answer is written from, and checked against."""
    return with_around(useful(state), state["around"], _share(deps), state["sizes"])


def _share(deps: Deps) -> int:
    return int(min(deps.settings.context_tokens, max(deps.budget.tokens, 0)) * PASSAGES_SHARE)


def recent(history: Sequence[Exchange], tokens: int, embedder: Embedder) -> list[Exchange]:
    """The newest exchanges that fit; of the newest as much as fits."""
    kept: list[Exchange] = []
    for one in reversed(history):
        size = tokens_of([one], embedder)
        if size > tokens:
            return kept or [_shortened(one, tokens / size)]
        kept.insert(0, one)
        tokens -= size
    return kept


def tokens_of(history: Sequence[Exchange], embedder: Embedder) -> int:
    """Tokens of what a prompt shows of a conversation."""
    return sum(counted([text for one in history for text in (one["standalone_question"], one["answer"])], embedder))


def history_of(state: State, deps: Deps) -> list[Exchange]:
    """The exchanges that a prompt shows."""
    return recent(state["history"], int(deps.settings.context_tokens * HISTORY_SHARE), deps.retriever.embedder)


def answer_task(state: State, deps: Deps) -> AnswerTask:
    """For writing, or writing anew."""
    return AnswerTask(
        question=state["plan"]["question"],
        language=state["language"],
        language_chosen=state["language_chosen"],
        sources=in_context(state, deps),
        history=history_of(state, deps),
        summary=state["summary"],
        conflicts=state["grade"]["conflicts"],
        unsupported=state["unsupported"],
        draft=state["draft"],
    )


def _shortened(one: Exchange, share: float) -> Exchange:
    question, answer = one["standalone_question"], one["answer"]
    return Exchange(
        question=one["question"],
        standalone_question=question[: max(200, int(len(question) * share))],
        answer=answer[: int(len(answer) * share * 0.9)],
    )
