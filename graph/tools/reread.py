"""``reread``: a closer look into one document that a search already found."""

import asyncio
from collections.abc import Sequence
from typing import cast

from pydantic import Field

from graph.errors import IndexUnavailable
from graph.tools.toolbox import Answer, Arguments, Desk, Finding, Tool, ToolError


class Reread(Arguments):
    """Searches again inside the one document that answers a step best, for what surrounds a passage already found.

    `query`: 1 to 1,000 characters, what to look for. Name the step whose document is meant in `depends_on`; without one
    it is the best document so far. Errors: `index_unavailable` (may be tried again).
    """

    query: str = Field(min_length=1, max_length=1_000)
    document_id: str
    exclude: frozenset[str] = frozenset()
    """Passages that are known already: set by the graph, not by a plan."""


async def _reread(calls: Sequence[Arguments], desk: Desk) -> list[Answer]:
    return list(await asyncio.gather(*(_one(call, desk) for call in cast("Sequence[Reread]", calls))))


async def _one(call: Reread, desk: Desk) -> Answer:
    try:
        with desk.trace.span("search", {"gen_ai.operation.name": "retrieval", "footnote.queries": 1}):
            wave = await desk.retriever.search(
                [call.query], desk.access, filters=desk.filters, document_id=call.document_id, exclude=call.exclude
            )
    except IndexUnavailable as error:
        return ToolError(tool="reread", error="index_unavailable", retryable=True, message=str(error))
    return Finding(found=wave.passages[0], hits=wave.hits[0], degraded=wave.degraded, warnings=wave.warnings)


REREAD = Tool("reread", Reread, _reread)
