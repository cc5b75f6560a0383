"""The registry of documents: one record per path, on a `Table`."""

import asyncio
import hashlib
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Literal, NotRequired, TypedDict, cast

from graph.errors import NotFound
from graph.keys import check_path, key_of
from graph.metadata import typed
from graph.ports import Absent, Access, Bucket, Equals, Item, Json, MetaValue, ObjectInfo, PassageIndex, Table

DocumentStatus = Literal["pending", "processing", "ready", "failed"]
Stage = Literal["parsing", "chunking", "embedding", "indexing"]
DocumentErrorCode = Literal[
    "unsupported_format", "no_text", "empty", "encrypted", "damaged", "too_large", "too_many_pages", "expansion_limit",
    "timeout", "memory_limit", "nested_archive", "bad_name", "internal",
]  # fmt: skip

READING = "1"
"""Goes up when the same bytes give other text or other passages than before: every document is then read anew."""
_TOMBSTONE_DAYS = 30  # S3 retries an event for a day, a queue keeps one for 14
_PUBLISHING_S = 2.0
_POLL_S = 0.05
_PAGE = 100
_PUBLIC = (
    "document_id", "title", "path", "uri", "status", "stage", "progress", "version", "bytes", "content_type", "pages",
    "passages", "meta", "error", "warnings", "created_at", "updated_at",
)  # fmt: skip


class DocumentError(TypedDict):
    """Why a file is not answerable, and what to do."""

    code: DocumentErrorCode
    message: str
    remedy: str


class DocumentRecord(TypedDict):
    """What `GET /documents/{id}` shows, and what ingestion must remember."""

    document_id: str
    tenant: str
    title: str
    path: str
    uri: str
    status: DocumentStatus
    stage: NotRequired[Stage]
    progress: NotRequired[float]
    """From 0 to 1."""
    version: str
    bytes: int
    content_type: str
    pages: NotRequired[int]
    passages: int
    """Passages that answer now: while a new version is read, those of the old one."""
    characters: int
    meta: dict[str, MetaValue]
    groups: list[str]
    error: NotRequired[DocumentError]
    warnings: list[str]
    created_at: str
    updated_at: str
    sequencer: str
    """Of the newest event that was applied."""
    deleted: NotRequired[bool]
    """A tombstone: it keeps the sequencer so that a late event does not bring the document back."""
    revision: str
    """Changes with every write: who writes proves that nobody else did since they read."""


def document_id(tenant: str, path: str) -> str:
    """The id of the document at a path: the same path is the same document."""
    return "d_" + hashlib.sha256(f"{tenant}/{path}".encode(errors="surrogateescape")).hexdigest()[:24]


def version_of(info: ObjectInfo) -> str:
    """The version of the document that an object holds."""
    return hashlib.sha256(f"{READING}/{info.version}".encode()).hexdigest()[:32]


def is_older(sequencer: str, than: str) -> bool:
    """Whether an event came before another one of the same key, as S3 defines it (the shorter padded with zeros)."""
    width = max(len(sequencer), len(than))
    return sequencer.ljust(width, "0") < than.ljust(width, "0")


def is_settled(record: DocumentRecord, info: ObjectInfo) -> bool:
    """Whether the document already says what its object does, or why it cannot."""
    final = record["status"] in ("ready", "failed") and not _failed_us(record)
    return final and not record.get("deleted") and record["version"] == version_of(info)


def _failed_us(record: DocumentRecord) -> bool:
    """Whether it was not the file's fault, so that another try may succeed."""
    return record["status"] == "failed" and record["error"]["code"] == "internal"


def public(record: DocumentRecord) -> Json:
    """The document as clients see it."""
    fields = cast("Json", record)
    return {name: fields[name] for name in _PUBLIC if name in fields}


def fresh(tenant: str, path: str, info: ObjectInfo, *, uri: str, previous: DocumentRecord | None = None) -> DocumentRecord:
    """A record for an object that has not been read yet; its earlier version goes on answering until then."""
    meta, groups = typed(info.metadata)
    old = previous if previous is not None and not previous.get("deleted") else None
    now = _now()
    shown = path.encode(errors="replace").decode()  # names on disk need not be Unicode
    return {
        "document_id": document_id(tenant, path),
        "tenant": tenant,
        "title": old["title"] if old else shown.rpartition("/")[2],
        "path": shown,
        "uri": uri,
        "status": "pending",
        "version": version_of(info),
        "bytes": info.bytes,
        "content_type": info.content_type,
        "passages": old["passages"] if old else 0,
        "characters": old["characters"] if old else 0,
        "meta": meta,
        "groups": groups or (old["groups"] if old else []),  # the file itself may name them: until it is read the old ones hold
        "warnings": [],
        "created_at": old["created_at"] if old else now,
        "updated_at": now,
        "sequencer": info.sequencer or (previous["sequencer"] if previous else ""),  # S3 tells it with events only
        "revision": "",
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _may_read(access: Access, record: DocumentRecord) -> bool:
    return not record.get("deleted") and (not record["groups"] or not access.groups.isdisjoint(record["groups"]))


class Documents:
    """The documents of every tenant."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def get(self, access: Access, document_id: str) -> DocumentRecord:
        """A document that the caller may read.

        Raises:
            NotFound: there is none.
        """
        record = await self.find(access.tenant, document_id)
        if record is None or not _may_read(access, record):
            raise NotFound(f"there is no document {document_id}")
        return record

    async def list(
        self, access: Access, *, status: DocumentStatus | None = None, limit: int = 20, cursor: str | None = None
    ) -> tuple[list[DocumentRecord], str | None]:
        """A page of the documents that the caller may read, ordered by id, and the cursor of the next page."""
        page: list[DocumentRecord] = []
        async for record in self.every(access.tenant, after=cursor):
            if not _may_read(access, record) or status not in (None, record["status"]):
                continue
            if len(page) == limit:
                return page, page[-1]["document_id"]
            page.append(record)
        return page, None

    async def every(self, tenant: str, *, after: str | None = None) -> AsyncIterator[DocumentRecord]:
        """All records of a tenant, tombstones too."""
        while items := await self._table.query(_partition(tenant), after=after, limit=_PAGE):
            for item in items:
                yield cast("DocumentRecord", item.value)
            after = items[-1].sk

    async def find(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """The record, a tombstone too, whoever may read the document."""
        item = await self._table.get(_partition(tenant), document_id)
        return None if item is None else cast("DocumentRecord", item.value)

    async def at_rest(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """The record, once no version is just being published (or whoever did so must have died)."""
        deadline = time.monotonic() + _PUBLISHING_S
        while record := await self.find(tenant, document_id):
            if record.get("stage") != "indexing" or time.monotonic() > deadline:
                return record
            await asyncio.sleep(_POLL_S)
        return None

    async def pending(self, tenant: str, path: str, info: ObjectInfo, *, uri: str) -> DocumentRecord:
        """Make known that an object was put, unless ingestion knows it, or a newer one, already.

        Raises:
            BadName: no document may have this path.
        """
        check_path(path)
        while True:
            previous = await self.find(tenant, document_id(tenant, path))
            if previous is not None and not previous.get("deleted") and _is_known(previous, info):
                return previous
            stored = await self.update(previous, fresh(tenant, path, info, uri=uri, previous=previous))
            if stored is not None:
                return stored

    async def update(self, previous: DocumentRecord | None, record: DocumentRecord) -> DocumentRecord | None:
        """Store the record in place of ``previous``; None, and nothing stored, when that is not what is stored now."""
        stored: DocumentRecord = {**record, "updated_at": _now(), "revision": uuid.uuid4().hex}
        days = _TOMBSTONE_DAYS if record.get("deleted") else None
        item = Item(
            pk=_partition(record["tenant"]),
            sk=record["document_id"],
            value=cast("Json", stored),
            expires_at=None if days is None else int(time.time()) + days * 86400,
        )
        condition = Absent() if previous is None else Equals({"revision": previous["revision"]})
        return stored if await self._table.put(item, condition=condition) else None

    async def remove(self, access: Access, document_id: str, *, bucket: Bucket, index: PassageIndex) -> None:
        """Take a document away: from here on nothing answers from it, and a late event does not bring it back.

        Raises:
            NotFound: there is none that the caller may read.
        """
        record = await self.get(access, document_id)
        await bucket.delete(key_of(record["tenant"], record["path"]))
        await self.tombstone(record["tenant"], document_id, index=index)

    async def tombstone(self, tenant: str, document_id: str, *, index: PassageIndex, sequencer: str = "") -> None:
        """Leave a tombstone in the document's place, and nothing of it in the index. Not there: nothing happens."""
        while True:
            record = await self.at_rest(tenant, document_id)
            if record is None or record.get("deleted"):
                return
            held = await self.update(record, {**record, "stage": "indexing"})  # whoever puts the file anew waits
            if held is None:
                continue
            await index.remove(document_id)
            newest = sequencer if is_older(held["sequencer"], than=sequencer) else held["sequencer"]
            gone: DocumentRecord = {**held, "deleted": True, "passages": 0, "characters": 0, "sequencer": newest}
            gone.pop("stage", None)
            if await self.update(held, gone):
                return


def _partition(tenant: str) -> str:
    return f"documents#{tenant}"


def _is_known(record: DocumentRecord, info: ObjectInfo) -> bool:
    same = record["version"] == version_of(info) and not _failed_us(record)
    return same or (info.sequencer != "" and is_older(info.sequencer, than=record["sequencer"]))
