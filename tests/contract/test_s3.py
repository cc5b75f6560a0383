"""What S3 adds to the contract of `Bucket`: headers, forms, versions."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from graph.adapters import boto
from graph.adapters.s3 import S3Bucket
from graph.adapters.s3_metadata import from_headers, to_headers
from graph.errors import BadName, TooLarge, Unavailable

KEY = "uploads/default/guides/报销 rules + 50%.md"
METADATA = {
    "department": "finance",
    "Owner": "Zoë",
    "部门": "财务",
    "note": "  spaces, and a\nline ",
    "looks": "=?UTF-8?B?not-really?=",
    "long": "一二三四五六七八九十" * 12,
    "emoji": "👩‍💻" * 9,
    "empty": "",
    "50%": "100%",
}


@pytest.fixture
def client(aws: dict[str, Any]) -> Iterator[object]:
    made = boto.build("s3", **aws)
    yield made
    made.close()


async def test_metadata_of_any_script_come_back_as_they_were(s3_bucket: S3Bucket) -> None:
    put = await s3_bucket.put(KEY, b"", metadata=METADATA)

    assert put.metadata == METADATA
    assert await s3_bucket.head(KEY) == put


def test_headers_are_ascii_without_capitals_and_encoded_words_within_75_characters() -> None:
    headers = to_headers(METADATA)

    assert all(name == name.lower() and f"{name}{value}".isascii() for name, value in headers.items())
    assert all(len(word) <= 75 for value in headers.values() for word in value.split(" ") if word.startswith("=?"))
    assert headers["department"] == "finance"


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("=?UTF-8?Q?Zo=C3=AB_K?=", "Zoë K"),  # as S3 writes what a console was given
        ("=?UTF-8?B?5oql?= =?UTF-8?B?6ZSA?=", "报销"),
        ("=?no-such-charset?B?5oql?=", "=?no-such-charset?B?5oql?="),
        ("=?UTF-8?B?5?=", "=?UTF-8?B?5?="),
        ("plain = text?", "plain = text?"),
    ],
)
def test_values_are_read_as_others_write_them(header: str, text: str) -> None:
    assert from_headers({"name": header}) == {"name": text}


async def test_metadata_over_2_kb_are_refused_by_name(s3_bucket: S3Bucket) -> None:
    with pytest.raises(TooLarge, match="2 KB"):
        await s3_bucket.put(KEY, b"", metadata={"a": "x" * 3000})


async def test_a_deleted_version_is_not_there(s3_bucket: S3Bucket) -> None:
    await s3_bucket.put(KEY, b"1")
    await s3_bucket.delete(KEY)

    assert await s3_bucket.head(KEY) is None


async def test_a_listing_reads_on_past_a_page(s3_bucket: S3Bucket) -> None:
    keys = [f"uploads/default/{n:02d}.md" for n in range(40)]
    for key in keys:
        await s3_bucket.put(key, b"", metadata={"n": key})

    infos = [info async for info in s3_bucket.list("uploads/")]

    assert [info.key for info in infos] == keys
    assert [info.metadata["n"] for info in infos] == keys


async def test_a_missing_bucket_is_named(client: object) -> None:
    with pytest.raises(Unavailable, match="no bucket elsewhere"):
        await S3Bucket("elsewhere", client=client).put(KEY, b"")


@pytest.mark.parametrize("key", ["", "x" * 1025, "中" * 342, "\ud800"])
async def test_a_key_that_s3_cannot_have_is_refused(s3_bucket: S3Bucket, key: str) -> None:
    with pytest.raises(BadName):
        await s3_bucket.put(key, b"")


async def test_a_form_uploads_what_it_was_made_for(s3_bucket: S3Bucket) -> None:
    form = await s3_bucket.presign_post(KEY, size_bytes=5, content_type="text/markdown", metadata=METADATA, expires_s=60)

    answer = await _post(form["url"], form["fields"], b"hello")

    assert answer == 201
    info = await s3_bucket.head(KEY)
    assert info is not None
    assert (info.bytes, info.content_type, info.metadata) == (5, "text/markdown", METADATA)
    assert form["expires_in"] == 60


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({}, b"longer than it was said to be"),
        ({}, b"less"),
        ({"Content-Type": "text/html"}, b"hello"),
        ({"key": "uploads/other-tenant/x.md"}, b"hello"),
        ({"x-amz-meta-groups": "everybody"}, b"hello"),
    ],
)
async def test_a_form_uploads_nothing_else(s3_bucket: S3Bucket, fields: dict[str, str], body: bytes) -> None:
    form = await s3_bucket.presign_post(
        KEY, size_bytes=5, content_type="text/markdown", metadata={"groups": "hr"}, expires_s=60
    )

    assert 400 <= await _post(form["url"], form["fields"] | fields, body) < 500
    assert [info async for info in s3_bucket.list("")] == []


async def test_a_form_for_a_key_that_s3_would_change_is_refused(s3_bucket: S3Bucket) -> None:
    with pytest.raises(BadName, match="filename"):
        await s3_bucket.presign_post("uploads/default/${filename}", size_bytes=1, content_type="text/plain", metadata={})


async def test_a_download_has_the_name_of_the_object(s3_bucket: S3Bucket) -> None:
    await s3_bucket.put(KEY, b"hello")

    async with httpx.AsyncClient() as http:
        answer = await http.get(await s3_bucket.presign_get(KEY))

    assert answer.content == b"hello"
    assert answer.headers["Content-Disposition"] == ("attachment; filename*=UTF-8''%E6%8A%A5%E9%94%80%20rules%20%2B%2050%25.md")


async def _post(url: str, fields: dict[str, str], body: bytes) -> int:
    async with httpx.AsyncClient() as http:
        answer = await http.post(url, data=fields, files={"file": ("x.md", body)})
    return answer.status_code
