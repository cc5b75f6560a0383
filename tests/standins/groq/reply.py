"""One answer in Groq's wire format, whole or streamed, good or bad."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.standins.groq.answers import json_answer, text_answer
from tests.standins.groq.profiles import INJECTED, Profile

_REFUSALS: dict[Profile, tuple[int, str]] = {
    "429": (429, "rate_limit_exceeded"),
    "429_long": (429, "rate_limit_exceeded"),
    "413": (413, "rate_limit_exceeded"),
    "500": (500, "internal_server_error"),
    "503": (503, "service_unavailable"),
    "404": (404, "model_not_found"),
    "401": (401, "invalid_api_key"),
    "json_usable": (400, "json_validate_failed"),
    "json_unusable": (400, "json_validate_failed"),
    "tool_use_failed": (400, "tool_use_failed"),
}


@dataclass(frozen=True, kw_only=True)
class Latency:
    """How fast it answers."""

    first_token_s: float = 0.120
    token_s: float = 0.0042


@dataclass
class Reply:
    """One answer, good or bad."""

    body: dict[str, Any]
    profile: Profile | None
    latency: Latency
    scripted: str | dict[str, Any] | None
    retry_after_s: float
    arrived: float = field(default_factory=time.monotonic)

    async def response(self) -> Response:
        """The response, after its latency."""
        if self.profile == "hang":
            await asyncio.sleep(60)
        refusal = self._refusal()
        if refusal is not None:
            await asyncio.sleep(self.latency.first_token_s / 4)
            return refusal
        if self.body.get("stream"):
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        return await self._whole()

    def _refusal(self) -> Response | None:
        if self.profile == "not_json":
            return Response("<html>Bad gateway</html>", media_type="application/json")
        if self.profile not in _REFUSALS:
            return None
        status, code = _REFUSALS[self.profile]
        error: dict[str, Any] = {"message": f"stand-in: {code}", "type": "error", "code": code}
        if status == 400:
            error["failed_generation"] = self._failed_generation()
        wait_s = {"429": self.retry_after_s, "429_long": 7200.0}.get(self.profile)
        return JSONResponse({"error": error}, status, headers={} if wait_s is None else {"retry-after": str(wait_s)})

    def _failed_generation(self) -> str:
        match self.profile:
            case "json_usable":
                return f"```json\n{self._json_text()}\n```"
            case "tool_use_failed":
                return f'<tool_call>{{"name": "json", "arguments": {self._json_text()}}}</tool_call>'
        return "I would rather not"

    async def _whole(self) -> Response:
        schema = self.body.get("response_format", {}).get("type") in ("json_schema", "json_object")
        content = self._json_text() if schema else self._text()
        pieces = _pieces(content)
        await self._until(len(pieces))
        message: dict[str, Any] = {"role": "assistant", "content": self._spoilt(content)}
        if self.profile == "json_in_tool_call":
            call = {"id": "call_1", "type": "function", "function": {"name": "json", "arguments": content}}
            message |= {"content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return JSONResponse(self._envelope("chat.completion") | {"choices": [choice], "usage": self._usage(len(pieces))})

    async def _stream(self) -> AsyncIterator[str]:
        pieces = _pieces(self._text())
        await self._until(0)
        sent = 0
        while sent < len(pieces) or self.profile == "endless":
            if self.profile == "hang_mid_stream" and sent == len(pieces) // 2:
                await asyncio.sleep(60)
            if self.profile == "cut_mid_stream" and sent == len(pieces) // 2:
                raise ConnectionError("cut")
            if self.profile == "error_mid_stream" and sent == len(pieces) // 2:
                error = {"message": "Internal error", "type": "internal_server_error", "code": "internal"}
                yield f"data: {json.dumps({'error': error})}\n\n"
                return
            yield self._chunk({"content": pieces[sent % len(pieces)]}, None)
            sent += 1
            await self._until(sent)
        yield self._chunk({}, "stop", x_groq={"id": "req_1", "usage": self._usage(sent)})
        yield "data: [DONE]\n\n"

    async def _until(self, tokens: int) -> None:
        """Wait until so many tokens would be there; what the stand-in itself takes is part of the time."""
        due = self.arrived + self.latency.first_token_s + tokens * self.latency.token_s
        await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _chunk(self, delta: dict[str, Any], finish: str | None, **more: object) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return f"data: {json.dumps(self._envelope('chat.completion.chunk') | {'choices': [choice]} | more)}\n\n"

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": self.body["model"]}

    def _usage(self, completion: int) -> dict[str, Any]:
        prompt = len(self._prompt) // 4
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}

    @property
    def _prompt(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def _asked(self) -> str:
        return str(self.body["messages"][-1]["content"])

    def _text(self) -> str:
        text = self.scripted if isinstance(self.scripted, str) else text_answer(self._asked)
        match self.profile:
            case "empty":
                return ""
            case "ghost_citations":
                return text.replace("[1]", "[97]") + " And there is more to it than that, says the annex [98]."
            case "no_citations":
                return "Everything about this is well known and needs no source."
            case "obeys_injection":
                return INJECTED + " [1]"
        return text

    def _json_text(self) -> str:
        if isinstance(self.scripted, str):
            return self.scripted
        made = self.scripted or json_answer(self.body["node"], _schema(self.body), self._asked)
        if self.profile == "wrong_enum":
            made = {key: "splendid" if key == "intent" else value for key, value in made.items()}
            made |= {"relevant": "all", "claims": [{"sentence": 1, "verdict": "splendid"}]} if "intent" not in made else {}
        return json.dumps(made, ensure_ascii=False)

    def _spoilt(self, content: str) -> str:
        match self.profile:
            case "fenced_json":
                return f"```json\n{content}\n```"
            case "prefixed_json":
                return f"Sure! Here is the JSON:\n{content}\nHope this helps."
            case "empty":
                return ""
        return content


def node_of(body: dict[str, Any]) -> str:
    """Which node asks: the name of its schema, else ``answer`` or ``summarise``, told apart by streaming."""
    response_format = body.get("response_format", {})
    if "json_schema" in response_format:
        return str(response_format["json_schema"]["name"])
    if response_format:
        spelled = str(body["messages"][0]["content"])
        return next(
            name for mark, name in (("intent", "plan"), ("sufficient", "grade"), ("claims", "check")) if mark in spelled
        )
    return "answer" if body.get("stream") else "summarise"


def _schema(body: dict[str, Any]) -> dict[str, Any]:
    response_format = body["response_format"]
    if "json_schema" in response_format:
        schema: dict[str, Any] = response_format["json_schema"]["schema"]
        return schema
    spelled: dict[str, Any] = json.loads(str(body["messages"][0]["content"]).rsplit("schema: ", 1)[1])
    return spelled


def _pieces(text: str) -> list[str]:
    """Text in pieces of about four characters, as tokens are."""
    return [text[at : at + 4] for at in range(0, len(text), 4)]
