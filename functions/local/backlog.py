"""The laptop's queue: keys whose objects changed, small ones first, each in one hand at a time."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass


@dataclass(kw_only=True)
class Entry:
    """A key that is to be looked at."""

    key: str
    bytes: int
    due: float
    """Of `time.monotonic`: not before."""
    attempt: int = 1


class Backlog:
    """Keys in wait and in work."""

    def __init__(self) -> None:
        self._waiting: dict[str, Entry] = {}
        self._in_work: set[str] = set()
        self._changed = asyncio.Event()

    def add(self, key: str, size_bytes: int, *, delay_s: float = 0, attempt: int = 1) -> None:
        """Have the key looked at, once, however often it is added before that."""
        self._waiting[key] = Entry(key=key, bytes=size_bytes, due=time.monotonic() + delay_s, attempt=attempt)
        self._changed.set()

    async def take(self) -> Entry:
        """The smallest that is due; it is in work until it is `done`."""
        while True:
            now = time.monotonic()
            free = [entry for entry in self._waiting.values() if entry.key not in self._in_work]
            due = [entry for entry in free if entry.due <= now]
            if due:
                entry = min(due, key=lambda entry: entry.bytes)
                del self._waiting[entry.key]
                self._in_work.add(entry.key)
                return entry
            self._changed.clear()
            wait_s = min((entry.due - now for entry in free), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # `wait_for` may swallow a cancellation before Python 3.12
                    await self._changed.wait()

    def done(self, entry: Entry) -> None:
        """The key may be taken again."""
        self._in_work.discard(entry.key)
        self._changed.set()

    def __contains__(self, key: object) -> bool:
        """Whether the key is in wait or in work."""
        return key in self._waiting or key in self._in_work

    def __len__(self) -> int:
        """Keys in wait and in work."""
        return len(self._waiting) + len(self._in_work)
