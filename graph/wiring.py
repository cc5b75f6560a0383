"""The only place that constructs adapters. Each is made at its first use and kept for the life of the process.

Imports stand inside the functions: ingestion never pays for LangGraph, nor the connection handler for an index.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal, cast

from graph.errors import InvalidSetting
from graph.ports import Bucket, Embedder, PassageIndex, Table
from graph.settings import Settings

if TYPE_CHECKING:
    import aiosqlite
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from graph.adapters.callback import Callback
    from graph.adapters.groq import GroqReasoner
    from graph.adapters.otlp import TraceExporter
    from graph.adapters.worker import Worker
    from graph.agent import Agent
    from graph.reasoner import Reasoner
    from graph.retrieval import Retriever
    from graph.tracing import Trace

_SIGNED_FOR: dict[str, Literal["es", "aoss"] | None] = {"managed": "es", "serverless": "aoss", "external": None}


class Wiring:
    """The adapters that some settings name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opening = asyncio.Lock()
        self._agent: Agent | None = None
        self._checkpoints: aiosqlite.Connection | None = None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        if self.settings.embedder != "e5-small-int8":
            return self._bedrock()
        from graph.adapters.e5 import E5Embedder

        return E5Embedder(cache=self.settings.cache.expanduser())

    def _bedrock(self) -> Embedder:
        from graph.adapters.bedrock import BedrockEmbedder
        from graph.adapters.bedrock_models import Cohere, Titan

        is_titan = self.settings.embedder == "bedrock-titan-v2"
        return BedrockEmbedder(Titan(self.settings.embedder_dimensions) if is_titan else Cohere())

    @cached_property
    def index(self) -> PassageIndex:
        """The passage index."""
        if self.settings.opensearch_url is not None:
            return self._opensearch(self.settings.opensearch_url)
        from graph.adapters.sqlite_index import SQLiteIndex

        return SQLiteIndex(self.settings.home / "index.sqlite")

    def ensure_index(self, roles: Sequence[str] = ()) -> bool:
        """Make the OpenSearch index unless there is one that fits; whether it was made. Blocks.

        ``roles`` are ARNs of those who may use it, where a domain of AWS decides by its own roles.

        Raises:
            InvalidSetting: there is one that does not fit, or no OpenSearch is named.
            IndexUnavailable: OpenSearch does not answer, or not to us.
        """
        settings = self.settings
        if settings.opensearch_url is None:
            raise InvalidSetting("FOOTNOTE_OPENSEARCH_URL is needed: the OpenSearch in which the index is made")
        from graph.adapters.opensearch import Schema, connect, keep

        schema = Schema(
            model=self.embedder.model,
            dimensions=self.embedder.dimensions,
            engine=settings.opensearch_engine,
            ef_construction=settings.opensearch_ef_construction,
            shards=None if settings.opensearch_profile == "serverless" else 1,
        )
        client = connect(settings.opensearch_url, signing=_SIGNED_FOR[settings.opensearch_profile])
        try:
            return keep(
                client,
                settings.opensearch_index,
                schema,
                roles=roles if settings.opensearch_profile == "managed" else (),
            )
        finally:
            client.close()

    def _opensearch(self, url: str) -> PassageIndex:
        from graph.adapters.opensearch import OpenSearchIndex, connect

        settings = self.settings
        return OpenSearchIndex(
            connect(url, signing=_SIGNED_FOR[settings.opensearch_profile]),
            settings.opensearch_index,
            table=self.table,
            profile="serverless" if settings.opensearch_profile == "serverless" else "managed",
            ef_search=settings.opensearch_ef_search,
        )

    @cached_property
    def table(self) -> Table:
        """The single table."""
        if self.settings.table is not None:
            from graph.adapters.dynamodb import DynamoDBTable

            return DynamoDBTable(self.settings.table)
        from graph.adapters.sqlite_table import SQLiteTable

        return SQLiteTable(self.settings.home / "table.sqlite")

    @cached_property
    def bucket(self) -> Bucket:
        """Where files are."""
        if self.settings.bucket is not None:
            from graph.adapters.s3 import S3Bucket

            return S3Bucket(self.settings.bucket)
        from graph.adapters.folder import FolderBucket

        return FolderBucket(self.settings.home / "bucket")

    @cached_property
    def worker(self) -> "Worker | None":
        """The function that runs turns; None where they run in the process that is asked."""
        if self.settings.worker is None:
            return None
        from graph.adapters.worker import Worker

        return Worker(self.settings.worker)

    @cached_property
    def callback(self) -> "Callback":
        """The way to WebSocket connections.

        Raises:
            InvalidSetting: nobody said which.
        """
        if self.settings.callback_url is None:
            raise InvalidSetting("FOOTNOTE_CALLBACK_URL is needed, the address at which API Gateway reaches connections")
        from graph.adapters.callback import Callback

        return Callback(self.settings.callback_url)

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

        return GroqReasoner(self.settings, extractive, key=self._groq_key)

    @cached_property
    def _groq_key(self) -> "Callable[[], Awaitable[str]] | None":
        if self.settings.groq_api_key is not None or self.settings.groq_secret is None:
            return None
        from graph.adapters.secret import Secret

        return Secret(self.settings.groq_secret)

    async def agent(self) -> "Agent":
        """The agent over all of it, one for the process."""
        async with self._opening:
            if self._agent is None:
                self._agent = await self._open_agent()
            return self._agent

    async def _open_agent(self) -> "Agent":
        from graph.agent import Agent

        checkpointer = await self._open_checkpoints()
        if self.settings.has_model:
            await cast("GroqReasoner", self.reasoner).warm()
        export = self._export if self.settings.otlp_endpoint else None
        return Agent(
            reasoner=self.reasoner,
            retriever=self.retriever,
            settings=self.settings,
            checkpointer=checkpointer,
            export=export,
        )

    async def _open_checkpoints(self) -> "BaseCheckpointSaver[str]":
        if self.settings.checkpoints_table is None:
            return await self._open_sqlite()
        from graph.adapters.dynamodb_checkpoints import DynamoDBCheckpoints

        return DynamoDBCheckpoints(
            self.settings.checkpoints_table,
            bucket=cast("str", self.settings.bucket),  # the settings see to it
            ttl_s=self.settings.thread_ttl_days * 86_400,
        )

    async def _open_sqlite(self) -> "BaseCheckpointSaver[str]":
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        self.settings.home.mkdir(parents=True, exist_ok=True)
        connection = await aiosqlite.connect(self.settings.home / "checkpoints.sqlite")
        try:
            await connection.execute("PRAGMA synchronous = NORMAL")  # with the saver's WAL a crash loses nothing
            saver = AsyncSqliteSaver(connection)
            await saver.setup()
        except BaseException:  # a full disk, say; its thread would keep the process from ending
            await connection.close()
            raise
        self._checkpoints = connection
        return saver

    def _export(self, trace: "Trace") -> None:
        self.exporter.export(trace)

    @cached_property
    def exporter(self) -> "TraceExporter":
        """Where finished traces go; first used after the first answer."""
        from graph.adapters.otlp import TraceExporter

        return TraceExporter()

    async def close(self) -> None:
        """Let go of what was opened."""
        opened = vars(self)  # a cached property stands here once it was used
        if self._agent is not None:
            await self._agent.close()
        if self._checkpoints is not None:
            await self._checkpoints.close()
        for name in ("reasoner", "index", "table"):
            if hasattr(opened.get(name), "close"):
                await opened[name].close()
        if "exporter" in opened:
            await asyncio.to_thread(self.exporter.close)


@cache
def wiring() -> Wiring:
    """The wiring of this process, from its environment: for entry points."""
    return Wiring(Settings.read())
