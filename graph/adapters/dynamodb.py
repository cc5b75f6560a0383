"""The single table on DynamoDB.

Each field of a value is kept as the text of its JSON. So a value comes back as it went in (DynamoDB's own numbers know
no 1.0, no infinity and no exponent past 125), and equality of fields is equality of texts.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from graph.adapters import boto
from graph.errors import FootnoteError, InvalidRequest, TooLarge, Unavailable
from graph.ports import Absent, Equals, Item, Json

_LARGEST_KEY_BYTES = {"pk": 2048, "sk": 1024}
_EXPIRY = "expires_at"
"""The attribute that the table's TTL names. DynamoDB deletes days late, so every read and condition looks at it."""
_CONDITION_FAILED = "ConditionalCheckFailedException"
_GONE = "attribute_not_exists(pk) OR #expiry <= :now"


class DynamoDBTable:
    """Items of one table with the string keys ``pk`` and ``sk``. Every read is consistent."""

    def __init__(self, name: str, *, client: Any = None, clock: Callable[[], float] = time.time) -> None:
        self._name = name
        self._given = client
        self._clock = clock

    async def put(self, item: Item, *, condition: Absent | Equals | None = None) -> bool:
        return await asyncio.to_thread(self._put, item, condition)

    async def get(self, pk: str, sk: str) -> Item | None:
        return await asyncio.to_thread(self._get, pk, sk)

    async def query(
        self, pk: str, *, prefix: str = "", after: str | None = None, limit: int | None = None, descending: bool = False
    ) -> list[Item]:
        return await asyncio.to_thread(self._query, pk, prefix, after, limit, descending)

    async def delete(self, pk: str, sk: str, *, condition: Equals | None = None) -> bool:
        return await asyncio.to_thread(self._delete, pk, sk, condition)

    async def close(self) -> None:
        """The client is the process's."""

    @cached_property
    def _client(self) -> Any:
        return boto.client("dynamodb") if self._given is None else self._given

    def _put(self, item: Item, condition: Absent | Equals | None) -> bool:
        stamp = secrets.token_urlsafe(12)
        row = _key(item.pk, item.sk) | {
            "value": {"M": {name: {"S": _text(field)} for name, field in item.value.items()}},
            "stamp": {"S": stamp},
        }
        if item.expires_at is not None:
            row[_EXPIRY] = {"N": str(item.expires_at)}
        return self._write("put_item", {"Item": row}, _put_condition(condition), stamp)

    def _delete(self, pk: str, sk: str, condition: Equals | None) -> bool:
        expression, names, values = _put_condition(condition)
        if condition is not None:
            expression, names = f"({expression}) OR {_GONE}", names | {"#expiry": _EXPIRY}
        return self._write("delete_item", {"Key": _key(pk, sk)}, (expression, names, values), None)

    def _write(
        self, operation: str, what: Json, condition: tuple[str, dict[str, str], dict[str, Json]], stamp: str | None
    ) -> bool:
        """Write if the condition holds.

        A write whose answer got lost is sent again by boto3 and then meets itself: the stamp tells.
        """
        expression, names, values = condition
        asked: Json = {}
        if expression:
            asked = {
                "ConditionExpression": expression,
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values | {":now": {"N": str(int(self._clock()))}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        try:
            self._call(operation, **what, **asked)
        except ClientError as error:  # the condition does not hold
            return stamp is not None and error.response.get("Item", {}).get("stamp") == {"S": stamp}
        return True

    def _get(self, pk: str, sk: str) -> Item | None:
        if not pk or not sk:
            return None
        row = self._call("get_item", Key=_key(pk, sk), ConsistentRead=True).get("Item")
        return None if row is None or self._is_expired(row) else _item(row)

    def _query(self, pk: str, prefix: str, after: str | None, limit: int | None, descending: bool) -> list[Item]:  # noqa: FBT001
        start = _start(prefix, after, descending=descending)
        if start is _NOTHING or limit == 0 or not pk:
            return []
        found: list[Item] = []
        for row in self._rows(pk, prefix, start, limit, descending=descending):
            if not self._is_expired(row):
                found.append(_item(row))
            if len(found) == limit:
                break
        return found

    def _rows(self, pk: str, prefix: str, start: str | None, limit: int | None, *, descending: bool) -> Iterator[Json]:
        """Rows of all pages; a page ends at 1 MB."""
        values = {":pk": {"S": pk}} | ({":prefix": {"S": prefix}} if prefix else {})
        asked: Json = {
            "KeyConditionExpression": "pk = :pk" + (" AND begins_with(sk, :prefix)" if prefix else ""),
            "ExpressionAttributeValues": values,
            "ScanIndexForward": not descending,
            "ConsistentRead": True,
        }
        if limit is not None:
            asked["Limit"] = limit
        if start is not None:
            asked["ExclusiveStartKey"] = _key(pk, start)
        while True:
            page = self._call("query", **asked)
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _call(self, operation: str, **arguments: Any) -> Any:
        try:
            return getattr(self._client, operation)(TableName=self._name, **arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] == _CONDITION_FAILED:
                raise
            raise _named(error.response["Error"], self._name) from error
        except BotoCoreError as error:
            raise Unavailable(f"DynamoDB does not answer: {error}. Try again.") from error

    def _is_expired(self, row: Json) -> bool:
        return _EXPIRY in row and _expiry(row) <= self._clock()


class _Nothing(str):
    """No key lies after the given one."""

    __slots__ = ()


_NOTHING = _Nothing()


def _start(prefix: str, after: str | None, *, descending: bool) -> str | None:
    """The key to start behind. One outside of what the prefix selects is an error to DynamoDB, so it is settled here."""
    if not after:
        return _NOTHING if after == "" and descending else None
    if after.startswith(prefix):
        return after
    comes_first = after.encode() < prefix.encode()
    return None if comes_first is not descending else _NOTHING


def _put_condition(condition: Absent | Equals | None) -> tuple[str, dict[str, str], dict[str, Json]]:
    """Expression, names and values of a condition; an expired item meets `Absent`, and no `Equals`."""
    if condition is None:
        return "", {}, {}
    names = {"#expiry": _EXPIRY}
    if isinstance(condition, Absent):
        return _GONE, names, {}
    clauses = ["attribute_exists(pk)", "(attribute_not_exists(#expiry) OR #expiry > :now)"]
    values: dict[str, Json] = {}
    for i, (name, field) in enumerate(condition.fields.items()):
        names |= {"#value": "value", f"#f{i}": name}
        values[f":f{i}"] = {"S": _text(field)}
        clauses.append(f"#value.#f{i} = :f{i}")
    return " AND ".join(clauses), names, values


def _key(pk: str, sk: str) -> Json:
    for name, key in (("pk", pk), ("sk", sk)):
        if not 0 < len(key.encode()) <= _LARGEST_KEY_BYTES[name]:
            raise InvalidRequest(f"{name} must have 1 to {_LARGEST_KEY_BYTES[name]} bytes, not {len(key.encode())}")
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _text(field: object) -> str:
    encode = partial(json.dumps, field, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = encode(ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates have no UTF-8, but JSON can write them
        return encode()
    return text


def _item(row: Any) -> Item:
    value: Json = {name: json.loads(field["S"]) for name, field in row["value"]["M"].items()}
    return Item(pk=row["pk"]["S"], sk=row["sk"]["S"], value=value, expires_at=int(_expiry(row)) if _EXPIRY in row else None)


def _expiry(row: Any) -> float:
    return float(row[_EXPIRY]["N"])


def _named(error: Json, table: str) -> FootnoteError:
    code, message = str(error["Code"]), str(error.get("Message", ""))
    if code == "ValidationException" and "size has exceeded" in message:
        return TooLarge("an item of the table may have 400 KB; store less, or the large part in the bucket")
    if code == "ValidationException":
        return InvalidRequest(f"DynamoDB refuses this: {message}")
    if code == "ResourceNotFoundException":
        return Unavailable(f"there is no table {table} in this account and region; deploy it, or name another")
    return Unavailable(f"DynamoDB does not answer ({code}): {message}")
