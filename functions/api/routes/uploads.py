"""Presigned uploads: large files go to the bucket without passing through us."""

from fastapi import APIRouter, Depends, Response

from functions.api import uploads
from functions.api.bodies import JsonRoute
from functions.api.dependencies import TheCaller, TheServices
from functions.api.negotiation import JSON, accepts
from functions.api.presigned import Signing
from functions.api.responses import documented, json
from functions.bodies import UploadBody
from functions.shapes import PresignedUpload
from graph.content_types import type_of
from graph.documents import document_id
from graph.errors import NotFound, TooLarge
from graph.keys import check_path, key_of

router = APIRouter(prefix="/documents/uploads", tags=["documents"], route_class=JsonRoute)


@router.post(
    "",
    status_code=201,
    response_model=PresignedUpload,
    responses=documented("bad_name", "not_found", body=True),
    dependencies=[Depends(accepts(JSON))],
)
async def presign(body: UploadBody, services: TheServices, caller: TheCaller) -> Response:
    """A form with which a file is put into the bucket. In AWS only: a laptop's folder signs nothing, and answers 404."""
    bucket = services.bucket
    if not isinstance(bucket, Signing):
        raise NotFound("there are no presigned uploads on this server; put the file with POST /documents")
    check_path(body.filename)
    if body.size > uploads.LARGEST_BYTES:
        raise TooLarge(f"the file is over {uploads.LARGEST_BYTES // 1024**2} MB; split it")
    form = await bucket.presign_post(
        key_of(caller.tenant, body.filename),
        size_bytes=body.size,
        content_type=body.content_type or type_of(body.filename),
        metadata=uploads.metadata_of(body.meta or {}),
    )
    signed: PresignedUpload = {"document_id": document_id(caller.tenant, body.filename), **form}
    return json(signed, 201, {"Cache-Control": "no-store"})
