"""The Lambda function that runs turns, as others call it."""

import asyncio
import json
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from graph.adapters import boto
from graph.errors import Unavailable
from graph.ports import Json


class Worker:
    """A function by name or ARN. It is told ids, never what somebody asked: Lambda keeps and repeats what it is told."""

    def __init__(self, function: str, *, client: Any = None) -> None:
        self._function = function
        self._given = client

    async def send(self, task: Json) -> None:
        """Have a task done later.

        Raises:
            Unavailable: Lambda does not take it.
        """
        await asyncio.to_thread(self._invoke, task, "Event")

    async def call(self, task: Json) -> None:
        """Have a task done now.

        Raises:
            Unavailable: it was not, or not to its end.
        """
        await asyncio.to_thread(self._invoke, task, "RequestResponse")

    @cached_property
    def _client(self) -> Any:
        return boto.client("lambda") if self._given is None else self._given

    def _invoke(self, task: Json, kind: str) -> None:
        try:
            answer = self._client.invoke(FunctionName=self._function, InvocationType=kind, Payload=json.dumps(task))
        except ClientError as error:
            code = error.response["Error"]["Code"]
            raise Unavailable(f"the worker cannot be called ({code}); try again in a moment") from error
        except BotoCoreError as error:
            raise Unavailable(f"the worker cannot be called: {error}. Try again in a moment.") from error
        if answer.get("FunctionError"):
            raise Unavailable("the worker failed; try again in a moment")
