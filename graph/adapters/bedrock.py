"""Embedding models of Amazon Bedrock."""

import asyncio
import json
import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from botocore.exceptions import BotoCoreError, ClientError
from numpy.typing import NDArray

from graph import text as characters
from graph.adapters import boto
from graph.adapters.bedrock_models import BedrockModel
from graph.adapters.recent import Kind, Recent
from graph.errors import Unavailable
from graph.ports import Json

_AT_ONCE = 16
_RECIPE = 1
"""Goes up when the same model gives other vectors."""
_ATTEMPTS = {"query": 4, "passage": 9}
"""Somebody waits for a question; a file has time."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.2, 10.0
_PASSING = frozenset({"ThrottlingException", "ServiceUnavailableException", "ModelNotReadyException", "ModelTimeoutException"})
_BLANK = "."
"""In place of a text without characters, which the models refuse."""
_PIECES = re.compile(rf"[{characters.CJK}]|[^\W{characters.CJK}]+|[^\w\s]")
_LETTERS_PER_TOKEN = 4


class BedrockEmbedder:
    """One model, asked from several threads. Its tokens are estimated, since its tokenizer is not public."""

    def __init__(self, model: BedrockModel, *, client: Any = None, first_wait_s: float = _FIRST_WAIT_S) -> None:
        self.model = f"{model.id}/{model.dimensions}/{_RECIPE}"
        self.dimensions = model.dimensions
        self.max_tokens = model.max_tokens
        self.calibration = model.calibration
        self._model = model
        self._given = client
        self._first_wait_s = first_wait_s
        self._threads = ThreadPoolExecutor(_AT_ONCE, "bedrock")
        self._recent = Recent()

    async def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        known = {text: vector for text in dict.fromkeys(texts) if (vector := self._recent.get((kind, text))) is not None}
        windows = {text: self._windows(text) for text in texts if text not in known}
        pieces = list(dict.fromkeys(piece for pieces in windows.values() for piece in pieces))
        found = dict(zip(pieces, await self._vectors(pieces, kind), strict=True))
        for text, of_text in windows.items():
            known[text] = _unit(np.mean([found[piece] for piece in of_text], axis=0, dtype=np.float32))
            self._recent.add((kind, text), known[text])
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, self.dimensions), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [_tokens(text) for text in texts]

    async def warm(self) -> None:
        await self.embed(["warm"], "query")

    async def _vectors(self, texts: Sequence[str], kind: Kind) -> list[NDArray[np.float32]]:
        loop, size = asyncio.get_running_loop(), self._model.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        asked = [loop.run_in_executor(self._threads, self._ask, batch, kind) for batch in batches]
        return [_unit(np.array(vector, np.float32)) for answer in await asyncio.gather(*asked) for vector in answer]

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        body = self._model.request(texts, kind)
        for attempt in range(_ATTEMPTS[kind]):
            if attempt:
                longest = min(_LONGEST_WAIT_S, self._first_wait_s * 2**attempt)
                time.sleep(random.uniform(longest / 2, longest))  # noqa: S311  # no secret
            try:
                return self._model.vectors(self._answer(body))
            except ClientError as error:
                failure = error.response["Error"]
                if failure["Code"] not in _PASSING:
                    raise Unavailable(_named(failure, self._model.id)) from error
            except BotoCoreError as error:
                raise Unavailable(f"Bedrock does not answer: {error}. Try again.") from error
        raise Unavailable(f"Bedrock answers too many others at this moment ({failure['Code']}). Try again later.")

    def _answer(self, body: Json) -> Any:
        answer = self._client.invoke_model(
            modelId=self._model.id, body=json.dumps(body), contentType="application/json", accept="application/json"
        )
        with answer["body"] as stream:
            return json.loads(stream.read())

    @cached_property
    def _client(self) -> Any:
        return boto.build("bedrock-runtime", attempts=0) if self._given is None else self._given

    def _windows(self, text: str) -> list[str]:
        """The text in pieces that the model reads whole, of about one size: cut in half until they fit."""
        text = text.encode(errors="replace").decode()  # half a surrogate pair is no character
        if len(text) <= self._model.max_characters and _tokens(text) <= self._model.max_tokens:
            return [text if text.strip(" \0\t\r\n\u200b") else _BLANK]
        middle = len(text) // 2
        space = text.rfind(" ", middle // 2, middle)
        cut = middle if space < 0 else space
        return self._windows(text[:cut]) + self._windows(text[cut:])


def _tokens(text: str) -> int:
    """An estimate: each character of a script without spaces, and every four letters of a word."""
    return sum(-(-len(piece) // _LETTERS_PER_TOKEN) for piece in _PIECES.findall(text))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _named(failure: Json, model: str) -> str:
    code, message = str(failure["Code"]), str(failure.get("Message", ""))
    if code == "AccessDeniedException":
        return f"Bedrock refuses {model}: {message}. Request access to the model, and allow bedrock:InvokeModel on it."
    if code == "ResourceNotFoundException":
        return f"Bedrock has no {model} in this region; set another FOOTNOTE_EMBEDDER, or deploy elsewhere."
    return f"Bedrock does not answer ({code}): {message}"
