"""``search``: passages from all of the caller's documents."""

from collections.abc import Sequence
from typing import cast

from pydantic import Field

from graph.errors import IndexUnavailable
from graph.tools.toolbox import Answer, Arguments, Desk, Finding, Tool, ToolError


class Search(Arguments):
    """Finds the passages of the user's documents that say most about a query, best first, by words and by meaning.

    `query`: 1 to 1,000 characters, self-contained, in the language the documents are likely written in; one fact a
    query works best. Errors: `index_unavailable` (may be tried again).
    """

    query: str = Field(min_length=1, max_length=1_000)
    size: int = Field(default=5, ge=1, le=50)
    """Passages wanted: set by the graph, not by a plan."""


async def _search(calls: Sequence[Arguments], desk: Desk) -> list[Answer]:
    searches = cast("Sequence[Search]", calls)
    size = max(search.size for search in searches)
    try:
        with desk.trace.span("search", {"gen_ai.operation.name": "retrieval", "footnote.queries": len(searches)}):
            wave = await desk.retriever.search(
                [search.query for search in searches], desk.access, filters=desk.filters, size=size
            )
    except IndexUnavailable as error:
        return [ToolError(tool="search", error="index_unavailable", retryable=True, message=str(error)) for _ in searches]
    return [
        Finding(found=found, hits=hits, degraded=wave.degraded, warnings=wave.warnings)
        for found, hits in zip(wave.passages, wave.hits, strict=True)
    ]


SEARCH = Tool("search", Search, _search)
