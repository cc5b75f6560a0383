"""An answer that is begun before it is known to be wanted: it costs nobody time if it is, and a call if it is not."""

import asyncio
from collections.abc import AsyncIterator

from graph.turn import Revised

Piece = str | Revised


class Draft:
    """Pieces of an answer, collected as they come until somebody wants them."""

    def __init__(self, pieces: AsyncIterator[Piece]) -> None:
        self._arrived: asyncio.Queue[Piece | None] = asyncio.Queue()
        self._writing = asyncio.create_task(self._collect(pieces))

    async def _collect(self, pieces: AsyncIterator[Piece]) -> None:
        try:
            async for piece in pieces:
                self._arrived.put_nowait(piece)
        finally:
            self._arrived.put_nowait(None)

    async def pieces(self) -> AsyncIterator[Piece]:
        """The pieces from the first on; raises what the writing raised."""
        while (piece := await self._arrived.get()) is not None:
            yield piece
        await self._writing

    async def drop(self) -> None:
        """Stop writing."""
        self._writing.cancel()
        await asyncio.gather(self._writing, return_exceptions=True)


class Drafts:
    """The one draft that a run may have."""

    def __init__(self) -> None:
        self._draft: Draft | None = None

    def begin(self, pieces: AsyncIterator[Piece]) -> None:
        """Begin to write."""
        self._draft = Draft(pieces)

    def take(self) -> AsyncIterator[Piece] | None:
        """What is being written, if anything is."""
        return self._draft.pieces() if self._draft else None

    async def drop(self) -> None:
        """Stop, and forget what was written."""
        if self._draft:
            await self._draft.drop()
            self._draft = None
