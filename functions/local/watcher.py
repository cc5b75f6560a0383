"""Watches the bucket's folder and hands what changes to the same code that S3's events reach in AWS."""

import asyncio
import json
import logging
import time
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.parse import quote_plus

from watchfiles import Change, awatch

from functions.local.backlog import Backlog, Entry
from graph.adapters.folder import FolderBucket
from graph.documents import DocumentRecord, Documents, document_id, is_settled, version_of
from graph.errors import BadName
from graph.keys import is_hidden, key_of, place_of
from graph.ports import ObjectInfo
from graph.wiring import Wiring
from ingestion.events import LAST_ATTEMPT
from ingestion.handler import consume

_LOG = logging.getLogger(__name__)
_WORKERS = 3
"""Files at once: while one is embedded the next are read."""
_SETTLE_S = 0.5
"""A file that changed this recently may still be being copied."""
_COMPARE_EVERY_S, _POLL_EVERY_S = 60.0, 1.0
"""Beside watching, and in place of it."""
_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 30.0
_DEBOUNCE_MS, _STEP_MS, _FIRST_LOOK_MS = 400, 50, 1000


class Watcher:
    """Keeps registry and index like the folder: ``async with Watcher(wiring): ...``.

    Leaving it abandons what is under way: nothing of that is visible yet, and the next start goes on with it.
    """

    def __init__(self, wiring: Wiring, *, force_polling: bool = False) -> None:
        if not isinstance(wiring.bucket, FolderBucket):
            raise TypeError("only a bucket that is a folder can be watched")
        self._wiring, self._bucket = wiring, wiring.bucket
        self._compare_every_s = _POLL_EVERY_S if force_polling else _COMPARE_EVERY_S
        self._backlog = Backlog()
        self._compare_now = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        uploads = self._bucket.root / "uploads"
        await asyncio.to_thread(uploads.mkdir, parents=True, exist_ok=True)
        jobs = [self._watch(uploads), self._compare_often(uploads), *(self._work() for _ in range(_WORKERS))]
        self._tasks = [asyncio.create_task(job) for job in jobs]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def backlog(self) -> int:
        """Files that wait or are in work."""
        return len(self._backlog)

    async def _watch(self, uploads: Path) -> None:
        if self._compare_every_s == _POLL_EVERY_S:
            return
        try:
            await self._notice(uploads)
        except Exception:  # noqa: BLE001  # whatever the system says about watching, comparing does without it
            _LOG.warning("the folder %s cannot be watched, so it is compared every second", uploads, exc_info=True)
            self._compare_every_s = _POLL_EVERY_S  # watchfiles' own polling misses a second change within a second
            self._compare_now.set()

    async def _notice(self, uploads: Path) -> None:
        begun = False
        async for batch in awatch(
            uploads, debounce=_DEBOUNCE_MS, step=_STEP_MS, rust_timeout=_FIRST_LOOK_MS, yield_on_timeout=True
        ):
            if not begun:  # what happened before the watch began is told by nobody
                begun = True
                self._compare_now.set()
            for kind, name in batch:
                await self._see(kind, Path(name))

    async def _see(self, kind: Change, path: Path) -> None:
        is_folder = await asyncio.to_thread(path.is_dir)
        if is_folder or kind is Change.deleted:  # of a folder that is moved only the folder is told
            self._compare_now.set()
        key = self._bucket.key(path)
        place = place_of(key)
        if is_folder or place is None or is_hidden(place[1]):
            return
        info = await self._head(key)
        self._backlog.add(key, info.bytes if info else 0)

    async def _head(self, key: str) -> ObjectInfo | None:
        try:
            return await self._bucket.head(key)
        except BadName:
            return None

    async def _compare_often(self, uploads: Path) -> None:
        first = True
        while True:
            self._compare_now.clear()
            try:
                for tenant in {"default", *await asyncio.to_thread(_folders, uploads)}:
                    await self._compare(tenant, try_again=first)
                first = False
            except Exception:  # noqa: BLE001  # the next comparison may find the table or the folder in order again
                _LOG.exception("the folder could not be compared with the registry")
            await asyncio.sleep(_BACKOFF_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._compare_every_s):
                    await self._compare_now.wait()

    async def _compare(self, tenant: str, *, try_again: bool) -> None:
        """Have looked at what the registry and the folder say differently; ``try_again``: also at what was given up."""
        documents = Documents(self._wiring.table)
        records = {record["document_id"]: record async for record in documents.every(tenant) if not record.get("deleted")}
        async for info in self._bucket.list(f"uploads/{tenant}/"):
            path = info.key.removeprefix(f"uploads/{tenant}/")
            record = records.pop(document_id(tenant, path), None)
            if info.key in self._backlog:  # it is known, and may wait for another try
                continue
            if record is not None and (is_settled(record, info) or (_is_given_up(record, info) and not try_again)):
                continue
            with suppress(BadName):  # ingestion says so of the file
                await documents.pending(tenant, path, info, uri=self._bucket.uri(info.key))
            self._backlog.add(info.key, info.bytes)
        for record in records.values():
            self._backlog.add(key_of(tenant, record["path"]), 0)

    async def _work(self) -> None:
        while True:
            entry = await self._backlog.take()
            try:
                await self._handle(entry)
            finally:
                self._backlog.done(entry)

    async def _handle(self, entry: Entry) -> None:
        info = await self._head(entry.key)
        if info is not None and 0 <= (age_s := time.time() - info.modified_at) < _SETTLE_S:
            self._backlog.add(entry.key, info.bytes, delay_s=_SETTLE_S - age_s, attempt=entry.attempt)
            return
        answer = await consume(_event(entry, info), self._wiring)
        if answer["batchItemFailures"] and entry.attempt < LAST_ATTEMPT:
            delay_s = min(_BACKOFF_S * 2**entry.attempt, _LONGEST_BACKOFF_S)
            self._backlog.add(entry.key, entry.bytes, delay_s=delay_s, attempt=entry.attempt + 1)


def _is_given_up(record: DocumentRecord, info: ObjectInfo) -> bool:
    return record["status"] == "failed" and record["version"] == version_of(info)


def _folders(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _event(entry: Entry, info: ObjectInfo | None) -> dict[str, object]:
    """A queue's batch of one S3 notification, as in AWS."""
    item = {"key": quote_plus(entry.key, safe="/", errors="surrogateescape"), "size": entry.bytes}
    if info is not None:
        item["sequencer"] = info.sequencer
    name = "ObjectRemoved:Delete" if info is None else "ObjectCreated:Put"
    record = {"eventVersion": "2.1", "eventSource": "aws:s3", "eventName": name, "s3": {"object": item}}
    message = {
        "messageId": f"{entry.key}#{entry.attempt}",
        "eventSource": "aws:sqs",
        "attributes": {"ApproximateReceiveCount": str(entry.attempt)},
        "body": json.dumps({"Records": [record]}),
    }
    return {"Records": [message]}
