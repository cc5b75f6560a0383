"""What AWS says about objects, in the four shapes that it says it in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, cast
from urllib.parse import unquote_plus

LAST_ATTEMPT = 5
"""How often a change is tried before the document is given up; the queue's ``maxReceiveCount`` says the same."""


class NotAnEvent(ValueError):
    """A message that is no event of an object."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something happened to the object of a key. What is so now, the bucket says."""

    key: str
    sequencer: str = ""
    bytes: int = 0
    message_id: str = ""
    """Of the queue's message that brought it; empty outside of a queue."""
    attempt: int = 1
    happened_at: str = ""
    """ISO 8601, by the clock of S3; empty where the event does not say."""
    trace: str = ""
    """``X-Amzn-Trace-Id`` of the message."""


def is_queue(event: Mapping[str, Any]) -> bool:
    """Whether the event is a batch of a queue, whose messages fail one by one."""
    records = event.get("Records") or [{}]
    return bool(records[0].get("eventSource") == "aws:sqs")


def changes(event: Mapping[str, Any]) -> list[Change]:
    """The changes in an S3 notification or an EventBridge event; none in S3's test event.

    Raises:
        NotAnEvent: it is neither.
    """
    try:
        return list(_changes(event))
    except (KeyError, TypeError, AttributeError) as error:
        raise NotAnEvent(f"not an event of an object: {error!r} is missing or wrong") from error


class Delivery(TypedDict):
    """Which message of a queue brought a change, and how often."""

    message_id: str
    attempt: int
    trace: str


def messages(event: Mapping[str, Any]) -> Iterator[tuple[Delivery, Mapping[str, Any] | None]]:
    """Each message in a queue's batch with its content, None where it is no JSON object."""
    for record in event["Records"]:
        try:
            content = json.loads(record["body"])
        except ValueError:
            content = None
        attributes = record.get("attributes", {})
        delivery = Delivery(
            message_id=record["messageId"],
            attempt=int(attributes.get("ApproximateReceiveCount", 1)),
            trace=attributes.get("AWSTraceHeader", ""),
        )
        yield delivery, cast("Mapping[str, Any]", content) if isinstance(content, dict) else None


def _changes(event: Mapping[str, Any]) -> Iterator[Change]:
    if event.get("Event") == "s3:TestEvent":
        return
    if "detail-type" in event:
        item = event["detail"]["object"]
        yield _change(item["key"], item, event.get("time", ""))
        return
    for record in event["Records"]:
        item = record["s3"]["object"]
        key = unquote_plus(item["key"], errors="surrogateescape")
        yield _change(key, item, record.get("eventTime", ""))


def _change(key: str, item: Mapping[str, Any], happened_at: str) -> Change:
    return Change(key=key, sequencer=item.get("sequencer", ""), bytes=item.get("size", 0), happened_at=happened_at)
