"""Single requests to Groq: one answer, or one stream, with its time limits and its place in the budget."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

import httpx
from groq import AsyncGroq, AsyncStream, DefaultAsyncHttpxClient
from groq.types.chat import ChatCompletionChunk

from graph.adapters.groq.failures import Failure, failure_of
from graph.adapters.groq.models import Tokens, reasons, tokens_of
from graph.errors import Unavailable
from graph.prompts import Message
from graph.reasoner import Budget, ModelCall
from graph.settings import Settings

Effort = Literal["low", "medium"]
Key = Callable[[], Awaitable[str]]
"""Gives the key of the moment, empty where there is none yet; raises `Unavailable`."""

_NO_KEY = "none"
"""What the SDK is given until the key is asked for: it wants one from the first."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long Groq may take, in seconds."""

    connect: float = 3.0
    first_token: float = 10.0
    between_tokens: float = 10.0
    backoff: float = 0.3
    """Before the one retry of a server error."""
    cool_down: float = 15.0
    """For which a model that timed out is left alone."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked, whichever model answers."""

    node: str
    messages: Sequence[Message]
    max_tokens: int
    effort: Effort = "low"
    schema: Mapping[str, object] | None = None
    """JSON schema of the answer, or None for text."""


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    content: str
    arguments: str
    """Arguments of a tool call that the model made although it has no tools: often the JSON that was asked for."""


class Requests:
    """Sends requests. Clients belong to the event loop that they were first used in, so there is one for each."""

    def __init__(self, settings: Settings, patience: Patience, key: Key | None = None) -> None:
        self._settings = settings
        self._key = key
        self._patience = patience
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGroq] = WeakKeyDictionary()

    async def complete(self, model: str, request: Request, budget: Budget, *, temperature: float) -> Reply:
        """The model's answer, whole.

        Raises:
            Failure: there is none.
        """
        client = await self._client()
        async with self._booked(model, request, budget) as booking:
            limit_s = min(self._patience.first_token + self._patience.between_tokens, _left_s(budget))
            async with asyncio.timeout(limit_s):
                completion = await client.chat.completions.create(
                    model=model, stream=False, **_arguments(model, request, temperature)
                )
            booking.tokens = tokens_of(completion.usage)
            if not completion.choices:
                return Reply("", "")
            message = completion.choices[0].message
            calls = message.tool_calls or []
            return Reply(message.content or "", calls[0].function.arguments if calls else "")

    async def stream(self, model: str, request: Request, budget: Budget, *, temperature: float) -> AsyncGenerator[str]:
        """Pieces of the model's answer.

        Raises:
            Failure: before or between pieces.
        """
        client = await self._client()
        async with self._booked(model, request, budget) as booking:
            async with asyncio.timeout(min(self._patience.first_token, _left_s(budget))):
                chunks = await client.chat.completions.create(
                    model=model, stream=True, **_arguments(model, request, temperature)
                )
            try:
                async for piece in self._pieces(chunks, request, budget, booking):
                    yield piece
            except Exception as error:
                raise Failure("broken") if booking.tokens.completion else failure_of(error) from error
            finally:
                await chunks.close()
            if not booking.tokens.completion:
                raise Failure("empty")

    async def _pieces(
        self, chunks: AsyncStream[ChatCompletionChunk], request: Request, budget: Budget, booking: "_Booking"
    ) -> AsyncIterator[str]:
        patience_s, pieces = self._patience.first_token, 0
        iterator = aiter(chunks)
        while True:
            async with asyncio.timeout(min(patience_s, _left_s(budget))):
                chunk = await anext(iterator, None)
            if chunk is None:
                return
            if chunk.x_groq and chunk.x_groq.usage:
                booking.tokens = tokens_of(chunk.x_groq.usage)
            choice = chunk.choices[0] if chunk.choices else None
            if choice and choice.finish_reason == "length":
                booking.outcome = "cut"
            if not choice or not choice.delta.content:
                continue
            patience_s, pieces = self._patience.between_tokens, pieces + 1
            booking.tokens = Tokens(booking.tokens.prompt, booking.tokens.cached, max(booking.tokens.completion, pieces))
            yield choice.delta.content
            if pieces >= request.max_tokens:  # a model that does not keep to its limit
                booking.outcome = "cut"
                return

    @asynccontextmanager
    async def _booked(self, model: str, request: Request, budget: Budget) -> AsyncIterator["_Booking"]:
        """Book the request, whatever comes of it."""
        if _left_s(budget) <= 0 or budget.calls <= 0:
            raise Failure("timeout")
        booking, began = _Booking(), time.perf_counter()
        try:
            yield booking
        except (asyncio.CancelledError, GeneratorExit):
            booking.outcome = "cancelled"
            raise
        except Exception as error:
            failure = failure_of(error)
            booking.outcome = failure.kind
            raise failure from error
        finally:
            ms = (time.perf_counter() - began) * 1000
            tokens = booking.tokens
            budget.record(
                ModelCall(
                    node=request.node,
                    model=model,
                    prompt_tokens=tokens.prompt,
                    cached_tokens=tokens.cached,
                    completion_tokens=tokens.completion,
                    cost_usd=tokens.cost_usd(model),
                    ms=round(ms, 2),
                    outcome=booking.outcome,
                )
            )

    async def warm(self) -> None:
        """Make the running loop's client; certificates and HTTP/2 take a third of a second to load."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = await asyncio.to_thread(self._new_client)

    async def _client(self) -> AsyncGroq:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._new_client()
        if self._key is not None:
            client.api_key = await self._present_key(self._key)
        return client

    async def _present_key(self, key: Key) -> str:
        try:
            async with asyncio.timeout(self._patience.first_token):
                present = await key()
        except Unavailable as error:
            raise Failure("overloaded") from error
        if not present:
            raise Failure("no_key")
        return present

    def _new_client(self) -> AsyncGroq:
        key = self._settings.groq_api_key
        timeout = httpx.Timeout(self._patience.first_token + self._patience.between_tokens, connect=self._patience.connect)
        return AsyncGroq(
            api_key=key.get_secret_value() if key else _NO_KEY if self._key else None,
            base_url=self._settings.groq_base_url,
            max_retries=0,  # retried here, where it is known what is worth it
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(http2=True, timeout=timeout),
        )

    async def probe(self, model: str) -> None:
        """See that the model answers to the key, for the price of a word.

        Raises:
            Failure: it does not.
        """
        client = await self._client()
        try:
            await client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hi"}], max_tokens=1)
        except Exception as error:
            raise failure_of(error) from error

    async def close(self) -> None:
        """Close the connections of the running loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


@dataclass
class _Booking:
    tokens: Tokens = field(default_factory=Tokens)
    outcome: str = "ok"


def _left_s(budget: Budget) -> float:
    return budget.deadline - time.monotonic()


def _arguments(model: str, request: Request, temperature: float) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "messages": list(request.messages),
        "temperature": temperature,
        "max_completion_tokens": request.max_tokens,
    }
    if reasons(model):
        arguments |= {"reasoning_effort": request.effort, "include_reasoning": False}
    if request.schema is not None and reasons(model):
        schema = {"name": request.node, "schema": request.schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None:
        arguments["response_format"] = {"type": "json_object"}
    return arguments
