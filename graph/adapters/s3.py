"""The bucket on S3. With versioning on, as the stack deploys it, every write is a version of its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import Any, TypedDict
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError

from graph.adapters import boto
from graph.adapters.s3_metadata import from_headers, to_headers
from graph.content_types import type_of
from graph.errors import BadName, FootnoteError, TooLarge, Unavailable
from graph.ports import Json, ObjectInfo

_LONGEST_KEY_BYTES = 1024
_LARGEST_METADATA_BYTES = 2048
_HEADS_AT_ONCE = 16
_ABSENT = frozenset({"404", "405", "NoSuchKey", "NoSuchVersion", "MethodNotAllowed"})
"""405 answers for a delete marker that is asked for by its version."""


class PresignedPost(TypedDict):
    """A form that uploads one object: a POST of ``fields``, then the file as ``file``, to ``url``."""

    url: str
    fields: dict[str, str]
    expires_in: int
    """Seconds."""


class S3Bucket:
    """Objects of one bucket.

    S3 shows a write's sequencer in the event about it only, so that of an `ObjectInfo` is empty: older than any event.
    """

    def __init__(self, name: str, *, client: Any = None) -> None:
        self._name = name
        self._given = client

    async def put(
        self, key: str, body: bytes, *, metadata: Mapping[str, str] | None = None, content_type: str | None = None
    ) -> ObjectInfo:
        return await asyncio.to_thread(self._put, key, body, metadata or {}, content_type or type_of(key))

    async def get(self, key: str) -> bytes | None:
        return await asyncio.to_thread(self._get, key)

    async def head(self, key: str) -> ObjectInfo | None:
        return await asyncio.to_thread(self._head, key)

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._call, "delete_object", key)

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        token: Json = {}
        while True:
            page = await asyncio.to_thread(self._page, prefix, token)
            for info in await asyncio.gather(*(self.head(found["Key"]) for found in page.get("Contents", ()))):
                if info is not None:  # a listing has no metadata, so each object is asked for
                    yield info
            if "NextContinuationToken" not in page:
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def uri(self, key: str) -> str:
        return f"s3://{self._name}/{key}"

    async def presign_post(
        self, key: str, *, size_bytes: int, content_type: str, metadata: Mapping[str, str], expires_s: int = 900
    ) -> PresignedPost:
        """A form with which somebody without credentials uploads exactly this: key, size, type and metadata.

        Raises:
            BadName: S3 would replace a part of the key.
        """
        if "${filename}" in key:
            raise BadName("S3 puts the name of the file in place of ${filename}; rename it")
        headers = {f"x-amz-meta-{name}": value for name, value in _headers(metadata).items()}
        fields = {"Content-Type": content_type, "success_action_status": "201"} | headers
        conditions = [["content-length-range", size_bytes, size_bytes], *({name: fields[name]} for name in fields)]
        form = await asyncio.to_thread(
            self._call, "generate_presigned_post", key, Fields=fields, Conditions=conditions, ExpiresIn=expires_s
        )
        return {"url": form["url"], "fields": form["fields"], "expires_in": expires_s}

    async def presign_get(self, key: str, *, expires_s: int = 300) -> str:
        """A URL that downloads the object under its own name."""
        name = quote(key.rpartition("/")[2], safe="")
        asked = {"Bucket": self._name, "Key": key, "ResponseContentDisposition": f"attachment; filename*=UTF-8''{name}"}
        url: str = await asyncio.to_thread(self._client.generate_presigned_url, "get_object", asked, expires_s)
        return url

    @cached_property
    def _client(self) -> Any:
        return boto.client("s3") if self._given is None else self._given

    def _put(self, key: str, body: bytes, metadata: Mapping[str, str], content_type: str) -> ObjectInfo:
        stored = self._call("put_object", key, Body=body, Metadata=_headers(metadata), ContentType=content_type)
        info = self._head(key, **({"VersionId": stored["VersionId"]} if "VersionId" in stored else {}))
        if info is None:
            raise BadName(f"{key!r} was removed while it was written")
        return info

    def _get(self, key: str) -> bytes | None:
        found = self._call("get_object", key)
        if found is None:
            return None
        with found["Body"] as body:
            content: bytes = body.read()
        return content

    def _head(self, key: str, **version: str) -> ObjectInfo | None:
        found = self._call("head_object", key, **version)
        return None if found is None else _info(key, found)

    def _page(self, prefix: str, token: Json) -> Any:
        return self._answer("list_objects_v2", Prefix=prefix, MaxKeys=_HEADS_AT_ONCE, **token)

    def _call(self, operation: str, key: str, **arguments: Any) -> Any:
        """What the operation answers about a key; None where there is no such object.

        Raises:
            BadName: no object may have this key.
        """
        if not 0 < len(key.encode(errors="replace")) <= _LONGEST_KEY_BYTES or not _is_text(key):
            raise BadName(f"a key has 1 to {_LONGEST_KEY_BYTES} bytes of UTF-8; rename it")
        return self._answer(operation, Key=key, **arguments)

    def _answer(self, operation: str, **arguments: Any) -> Any:
        try:
            return getattr(self._client, operation)(Bucket=self._name, **arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] in _ABSENT:
                return None
            raise _named(error.response["Error"], self._name) from error
        except BotoCoreError as error:
            raise Unavailable(f"S3 does not answer: {error}. Try again.") from error


def _is_text(key: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in key)


def _headers(metadata: Mapping[str, str]) -> dict[str, str]:
    """The metadata's headers; S3 would refuse too many only once the whole file was sent."""
    headers = to_headers(metadata)
    if sum(len(name) + len(value) for name, value in headers.items()) > _LARGEST_METADATA_BYTES:
        raise TooLarge("an object's metadata may have 2 KB, of which other scripts take more; shorten names and values")
    return headers


def _info(key: str, head: Any) -> ObjectInfo:
    modified = head["LastModified"].timestamp()
    return ObjectInfo(
        key=key,
        version=head.get("VersionId") or f"{head['ETag']}/{modified}",
        bytes=head["ContentLength"],
        content_type=head.get("ContentType") or type_of(key),
        metadata=from_headers(head.get("Metadata", {})),
        modified_at=modified,
        sequencer="",
    )


def _named(error: Json, bucket: str) -> FootnoteError:
    code, message = error["Code"], error.get("Message", "")
    if code == "NoSuchBucket":
        return Unavailable(f"there is no bucket {bucket}; deploy it, or name another")
    return Unavailable(f"S3 does not answer ({code}): {message}")
