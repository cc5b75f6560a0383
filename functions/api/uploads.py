"""Files that come as multipart forms: on disk while they arrive, in memory only one at a time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from functions import wire
from functions.api.bodies import check_type
from functions.errors import MalformedJson
from graph.errors import BadName, InvalidRequest, TooLarge
from graph.keys import check_path
from graph.metadata import as_text
from graph.ports import Bucket, ObjectInfo

LARGEST_BYTES = 100 * 1024 * 1024
"""Of a file that ingestion reads."""
_one_at_a_time = asyncio.Semaphore(1)
_NO_TYPE = ("", "application/octet-stream")
DOCUMENTED: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "description": "Its file name is the path; folders stay."},
                    "meta": {"type": "string", "description": "A JSON object: the document's metadata."},
                },
            }
        }
    },
}


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that arrived."""

    path: str
    file: UploadFile
    metadata: dict[str, str]
    content_type: str | None


@asynccontextmanager
async def read(request: Request) -> AsyncIterator[Upload]:
    """The file of a request, for as long as it is needed.

    Raises:
        UnsupportedMediaType, TooLarge, BadName, MalformedJson, InvalidRequest
    """
    check_type(request, "multipart/form-data")
    try:
        form = await request.form(max_files=1, max_fields=8)
    except HTTPException as error:
        raise InvalidRequest(f"the form cannot be read: {error.detail}") from None
    try:
        yield _upload(form, request.app.state.file_limit_bytes)
    finally:
        await form.close()


async def store(upload: Upload, bucket: Bucket, key: str) -> ObjectInfo:
    """Put the file in the bucket, which takes it as a whole: so one file at a time."""
    async with _one_at_a_time:
        body = await upload.file.read()
        return await bucket.put(key, body, metadata=upload.metadata, content_type=upload.content_type)


def _upload(form: FormData, limit_bytes: int) -> Upload:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InvalidRequest("the form needs a file in its field 'file', with a file name", pointer="/file")
    path = _path(file)
    check_path(path)
    if (file.size or 0) > limit_bytes:
        raise TooLarge(f"the file is over {limit_bytes // 1024**2} MB; split it")
    sent = (file.content_type or "").partition(";")[0].strip().lower()
    return Upload(path=path, file=file, metadata=_metadata(form.get("meta")), content_type=None if sent in _NO_TYPE else sent)


def _path(file: UploadFile) -> str:
    disposition = file.headers.get("content-disposition", "")
    try:
        disposition.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise BadName("the name is not UTF-8; rename the file") from None
    return file.filename or ""


def _metadata(meta: object) -> dict[str, str]:
    if meta is None or meta == "":
        return {}
    if not isinstance(meta, str):
        raise InvalidRequest("meta must be a text field that holds a JSON object", pointer="/meta")
    try:
        parsed = wire.loads(meta)
    except MalformedJson as error:
        raise InvalidRequest(f"meta is not a JSON object ({error})", pointer="/meta") from None
    if not isinstance(parsed, dict):
        raise InvalidRequest("meta must be a JSON object", pointer="/meta")
    return metadata_of(parsed)


def metadata_of(meta: Mapping[str, object]) -> dict[str, str]:
    """Metadata as they are stored with the object.

    Raises:
        InvalidRequest: a name or a value cannot be.
    """
    for name, value in meta.items():
        _check(name, value)
    return as_text(meta)


def _check(name: str, value: object) -> None:
    if not name or not name.isprintable():
        raise InvalidRequest("a name in meta is empty or holds control characters", pointer="/meta")
    texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if not texts and not isinstance(value, str | int | float | bool):
        raise InvalidRequest("a text, a number, true, false or a list of texts is needed", pointer=f"/meta/{name}")
