"""Who has a home: one process at a time ingests into it and runs its server."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from graph.errors import FootnoteError


class Holder(TypedDict):
    """What stands in the lock file."""

    kind: Literal["serve", "ingest"]
    pid: int
    url: NotRequired[str]


class HomeTaken(FootnoteError):
    """Another process has this home."""

    def __init__(self, home: Path, holder: Holder | None) -> None:
        who = f"footnote {holder['kind']} (pid {holder['pid']})" if holder else "another process"
        where = f", which answers at {holder['url']}" if holder and "url" in holder else ""
        super().__init__(f"{home} is in use by {who}{where}; stop it, or choose another --home")
        self.holder = holder


class HomeUnusable(FootnoteError):
    """The home cannot be written."""


class Lock:
    """The lock of a home, held."""

    def __init__(self, file: int, kind: Literal["serve", "ingest"]) -> None:
        self._file = file
        self._kind: Literal["serve", "ingest"] = kind

    def say(self, *, url: str | None = None) -> None:
        """Write down who has the home, for those who find it taken."""
        holder: Holder = {"kind": self._kind, "pid": os.getpid()}
        if url is not None:
            holder["url"] = url
        os.truncate(self._file, 0)
        os.pwrite(self._file, json.dumps(holder).encode(), 0)


@contextmanager
def held(home: Path, kind: Literal["serve", "ingest"]) -> Iterator[Lock]:
    """Have the home. The system gives it back when the process ends, however it ends.

    Raises:
        HomeTaken: somebody else has it.
        HomeUnusable: it cannot be written.
    """
    file = -1
    try:
        home.mkdir(parents=True, exist_ok=True)
        file = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock = Lock(file, kind)
        lock.say()
    except BlockingIOError:
        os.close(file)
        raise HomeTaken(home, holder(home)) from None
    except OSError as error:
        if file >= 0:
            os.close(file)
        raise HomeUnusable(f"{home} cannot be used: {error.strerror}; choose another --home, or make it writable") from None
    try:
        yield lock
    finally:
        os.close(file)


def holder(home: Path) -> Holder | None:
    """Who has the home, as far as is written."""
    try:
        with (home / "lock").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                held_by: Holder = json.loads(file.read())
                return held_by
    except (OSError, ValueError):
        return None
    return None
