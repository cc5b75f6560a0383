"""What is sent to WebSocket connections, through API Gateway's management API."""

import asyncio
import logging
import random
import time
from functools import cached_property
from typing import Any, Literal

from botocore.exceptions import BotoCoreError, ClientError

from graph.adapters import boto

_log = logging.getLogger(__name__)
_PATIENCE_S = 20.0
"""How long a message is tried again; those behind it wait, so that their order holds."""
_LONGEST_PAUSE_S = 2.0
_GONE = frozenset({"GoneException", "410", "404", "NotFoundException", "ForbiddenException", "403"})
_TOO_LARGE = frozenset({"PayloadTooLargeException", "413"})
Delivery = Literal["sent", "gone", "too_large"]


class Callback:
    """Sends to connections of one WebSocket API. Whoever awaits each message has them arrive in order."""

    def __init__(self, url: str, *, client: Any = None, patience_s: float = _PATIENCE_S) -> None:
        self._url = url
        self._given = client
        self._patience_s = patience_s

    async def post(self, connection_id: str, message: bytes) -> Delivery:
        """Send a message, again where API Gateway is too busy for it; ``gone`` where nobody can be reached (any more)."""
        give_up_at = time.monotonic() + self._patience_s
        pause_s = 0.1
        while True:
            answer = await asyncio.to_thread(self._post, connection_id, message)
            if answer != "later":
                return answer
            if time.monotonic() + pause_s > give_up_at:
                _log.warning("a connection took no message for %.0f s", self._patience_s)
                return "gone"
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311  # no secret
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    @cached_property
    def _client(self) -> Any:
        if self._given is not None:
            return self._given
        return boto.build("apigatewaymanagementapi", attempts=1, endpoint_url=self._url)

    def _post(self, connection_id: str, message: bytes) -> Delivery | Literal["later"]:
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=message)
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            if code in _GONE:
                return "gone"
            if code in _TOO_LARGE:
                return "too_large"
            _log.info("API Gateway takes no message now: %s", code)
            return "later"
        except BotoCoreError as error:
            _log.info("API Gateway does not answer: %s", type(error).__name__)
            return "later"
        return "sent"
