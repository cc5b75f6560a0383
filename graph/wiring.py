"""The only place that constructs adapters. Each is made at its first use and kept for the life of the process.

Imports stand inside the functions: ingestion never pays for LangGraph, nor the connection handler for an index.
"""

from functools import cache, cached_property
from typing import TYPE_CHECKING

from graph.ports import Bucket, Embedder, PassageIndex, Table
from graph.settings import Settings

if TYPE_CHECKING:
    from graph.agent import Agent
    from graph.reasoner import Reasoner
    from graph.retrieval import Retriever


class Wiring:
    """The adapters that some settings name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        from graph.adapters.e5 import E5Embedder

        return E5Embedder(cache=self.settings.cache.expanduser())

    @cached_property
    def index(self) -> PassageIndex:
        """The passage index."""
        from graph.adapters.sqlite_index import SQLiteIndex

        return SQLiteIndex(self.settings.home / "index.sqlite")

    @cached_property
    def table(self) -> Table:
        """The single table."""
        from graph.adapters.sqlite_table import SQLiteTable

        return SQLiteTable(self.settings.home / "table.sqlite")

    @cached_property
    def bucket(self) -> Bucket:
        """Where files are."""
        from graph.adapters.folder import FolderBucket

        return FolderBucket(self.settings.home / "bucket")

    @cached_property
    def retriever(self) -> "Retriever":
        """Search over the index."""
        from graph.retrieval import Retriever

        return Retriever(embedder=self.embedder, index=self.index, fusion=self.settings.fusion)

    @cached_property
    def reasoner(self) -> "Reasoner":
        """Groq where there is a key, with the extractive reasoner behind it; else the extractive one."""
        from graph.adapters.extractive import ExtractiveReasoner

        extractive = ExtractiveReasoner(embedder=self.embedder)
        if not self.settings.has_model:
            return extractive
        from graph.adapters.groq import GroqReasoner

        return GroqReasoner(settings=self.settings, fallback=extractive)

    async def agent(self) -> "Agent":
        """The agent over all of it, one for the process."""
        raise NotImplementedError

    async def close(self) -> None:
        """Let go of what was opened."""
        raise NotImplementedError


@cache
def wiring() -> Wiring:
    """The wiring of this process, from its environment: for entry points."""
    return Wiring(Settings.read())
