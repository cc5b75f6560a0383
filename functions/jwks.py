"""The keys of an issuer of tokens (RFC 7517): fetched when they are needed, kept, and fetched anew when they rotate."""

import asyncio
import json
import logging
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import jwt

from graph.errors import Unavailable

ALGORITHMS = ("RS256", "ES256")
_FRESH_S = 3600.0
"""So long a key that was taken back may still be believed."""
_STALE_S = 86_400.0
"""So long the keys are used while the issuer does not answer."""
_PAUSE_S = 10.0
"""Between two fetches for unknown keys: tokens that somebody made up must not make us call the issuer for each."""
_TIMEOUT_S = 3.0
_LARGEST_BYTES = 1_000_000

Fetch = Callable[[str], bytes]
_log = logging.getLogger(__name__)


class Keys:
    """The public keys at one address."""

    def __init__(self, url: str, *, fetch: Fetch | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """``fetch`` blocks, and raises `OSError` or `ValueError`."""
        self._url = url
        self._fetch = fetch or _get
        self._clock = clock
        self._keys: list[jwt.PyJWK] = []
        self._fetched_at = -_STALE_S
        self._tried_at = -_PAUSE_S
        self._fetching = asyncio.Lock()

    async def find(self, kid: str | None, algorithm: str) -> list[jwt.PyJWK]:
        """The keys that can have signed a token with this header; an issuer with one key need not name it.

        Raises:
            Unavailable: the issuer does not answer, and its keys are not known, or not any more.
        """
        if self._clock() - self._fetched_at > _FRESH_S or not self._known(kid, algorithm):
            async with self._fetching:
                if self._clock() - self._tried_at >= _PAUSE_S:  # else somebody did, while we waited or just before
                    await asyncio.to_thread(self._refresh)
        if self._clock() - self._fetched_at > _STALE_S:
            raise Unavailable(f"the keys of the issuer of tokens cannot be had from {self._url}. Try again.")
        return self._known(kid, algorithm)

    def _known(self, kid: str | None, algorithm: str) -> list[jwt.PyJWK]:
        fitting = [key for key in self._keys if key.algorithm_name == algorithm]
        return fitting if kid is None else [key for key in fitting if key.key_id == kid]

    def _refresh(self) -> None:
        self._tried_at = self._clock()
        try:
            self._keys = _parse(self._fetch(self._url))
        except (OSError, ValueError) as error:
            _log.warning("the keys at %s cannot be had: %s", self._url, error)
        else:
            self._fetched_at = self._clock()


def _get(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310  # a setting
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
        body: bytes = answer.read(_LARGEST_BYTES)
    return body


def _parse(body: bytes) -> list[jwt.PyJWK]:
    document = json.loads(body)
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is no set of keys")  # noqa: TRY004  # what it holds, not what we were given
    return [key for one in listed if (key := _key(one)) is not None]


def _key(described: Any) -> jwt.PyJWK | None:
    """The key; None for one that signs no tokens that we take."""
    try:
        if described.get("use", "sig") != "sig":
            return None
        key = jwt.PyJWK.from_dict(described)
    except (jwt.PyJWTError, AttributeError, TypeError, ValueError):
        return None
    return key if key.algorithm_name in ALGORITHMS else None
