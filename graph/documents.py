"""The registry of documents: one record per path, on a `Table`."""

import hashlib
from typing import Literal, NotRequired, TypedDict

from graph.ports import MetaValue

DocumentStatus = Literal["pending", "processing", "ready", "failed"]
Stage = Literal["parsing", "chunking", "embedding", "indexing"]
DocumentErrorCode = Literal[
    "unsupported_format", "no_text", "empty", "encrypted", "damaged", "too_large", "too_many_pages", "expansion_limit",
    "timeout", "memory_limit", "nested_archive", "bad_name", "internal",
]  # fmt: skip


class DocumentError(TypedDict):
    """Why a file is not answerable, and what to do."""

    code: DocumentErrorCode
    message: str
    remedy: str


class DocumentRecord(TypedDict):
    """What `GET /documents/{id}` shows, and what ingestion must remember."""

    document_id: str
    title: str
    path: str
    uri: str
    status: DocumentStatus
    stage: NotRequired[Stage]
    progress: NotRequired[float]
    version: str
    bytes: int
    content_type: str
    pages: NotRequired[int]
    passages: int
    characters: int
    meta: dict[str, MetaValue]
    groups: list[str]
    error: NotRequired[DocumentError]
    warnings: list[str]
    created_at: str
    updated_at: str
    sequencer: str
    """Of the last event that was applied; older events are ignored."""
    deleted: NotRequired[bool]
    """A tombstone: it keeps the sequencer so that a late event does not bring the document back."""


def document_id(tenant: str, path: str) -> str:
    """The id of the document at a path: the same path is the same document."""
    return "d_" + hashlib.sha256(f"{tenant}/{path}".encode()).hexdigest()[:24]
