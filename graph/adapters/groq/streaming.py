"""A streamed answer that survives its stream: no text is ever shown twice."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from graph.adapters.groq.failures import Failure
from graph.adapters.groq.lineup import Lineup
from graph.adapters.groq.requests import Request, Requests
from graph.prompts import NOTHING
from graph.reasoner import Budget
from graph.turn import Revised

_STREAMS = 3
_TEMPERATURE = 0.1


class Streaming:
    """Streams answers."""

    def __init__(self, requests: Requests, lineup: Lineup) -> None:
        self._requests = requests
        self._lineup = lineup

    async def pieces(self, first: str, request: Request, budget: Budget) -> AsyncIterator[str | Revised]:
        """Pieces of the answer; none at all where the model says that no source supports one.

        A stream that breaks is followed by a fresh one, at most twice: silent while it repeats what was shown, then going
        on from there. Where it goes another way, its whole text comes at its end, as `Revised`.
        """
        shown, streams = "", 0
        while True:
            streams += 1
            try:
                async with aclosing(await self._open(first, request, budget)) as stream:
                    async for piece in _continued(_spoken(stream), shown):
                        shown = piece.answer if isinstance(piece, Revised) else shown + piece
                        yield piece
            except Failure:
                if streams == _STREAMS:
                    raise
            else:
                return

    async def _open(self, first: str, request: Request, budget: Budget) -> AsyncGenerator[str]:
        """A stream that has brought its first piece, from whichever model did."""

        async def ask(model: str) -> AsyncGenerator[str]:
            stream = self._requests.stream(model, request, budget, temperature=_TEMPERATURE)
            return _rejoined(await anext(stream), stream)

        return await self._lineup.attempt(first, budget, ask)


async def _rejoined(head: str, tail: AsyncGenerator[str]) -> AsyncGenerator[str]:
    async with aclosing(tail):
        yield head
        async for piece in tail:
            yield piece


async def _spoken(stream: AsyncIterator[str]) -> AsyncIterator[str]:
    """The stream, unless it begins with the word by which a model says that it has nothing to say."""
    held, silent = "", None
    async for piece in stream:
        if silent is False:
            yield piece
        elif silent is None:
            held += piece
            start = held.lstrip()
            silent = True if start.startswith(NOTHING) else None if NOTHING.startswith(start.rstrip()) else False
            if silent is False:
                yield held
    if silent is None and held.strip():
        yield held


async def _continued(stream: AsyncIterator[str], shown: str) -> AsyncIterator[str | Revised]:
    fresh, caught_up = "", not shown
    async for piece in stream:
        fresh += piece
        if caught_up:
            yield piece
        elif fresh.startswith(shown):
            caught_up = True
            yield fresh[len(shown) :]
    if not caught_up:
        yield Revised(answer=fresh)
