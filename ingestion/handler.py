"""The Lambda that keeps the index like the bucket; the laptop's watcher calls the same `consume`."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypedDict

from graph.event_loop import run
from graph.wiring import Wiring, wiring
from ingestion.events import Change, NotAnEvent, changes, is_queue, messages
from ingestion.lifecycle import Lifecycle

_LOG = logging.getLogger(__name__)
_SIDE_BY_SIDE = 3
"""Files at once: while one is embedded the next are read. More would only hold more texts in memory."""


class Failure(TypedDict):
    """A message that the queue is to bring again."""

    itemIdentifier: str


class Answer(TypedDict):
    """What a queue's batch is answered with."""

    batchItemFailures: list[Failure]


def handler(event: Mapping[str, Any], _context: object) -> Answer:
    """Entry point of the Lambda."""
    return run(consume(event, wiring()))


async def consume(event: Mapping[str, Any], wiring: Wiring) -> Answer:
    """Apply an S3 notification, an EventBridge event, or a queue's batch of them; small files first, each by itself.

    Raises:
        ExceptionGroup: outside of a queue, some changes could not be applied: the caller tries again.
    """
    lifecycle = Lifecycle(wiring)
    if not is_queue(event):
        errors = [error for error in (await _apply(lifecycle, changes(event))).values() if error]
        if errors:
            raise ExceptionGroup("some changes could not be applied", errors)
        return {"batchItemFailures": []}
    failed: dict[str, None] = {}
    found = list(_batch(event, failed))
    for change, error in (await _apply(lifecycle, found)).items():
        if error:
            failed[change.message_id] = None
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _batch(event: Mapping[str, Any], failed: dict[str, None]) -> Iterator[Change]:
    for message_id, content, attempt in messages(event):
        try:
            for change in changes(content or {}):
                yield replace(change, message_id=message_id, attempt=attempt)
        except NotAnEvent as error:
            _LOG.error("message %s: %s", message_id, error)
            failed[message_id] = None


async def _apply(lifecycle: Lifecycle, found: list[Change]) -> dict[Change, Exception | None]:
    """What became of each change. Changes of one key follow each other."""
    gate = asyncio.Semaphore(_SIDE_BY_SIDE)
    outcomes: dict[Change, Exception | None] = {}
    by_key: dict[str, list[Change]] = {}
    for change in sorted(found, key=lambda change: (change.bytes, change.sequencer)):
        by_key.setdefault(change.key, []).append(change)

    async def follow(of_key: list[Change]) -> None:
        for change in of_key:
            outcomes[change] = None
            async with gate:
                try:
                    await lifecycle.settle(change)
                except Exception as error:  # noqa: BLE001  # one file never holds up another; the caller hears of each
                    outcomes[change] = error

    async with asyncio.TaskGroup() as group:
        for of_key in by_key.values():
            group.create_task(follow(of_key))
    return outcomes
