"""A file's bytes to the passages of a document."""

from collections.abc import Mapping
from dataclasses import dataclass

from graph.documents import DocumentRecord
from graph.metadata import GROUPS, typed
from graph.ports import Embedder, MetaValue, Passage
from ingestion import parsers
from ingestion.chunks import chunk
from ingestion.parsed import Parsed
from ingestion.units import clip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a file says, and what is known about it."""

    parsed: Parsed
    title: str
    meta: dict[str, MetaValue]
    groups: list[str]


def read(body: bytes, record: DocumentRecord, metadata: Mapping[str, str]) -> Reading:
    """Parse a file. What is stored with the object weighs more than what the file says of itself.

    Raises:
        FileFailure: there is nothing to read in it, or nothing that can be.
    """
    parsed = parsers.parse(body, path=record["path"], content_type=record["content_type"])
    meta, groups = typed(metadata)
    meta = {**parsed.meta, **meta}
    title = str(meta.pop("title", "")).strip() or parsed.title or record["path"].rpartition("/")[2]
    return Reading(
        parsed=parsed, title=clip(title), meta=meta, groups=groups if GROUPS in metadata else parsed.groups or groups
    )


def cut(reading: Reading, record: DocumentRecord, embedder: Embedder) -> list[Passage]:
    """The passages, in reading order."""
    chunks = chunk(reading.parsed, reading.title, embedder.count_tokens, embedder.max_tokens)
    passages: list[Passage] = []
    for ordinal, one in enumerate(chunks):
        passage: Passage = {
            "passage_id": f"{record['document_id']}.{record['version'][:12]}.{ordinal}",
            "document_id": record["document_id"],
            "version": record["version"],
            "ordinal": ordinal,
            "title": reading.title,
            "path": record["path"],
            "uri": record["uri"],
            "start": one.start,
            "end": one.end,
            "text": reading.parsed.text[one.start : one.end],
            "meta": reading.meta,
        }
        if one.heading:
            passage["heading"] = one.heading
        passages.append(passage)
    return passages
