"""LangGraph's checkpoints in DynamoDB, large ones in S3.

`DynamoDBSaver` (langgraph-checkpoint-aws 1.2) reads without consistency, so that a turn may start from a state before the last;
returns what has expired until DynamoDB deletes it; writes the head of a checkpoint before its payload, so that a payload that
cannot be stored rolls the thread back; and sorts the tenth write of a task before its second. Each is put right here.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint, CheckpointMetadata
from langgraph_checkpoint_aws.checkpoint.dynamodb import DynamoDBSaver
from langgraph_checkpoint_aws.checkpoint.dynamodb.unified_repository import UnifiedRepository

from graph.adapters import boto

_TTL = "ttl"
"""The attribute that the table's TTL names."""
_LOWEST_INDEX = -100
"""Special channels have indexes below zero."""


class DynamoDBCheckpoints(DynamoDBSaver):  # type: ignore[misc]  # the package has no types
    """Checkpoints in a table with the string keys ``PK`` and ``SK``; what is over 350 KB lies in the bucket."""

    def __init__(  # noqa: PLR0913  # settings, and two for tests
        self,
        table: str,
        *,
        bucket: str,
        prefix: str = "checkpoints",
        ttl_s: int | None = None,
        clients: Callable[[str], Any] = boto.client,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(
            table,
            session=cast("Any", _Session(clients, clock)),
            s3_offload_config={"bucket_name": bucket, "key_prefix": prefix, "endpoint_url": None},
        )
        self.repo = _Repository(self.client, table, self.serializer, self.storage, ttl_s)
        self.storage.ttl_seconds = ttl_s  # given to its constructor, it would rewrite the bucket's lifecycle rules


class _Session:
    """What the saver takes its clients from: those that the process has."""

    def __init__(self, clients: Callable[[str], Any], clock: Callable[[], float]) -> None:
        self._clients = clients
        self._clock = clock

    def client(self, service: str, **_: object) -> Any:
        made = self._clients(service)
        return _Reader(made, self._clock) if service == "dynamodb" else made


class _Reader:
    """DynamoDB, read consistently, without what has expired."""

    def __init__(self, client: Any, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_item(self, **asked: Any) -> Any:
        names = asked.pop("ExpressionAttributeNames", {}) | {"#ttl": _TTL}
        wanted = f"{asked.pop('ProjectionExpression')}, #ttl"
        found = self._client.get_item(ExpressionAttributeNames=names, ProjectionExpression=wanted, ConsistentRead=True, **asked)
        expires_at = found.get("Item", {}).get(_TTL, {}).get("N", "inf")
        return found if float(expires_at) > self._clock() else {}

    def query(self, **asked: Any) -> Any:
        names = asked.pop("ExpressionAttributeNames", {}) | {"#ttl": _TTL}
        values = asked.pop("ExpressionAttributeValues") | {":now": {"N": str(int(self._clock()))}}
        live = "(attribute_not_exists(#ttl) OR #ttl > :now)"
        condition = f"{live} AND {asked.pop('FilterExpression')}" if "FilterExpression" in asked else live
        return self._client.query(
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
            FilterExpression=condition,
            ConsistentRead=True,
            **asked,
        )


class _Repository(UnifiedRepository):  # type: ignore[misc]  # the package has no types
    """Heads after payloads, writes in order."""

    def put_checkpoint(
        self,
        thread_id: str,
        checkpoint_ns: str,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        parent_checkpoint_id: str | None = None,
    ) -> dict[str, str]:
        kind, payload, compression = self.serializer.serialize({"checkpoint": checkpoint, "metadata": metadata})
        place = f"{thread_id}#{checkpoint_ns}#{checkpoint['id']}"
        chunk, s3_key = f"CHUNK_{place}", f"{thread_id}/checkpoints/{checkpoint_ns}/{checkpoint['id']}"
        location = self.storage.store_data(chunk, s3_key, payload, allow_overwrite=True)
        head = {
            "PK": f"CHECKPOINT_{thread_id}",
            "SK": f"{checkpoint_ns}#{checkpoint['id']}",
            "id": checkpoint["id"],
            "ns": checkpoint_ns,
            "type": kind,
            "ref_loc": location,
            "ref_key": s3_key if location == "S3" else chunk,
            "parent_checkpoint_id": parent_checkpoint_id,
            "compression": compression.value if compression else None,
        }
        item: dict[str, Any] = {name: {"S": value} for name, value in head.items() if value is not None}
        if self.ttl_seconds:
            item[_TTL] = {"N": str(int(time.time() + self.ttl_seconds))}
        self.dynamodb_client.put_item(TableName=self.table_name, Item=item)
        return {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns, "checkpoint_id": checkpoint["id"]}

    def put_writes(  # noqa: PLR0917, PLR0913  # the saver calls it so
        self,
        thread_id: str,
        checkpoint_ns: str,
        checkpoint_id: str,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        for head, payload in self._build_write_items(
            thread_id, checkpoint_ns, checkpoint_id, writes, task_id, task_path, replaces
        ):
            self.storage.store_data(payload["chunk_key"], payload["s3_key"], payload["value_data"], allow_overwrite=replaces)
            self.put_single_write_item(checkpoint_id, head, allow_overwrites=replaces)

    def _build_write_items(self, *arguments: Any, **named: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for head, payload in super()._build_write_items(*arguments, **named):
            place = int(head["idx"]["N"]) - _LOWEST_INDEX
            yield head | {"SK": {"S": f"{head['task_id']['S']}#{place:06d}"}}, payload
