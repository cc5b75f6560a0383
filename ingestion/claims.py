"""Who may write a document's record while its file is read."""

import time
from typing import TypedDict, Unpack

from graph.documents import DocumentError, DocumentRecord, Documents, DocumentStatus, Stage
from graph.ports import Document, MetaValue, ObjectInfo

_PROGRESS_EVERY_S = 0.5


class Superseded(Exception):
    """Somebody else wrote the record: a newer version, a removal, or a second worker with the same event."""


class _Changes(TypedDict, total=False):
    status: DocumentStatus
    stage: Stage
    progress: float
    passages: int
    characters: int
    title: str
    meta: dict[str, MetaValue]
    groups: list[str]
    error: DocumentError
    warnings: list[str]


class Claim:
    """The right to write one document's record, until somebody else does."""

    def __init__(self, documents: Documents, record: DocumentRecord, info: ObjectInfo) -> None:
        self._documents = documents
        self._told_at = time.monotonic()
        self.record = record
        self.info = info

    async def advance(self, **changes: Unpack[_Changes]) -> None:
        """Write what has changed.

        Raises:
            Superseded: somebody else has written.
        """
        record: DocumentRecord = {**self.record, **changes}
        if record["status"] != "processing":
            record.pop("stage", None)
            record.pop("progress", None)
        stored = await self._documents.update(self.record, record)
        if stored is None:
            raise Superseded
        self.record, self._told_at = stored, time.monotonic()

    async def tell(self, progress: float) -> None:
        """Advance the progress, now and then."""
        if time.monotonic() - self._told_at > _PROGRESS_EVERY_S:
            await self.advance(progress=round(progress, 2))

    @property
    def document(self) -> Document:
        """The version that is being read."""
        record = self.record
        return Document(
            document_id=record["document_id"],
            version=record["version"],
            tenant=record["tenant"],
            groups=frozenset(record["groups"]),
        )
