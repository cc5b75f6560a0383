"""What every `Bucket` does."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from graph.adapters.folder import FolderBucket
from graph.errors import BadName, Unavailable
from graph.ports import Bucket, ObjectInfo

KEY = "uploads/default/guides/报销 rules + 50%.md"


@pytest.fixture(params=["folder", "s3"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    if request.param == "folder":
        return FolderBucket(tmp_path / "bucket")
    stored: Bucket = request.getfixturevalue("s3_bucket")
    return stored


async def listed(objects: AsyncIterator[ObjectInfo]) -> list[str]:
    return [info.key async for info in objects]


async def test_an_object_comes_back_with_its_metadata_and_type(bucket: Bucket) -> None:
    put = await bucket.put(KEY, b"# Rules", metadata={"department": "finance", "year": "2024"})

    assert await bucket.get(KEY) == b"# Rules"
    assert await bucket.head(KEY) == put
    assert (put.key, put.bytes, put.content_type) == (KEY, 7, "text/markdown")
    assert put.metadata == {"department": "finance", "year": "2024"}


async def test_a_content_type_that_was_given_is_kept_and_is_no_metadata(bucket: Bucket) -> None:
    put = await bucket.put("uploads/default/page", b"<p>", content_type="text/html")

    assert put.content_type == "text/html"
    assert put.metadata == {}


async def test_metadata_belong_to_a_write_not_to_a_key(bucket: Bucket) -> None:
    await bucket.put(KEY, b"1", metadata={"groups": "hr"})
    put = await bucket.put(KEY, b"2")

    assert put.metadata == {}


async def test_every_write_is_a_new_version(bucket: Bucket) -> None:
    infos = [await bucket.put(KEY, b"same") for _ in range(20)]
    await bucket.delete(KEY)
    infos.append(await bucket.put(KEY, b"same"))

    assert len({info.version for info in infos}) == 21


async def test_every_write_to_a_folder_has_a_later_sequencer(tmp_path: Path) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    infos = [await bucket.put(KEY, b"same") for _ in range(20)]
    await bucket.delete(KEY)
    infos.append(await bucket.put(KEY, b"same"))

    sequencers = [info.sequencer for info in infos]
    assert sequencers == sorted(set(sequencers))
    assert len({len(sequencer) for sequencer in sequencers}) == 1


async def test_what_is_not_there_is_none_and_can_be_deleted(bucket: Bucket) -> None:
    await bucket.delete(KEY)

    assert await bucket.get(KEY) is None
    assert await bucket.head(KEY) is None
    assert await listed(bucket.list("uploads/")) == []


async def test_a_deleted_object_is_gone_with_its_metadata(bucket: Bucket) -> None:
    await bucket.put(KEY, b"1", metadata={"a": "b"})
    await bucket.delete(KEY)

    assert await bucket.get(KEY) is None
    assert await listed(bucket.list("")) == []


async def test_lists_what_starts_with_a_prefix_in_order_of_keys(bucket: Bucket) -> None:
    for key in ("uploads/b/2.md", "uploads/a/1.md", "uploads/a/1/x.md", "uploads/ab/3.md", "other/4.md"):
        await bucket.put(key, b"", metadata={"x": "y"})

    assert await listed(bucket.list("uploads/a")) == ["uploads/a/1.md", "uploads/a/1/x.md", "uploads/ab/3.md"]
    assert await listed(bucket.list("uploads/a/")) == ["uploads/a/1.md", "uploads/a/1/x.md"]
    assert await listed(bucket.list("nowhere/")) == []


@pytest.mark.parametrize(
    "name", ["back\\slash.md", "emoji 👩‍💻.md", "报销.md", "é nfc.md", "e\u0301 nfd.md", "a#b?c&d'e\"f.md", "x" * 252 + ".md"]
)
async def test_odd_names_are_names(bucket: Bucket, name: str) -> None:
    key = f"uploads/default/{name}"
    await bucket.put(key, b"1", metadata={"a": "b"})

    info = await bucket.head(key)
    assert info is not None
    assert info.metadata == {"a": "b"}
    assert await listed(bucket.list("uploads/default/")) == [key]
    assert bucket.uri(key).startswith(("file:///", "s3://"))


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "", "a\0b", "x" * 256])
@pytest.mark.parametrize("act", [lambda b, k: b.get(k), lambda b, k: b.put(k, b""), lambda b, k: b.delete(k)])
async def test_no_key_leads_out_of_the_folder(tmp_path: Path, key: str, act: Callable[[Bucket, str], object]) -> None:
    with pytest.raises(BadName):
        await act(FolderBucket(tmp_path / "bucket"), key)  # type: ignore[misc]


async def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    await bucket.put("uploads/default/real.md", b"1")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.pem").write_text("secret")
    (tmp_path / "bucket" / "uploads" / "default" / "folder").symlink_to(tmp_path / "secret")
    (tmp_path / "bucket" / "uploads" / "default" / "file.md").symlink_to(tmp_path / "secret" / "key.pem")

    assert await bucket.get("uploads/default/file.md") is None
    assert await bucket.head("uploads/default/file.md") is None
    assert await listed(bucket.list("")) == ["uploads/default/real.md"]
    with pytest.raises(BadName):
        await bucket.get("uploads/default/folder/key.pem")


async def test_a_file_is_never_also_a_folder(tmp_path: Path) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    await bucket.put("uploads/default/a", b"1")

    with pytest.raises(BadName):
        await bucket.put("uploads/default/a/b", b"2")
    with pytest.raises(BadName):
        await bucket.put("uploads/default", b"2")


async def test_a_sidecar_written_by_hand_is_the_metadata_and_changes_the_version(tmp_path: Path) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    before = await bucket.put("uploads/default/a.md", b"1")
    sidecar = tmp_path / "bucket" / "uploads" / "default" / ".a.md.meta.json"
    sidecar.write_text(json.dumps({"year": 2024, "tags": ["x", "y"], "groups": ["hr", "legal"], "code": "2.10"}))

    after = await bucket.head("uploads/default/a.md")

    assert after is not None
    assert after.metadata == {"year": "2024", "tags": '["x", "y"]', "groups": "hr,legal", "code": "2.10"}
    assert after.version != before.version
    assert await listed(bucket.list("")) == ["uploads/default/a.md"]


@pytest.mark.parametrize("broken", ["{", "[1]", '"text"', "\x00"])
async def test_a_broken_sidecar_is_no_metadata(tmp_path: Path, broken: str) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    await bucket.put("a.md", b"1")
    (tmp_path / "bucket" / ".a.md.meta.json").write_text(broken)

    info = await bucket.head("a.md")

    assert info is not None
    assert info.metadata == {}


async def test_a_broken_write_leaves_the_old_object(tmp_path: Path) -> None:
    bucket = FolderBucket(tmp_path / "bucket")
    await bucket.put("a.md", b"old")

    with pytest.raises(TypeError):
        await bucket.put("a.md", "not bytes")  # type: ignore[arg-type]

    assert await bucket.get("a.md") == b"old"
    assert [path.name for path in (tmp_path / "bucket").iterdir()] == ["a.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which not even root may write")
async def test_a_folder_that_cannot_be_written_is_named() -> None:
    with pytest.raises(Unavailable, match="/proc/self/bucket"):
        await FolderBucket(Path("/proc/self/bucket")).put("a.md", b"1")
