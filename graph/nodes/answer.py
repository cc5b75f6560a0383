"""``answer``: write it, streaming."""

import asyncio

from langgraph.runtime import Runtime

from graph.errors import ModelUnavailable
from graph.nodes.bounds import seconds_left
from graph.nodes.observed import observed
from graph.nodes.tasks import answer_task
from graph.state import Bound, Deps, State, Update
from graph.turn import Revised, Token


@observed(progress=0.55)
async def answer(state: State, runtime: Runtime[Deps]) -> Update:
    """Write the answer from numbered sources.

    Only a model's first writing is streamed. A revision shows when it is whole, and so do sentences of the documents: they
    come all at once, and shown by ``finish`` they have their final numbers.
    """
    deps = runtime.context
    revising = bool(state["unsupported"])
    streams = not revising and not deps.reasoner.extractive
    text = ""
    cut: Bound | None = None
    try:
        async with asyncio.timeout(max(0.0, seconds_left(deps))):
            drafted = None if revising else deps.drafts.take()
            async for piece in drafted or deps.reasoner.answer(answer_task(state, deps), deps.budget):
                text = piece.answer if isinstance(piece, Revised) else text + piece
                if streams:
                    runtime.stream_writer(piece if isinstance(piece, Revised) else Token(text=piece))
    except TimeoutError:
        cut = "seconds"
    except ModelUnavailable:
        if not text and not revising:
            raise
        cut = "seconds"
    if revising:
        return _revised(state, text, cut)
    return Update(draft=text, shown=text if streams else "", cut=cut or _cut(deps))


def _revised(state: State, text: str, cut: Bound | None) -> Update:
    """The revision, if it came out whole; else the draft stays, and what is unsupported in it falls at the end."""
    done = text.strip() and not cut
    return Update(draft=text if done else state["draft"], revisions=state["revisions"] + 1)


def _cut(deps: Deps) -> Bound | None:
    """``tokens`` when the model ran into its limit of output."""
    writing = [call for call in deps.budget.made if call.node == "answer"]
    return "tokens" if writing and writing[-1].outcome == "cut" else None
