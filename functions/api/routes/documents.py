"""Documents: in, seen, read and out."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response

from functions import cursors
from functions.api import uploads
from functions.api.dependencies import Cursor, Limit, TheCaller, TheServices
from functions.api.negotiation import JSON, accepts
from functions.api.presigned import Signing
from functions.api.responses import documented, json
from functions.shapes import Document, DocumentPage, PassagePage, PassageText
from graph.documents import DocumentStatus, public
from graph.errors import InvalidRequest, NotFound
from graph.keys import key_of
from graph.ports import Passage

router = APIRouter(prefix="/documents", tags=["documents"])
_JSON = [Depends(accepts(JSON))]


@router.post(
    "",
    status_code=202,
    response_model=Document,
    responses=documented("bad_name", "too_large", "unsupported_media_type", "invalid_request"),
    openapi_extra={"requestBody": uploads.DOCUMENTED},
    dependencies=_JSON,
)
async def upload(request: Request, services: TheServices, caller: TheCaller) -> Response:
    """Put a file. What is wrong with its content is found out by ingestion, and stands in the document's `error`."""
    async with uploads.read(request) as uploaded:
        key = key_of(caller.tenant, uploaded.path)
        info = await uploads.store(uploaded, services.bucket, key)
    uri = services.bucket.uri(key)
    record = await services.documents.pending(caller.tenant, uploaded.path, info, uri=uri)
    return json(public(record), 202, {"Location": f"/documents/{record['document_id']}"})


@router.get("", response_model=DocumentPage, responses=documented("invalid_request"), dependencies=_JSON)
async def documents(
    services: TheServices,
    caller: TheCaller,
    status: Annotated[DocumentStatus | None, Query()] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """The documents that the caller may read."""
    records, place = await services.documents.list(caller.access, status=status, limit=limit, cursor=cursors.decode(cursor))
    return json({"documents": [public(record) for record in records], "next_cursor": cursors.encode(place)})


@router.get("/{document_id}", response_model=Document, responses=documented("not_found"), dependencies=_JSON)
async def document(document_id: str, services: TheServices, caller: TheCaller) -> Response:
    """A document, and how far its ingestion is."""
    return json(public(await services.documents.get(caller.access, document_id)))


@router.get(
    "/{document_id}/passages",
    response_model=PassagePage,
    responses=documented("not_found", "invalid_request"),
    dependencies=_JSON,
)
async def passages(
    document_id: str, services: TheServices, caller: TheCaller, limit: Limit = 20, cursor: Cursor = None
) -> Response:
    """The document's passages in reading order."""
    record = await services.documents.get(caller.access, document_id)
    after = _ordinal(cursor)
    found = await services.index.read(document_id, caller.access, after=after, limit=limit + 1)
    page = found[:limit]
    version = page[0]["version"] if page else record["version"]
    next_cursor = cursors.encode(str(page[-1]["ordinal"])) if len(found) > limit else None
    result: PassagePage = {
        "document_id": document_id,
        "version": version,
        "characters": record["characters"],
        "passages": [_text(passage) for passage in page],
        "next_cursor": next_cursor,
    }
    return json(result)


@router.get(
    "/{document_id}/source",
    responses=documented(
        "not_found",
        extra={
            200: {"description": "The file.", "content": {"*/*": {}}},
            307: {"description": "Where the bucket has the file, for some minutes."},
        },
    ),
)
async def source(request: Request, document_id: str, services: TheServices, caller: TheCaller) -> Response:
    """The stored file, as a download."""
    record = await services.documents.get(caller.access, document_id)
    accepts(record["content_type"], "application/octet-stream")(request)
    bucket, key = services.bucket, key_of(record["tenant"], record["path"])
    if isinstance(bucket, Signing) and await bucket.head(key) is not None:
        return Response(status_code=307, headers={"Location": await bucket.presign_get(key), "Cache-Control": "no-store"})
    body = await bucket.get(key)
    if body is None:
        raise NotFound(f"the file of document {document_id} is gone")
    name = quote(record["path"].rpartition("/")[2], safe="", errors="surrogateescape")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "X-Content-Type-Options": "nosniff"}
    return Response(body, headers={**headers, "Content-Type": record["content_type"]})


@router.delete("/{document_id}", status_code=204, responses=documented("not_found"))
async def delete_document(document_id: str, services: TheServices, caller: TheCaller) -> Response:
    """Take the document away: from here on nothing answers from it."""
    await services.documents.remove(caller.access, document_id, bucket=services.bucket, index=services.index)
    return Response(status_code=204)


def _ordinal(cursor: str | None) -> int:
    place = cursors.decode(cursor)
    if place is None:
        return -1
    if not (place.isascii() and place.isdigit()):
        raise InvalidRequest("this is not a cursor; take next_cursor of the page before", pointer="/cursor")
    return int(place)


def _text(passage: Passage) -> PassageText:
    text: PassageText = {
        "passage_id": passage["passage_id"],
        "start": passage["start"],
        "end": passage["end"],
        "text": passage["text"],
    }
    if "page" in passage:
        text["page"] = passage["page"]
    if "heading" in passage:
        text["heading"] = passage["heading"]
    return text
