"""Presigned uploads and downloads, over a bucket that signs."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from functions.api.app import create_app
from functions.services import Services
from graph.adapters.s3 import S3Bucket
from graph.documents import Documents, document_id
from graph.settings import Settings
from graph.wiring import Wiring

BODY = {
    "filename": "guides/报销 rules.md",
    "size": 5,
    "meta": {"department": "财务", "groups": ["hr", "finance"], "year": 2026},
}


@pytest.fixture
async def services(s3_bucket: S3Bucket, tmp_path: Path) -> AsyncIterator[Services]:
    wiring = Wiring(Settings(home=tmp_path))
    wiring.bucket = s3_bucket
    yield Services(wiring, kind="test")
    await wiring.close()


@pytest.fixture
async def http(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://footnote") as client:
        yield client


async def test_a_form_puts_the_file_where_its_document_belongs(http: httpx.AsyncClient, s3_bucket: S3Bucket) -> None:
    answer = await http.post("/documents/uploads", json=BODY)
    assert answer.status_code == 201, answer.text
    form = answer.json()
    assert set(form) == {"document_id", "url", "fields", "expires_in"}
    assert form["document_id"] == document_id("default", str(BODY["filename"]))

    async with httpx.AsyncClient(trust_env=False) as browser:
        sent = await browser.post(form["url"], data=form["fields"], files={"file": ("x.md", b"hello")})
        longer = await browser.post(form["url"], data=form["fields"], files={"file": ("x.md", b"hello, world")})

    assert (sent.status_code, longer.status_code) == (201, 400)
    info = await s3_bucket.head(f"uploads/default/{BODY['filename']}")
    assert info is not None
    assert (info.bytes, info.content_type) == (5, "text/markdown")
    assert info.metadata == {"department": "财务", "groups": "hr,finance", "year": "2026"}


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"filename": "../x.md"}, 422, "bad_name"),
        ({"filename": "a/.hidden"}, 422, "bad_name"),
        ({"filename": "${filename}"}, 422, "bad_name"),
        ({"filename": "x" * 256}, 422, "bad_name"),
        ({"size": 100 * 1024 * 1024 + 1}, 413, "too_large"),
        ({"size": -1}, 422, "invalid_request"),
        ({"size": "5"}, 422, "invalid_request"),
        ({"content_type": "text/html\r\nx: y"}, 422, "invalid_request"),
        ({"meta": {"a": {"b": 1}}}, 422, "invalid_request"),
        ({"meta": {"a": "x" * 3000}}, 413, "too_large"),
    ],
)
async def test_what_no_document_may_be_is_refused_before_it_is_sent(
    http: httpx.AsyncClient, change: dict[str, object], status: int, code: str
) -> None:
    answer = await http.post("/documents/uploads", json=BODY | change)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_the_source_of_a_document_comes_from_the_bucket(
    http: httpx.AsyncClient, services: Services, s3_bucket: S3Bucket
) -> None:
    info = await s3_bucket.put("uploads/default/a.md", b"hello")
    record = await Documents(services.wiring.table).pending("default", "a.md", info, uri=s3_bucket.uri(info.key))
    source = f"/documents/{record['document_id']}/source"

    answer = await http.get(source)

    assert answer.status_code == 307
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(answer.headers["Location"])).content == b"hello"
    await s3_bucket.delete("uploads/default/a.md")
    assert (await http.get(source)).status_code == 404
