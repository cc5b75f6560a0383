"""What the entry points share, built once for a process. Heavy parts load in the background, at the first use or before."""

import asyncio
import importlib
import secrets
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from functions.gate import Gate
from functions.tickets import Tickets
from functions.turns import Turns
from graph.documents import Documents
from graph.ports import Bucket, PassageIndex
from graph.retrieval import Retriever
from graph.wiring import Wiring

if TYPE_CHECKING:  # LangGraph takes a second to import
    from graph.agent import Agent

T = TypeVar("T")


class Once(Generic[T]):
    """Makes a thing once, however many ask for it at the same time; a failure is not kept."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._task: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """The thing."""
        task = self._task
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._task = asyncio.ensure_future(self._make())
        return await asyncio.shield(task)


class Services:
    """The stores, the search and the turns of one process."""

    def __init__(self, wiring: Wiring, *, kind: str) -> None:
        """``kind`` names what this process is: ``server``, ``ask``, ``lambda``."""
        self.wiring = wiring
        self.settings = wiring.settings
        self.documents = Documents(wiring.table)
        self.retriever = Once(self._make_retriever)
        self.agent = Once(self._make_agent)
        holder = f"{kind}.{secrets.token_hex(6)}"
        self.turns = Turns(wiring.table, self.agent, wiring.settings, holder=holder, worker=wiring.worker)

    @cached_property
    def gate(self) -> Gate:
        """Who may come in."""
        tickets = Tickets(self.wiring.table)
        if not self.settings.has_identity:
            return Gate(None, tickets)
        from functions.tokens import Tokens  # noqa: PLC0415  # one local user needs no cryptography

        return Gate(Tokens(self.settings), tickets)

    @property
    def bucket(self) -> Bucket:
        """Where files are."""
        return self.wiring.bucket

    @property
    def index(self) -> PassageIndex:
        """Where passages are."""
        return self.wiring.index

    async def warm(self) -> None:
        """Load what the first turn needs."""
        retriever = await self.retriever()
        await retriever.embedder.warm()
        await self.agent()

    async def _make_retriever(self) -> Retriever:
        return await asyncio.to_thread(lambda: self.wiring.retriever)  # onnxruntime takes a while to import

    async def _make_agent(self) -> "Agent":
        await self.retriever()
        await asyncio.to_thread(importlib.import_module, "graph.agent")  # and so does LangGraph
        return await self.wiring.agent()
