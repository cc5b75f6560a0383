"""The Lambda that keeps the index like the bucket; the laptop's watcher calls the same `consume`."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from graph.event_loop import run
from graph.wiring import Wiring, wiring
from ingestion.events import Change, NotAnEvent, changes, is_queue, messages
from ingestion.lifecycle import Lifecycle
from ingestion.settled import Settled

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
    from ingestion.metrics import emit  # noqa: PLC0415  # Powertools, which a laptop has not

    return run(consume(event, wiring(), observe=emit))


async def consume(
    event: Mapping[str, Any], wiring: Wiring, *, observe: Callable[[Sequence[Settled]], None] | None = None
) -> Answer:
    """Apply an S3 notification, an EventBridge event, or a queue's batch of them; small files first, each by itself.

    ``observe`` is told what became of each change.

    Raises:
        ExceptionGroup: outside of a queue, some changes could not be applied: the caller tries again.
    """
    failed: dict[str, None] = {}
    found = list(_batch(event, failed)) if is_queue(event) else changes(event)
    settled = await _apply(Lifecycle(wiring), found)
    if observe is not None:
        observe(settled)
    if wiring.settings.otlp_endpoint:
        await asyncio.to_thread(_export, wiring, settled)
    errors = [one.error for one in settled if one.error]
    if errors and not is_queue(event):
        raise ExceptionGroup("some changes could not be applied", errors)
    failed |= {one.change.message_id: None for one in settled if one.error}
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _export(wiring: Wiring, settled: Sequence[Settled]) -> None:
    for one in settled:
        wiring.exporter.export(one.trace)
    wiring.exporter.flush()


def _batch(event: Mapping[str, Any], failed: dict[str, None]) -> Iterator[Change]:
    for delivery, content in messages(event):
        try:
            for change in changes(content or {}):
                yield replace(change, **delivery)
        except NotAnEvent as error:
            _LOG.error("message %s: %s", delivery["message_id"], error)
            failed[delivery["message_id"]] = None


async def _apply(lifecycle: Lifecycle, found: Sequence[Change]) -> list[Settled]:
    """What became of each change. Changes of one key follow each other."""
    gate = asyncio.Semaphore(_SIDE_BY_SIDE)
    settled: list[Settled] = []
    by_key: dict[str, list[Change]] = {}
    for change in sorted(found, key=lambda change: (change.bytes, change.sequencer)):
        by_key.setdefault(change.key, []).append(change)

    async def follow(of_key: list[Change]) -> None:
        for change in of_key:
            one = Settled(change)
            settled.append(one)
            async with gate:
                try:
                    with one.trace.span("ingest") as facts:
                        one.record = await lifecycle.settle(change, one.trace)
                        facts.update(one.facts())
                except Exception as error:  # noqa: BLE001  # one file never holds up another; the caller hears of each
                    one.error = error

    async with asyncio.TaskGroup() as group:
        for of_key in by_key.values():
            group.create_task(follow(of_key))
    return settled
