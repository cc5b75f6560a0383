"""The registry of documents, and the metadata they carry."""

import asyncio
import json

import pytest

from graph.documents import DocumentError, document_id, is_older, version_of
from graph.errors import BadName, NotFound
from graph.keys import check_path, key_of, place_of
from graph.metadata import as_text, typed
from graph.ports import Access, ObjectInfo
from tests.ingestion.parts import ANYBODY, TENANT, Laptop


def info(path: str, version: str = "1", sequencer: str = "01", **metadata: str) -> ObjectInfo:
    return ObjectInfo(
        key=key_of(TENANT, path),
        version=version,
        bytes=7,
        content_type="text/markdown",
        metadata=metadata,
        modified_at=0.0,
        sequencer=sequencer,
    )


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "en/tutorial/a.md",
        "back\\slash.md",
        "报销 2024.md",
        "emoji 👩‍💻.md",
        "x" * 255,
        "a/" * 511 + "bc",
        "a..b/c...",
        "~/a",
        "C:a",
    ],
)
def test_paths_that_documents_may_have(path: str) -> None:
    check_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "../a", "a/../b", "a/..", "./a", "a/./b", ".hidden", "a/.hidden/b", "a//b", "a/", "a\nb", "a\x00",
        "a\x7f", "a\x85b", "x" * 256, "报" * 86, "a/" * 512 + "b", "\ud800.md",
    ],
)  # fmt: skip
def test_paths_that_no_document_may_have(path: str) -> None:
    with pytest.raises(BadName):
        check_path(path)


def test_the_same_path_is_the_same_document_and_another_tenants_is_not() -> None:
    assert document_id("a", "x.md") == document_id("a", "x.md")
    assert len({document_id("a", "x.md"), document_id("b", "x.md"), document_id("a", "y.md"), document_id("a", "X.md")}) == 4
    assert document_id("a", "\u00e9") != document_id("a", "e\u0301")


def test_keys_lead_to_tenants_and_paths() -> None:
    assert place_of(key_of("acme", "a/b.md")) == ("acme", "a/b.md")
    assert [place_of(key) for key in ("uploads/acme", "uploads/acme/", "uploads/acme/f/", "other/acme/a.md", "")] == [None] * 5


def test_sequencers_compare_as_s3_defines_it() -> None:
    assert is_older("0055AED6DCD90281E4", than="0055AED6DCD90281E5")
    assert not is_older("0055AED6DCD90281E5", than="0055AED6DCD90281E5")
    assert not is_older("0055AED6", than="0055AED600")
    assert is_older("0055AED6", than="0055AED601")


async def test_a_put_that_names_no_sequencer_is_known_and_keeps_the_last_one(laptop: Laptop) -> None:
    """S3 tells the sequencer with its events only."""
    await laptop.documents.pending(TENANT, "a.md", info("a.md", "1", "02"), uri="")
    record = await laptop.documents.pending(TENANT, "a.md", info("a.md", "2", ""), uri="")
    assert (record["version"], record["sequencer"]) == (version_of(info("a.md", "2", "")), "02")


async def test_a_file_that_was_put_is_pending_until_it_is_read(laptop: Laptop) -> None:
    record = await laptop.documents.pending(TENANT, "a.md", info("a.md", year="2024"), uri="file:///a.md")

    assert (record["status"], record["meta"], record["title"], record["passages"]) == ("pending", {"year": 2024}, "a.md", 0)
    assert await laptop.documents.get(ANYBODY, record["document_id"]) == record
    assert await laptop.documents.pending(TENANT, "a.md", info("a.md"), uri="file:///a.md") == record


async def test_word_of_an_older_upload_changes_nothing(laptop: Laptop) -> None:
    new = await laptop.documents.pending(TENANT, "a.md", info("a.md", "2", "02"), uri="")

    assert await laptop.documents.pending(TENANT, "a.md", info("a.md", "1", "01"), uri="") == new


async def test_who_may_not_read_a_document_does_not_learn_of_it(laptop: Laptop) -> None:
    record = await laptop.documents.pending(TENANT, "a.md", info("a.md", groups="hr, legal"), uri="")
    name = record["document_id"]

    for stranger in (ANYBODY, Access(tenant=TENANT, groups=frozenset({"sales"})), Access(tenant="b", groups=frozenset({"hr"}))):
        assert (await laptop.documents.list(stranger))[0] == []
        with pytest.raises(NotFound):
            await laptop.documents.get(stranger, name)
        with pytest.raises(NotFound):
            await laptop.documents.remove(stranger, name, bucket=laptop.bucket, index=laptop.index)
    assert await laptop.documents.get(Access(tenant=TENANT, groups=frozenset({"hr"})), name) == record


async def test_pages_of_a_list_hold_every_document_once(laptop: Laptop) -> None:
    for number in range(25):
        groups = {"groups": "hr"} if number % 5 == 0 else {}
        await laptop.documents.pending(TENANT, f"{number}.md", info(f"{number}.md", **groups), uri="")
    paths, cursor, pages = [], None, 0
    while True:
        page, cursor = await laptop.documents.list(ANYBODY, limit=8, cursor=cursor)
        paths += [record["path"] for record in page]
        pages += 1
        if cursor is None:
            break

    assert sorted(paths) == sorted(f"{number}.md" for number in range(25) if number % 5)
    assert pages == 3
    assert await laptop.documents.list(ANYBODY, status="ready") == ([], None)
    assert len((await laptop.documents.list(ANYBODY, status="pending", limit=100))[0]) == 20


async def test_of_two_who_write_at_once_one_learns_that_it_lost(laptop: Laptop) -> None:
    record = await laptop.documents.pending(TENANT, "a.md", info("a.md"), uri="")

    stored = await asyncio.gather(*(laptop.documents.update(record, {**record, "title": str(n)}) for n in range(5)))

    assert sum(one is not None for one in stored) == 1


# --- Metadata ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("finance", "finance"),
        ("2024", 2024),
        ("-3", -3),
        ("0.5", 0.5),
        ("2.10", "2.10"),
        ("007", "007"),
        ("1e5", "1e5"),
        ("12345678901234567890", "12345678901234567890"),
        ("true", True),
        ("True", "True"),
        ("2024-03-01", "2024-03-01"),
        ('["a", "b"]', ["a", "b"]),
        ("[1, true]", ["1", "true"]),
        ('"2024"', "2024"),
        ("[unclosed", "[unclosed"),
        ('[{"a": 1}]', '[{"a": 1}]'),
        ("a, b", "a, b"),
        ("", ""),
    ],
)
def test_metadata_get_the_type_that_loses_nothing(text: str, value: object) -> None:
    meta, groups = typed({"field": text})

    assert meta == {"field": value}
    assert type(meta["field"]) is type(value)
    assert groups == []


@pytest.mark.parametrize("value", ["finance", "2024", "true", "[x]", 2024, 2.5, True, ["a", "b"], "报销", ""])
def test_values_survive_the_way_through_an_object_store(value: object) -> None:
    assert typed(as_text({"field": value}))[0] == {"field": value}


@pytest.mark.parametrize("groups", ["hr, legal", "legal,hr,", '["hr", "legal"]', ["hr", "legal"]])
def test_groups_come_as_a_list_or_with_commas(groups: object) -> None:
    assert typed(as_text({"groups": groups})) == ({}, ["hr", "legal"])


def test_metadata_may_be_anything_that_json_says() -> None:
    meta = typed(as_text({"none": None, "deep": {"a": [1]}, "nan": float("nan")}))[0]

    json.dumps(meta, allow_nan=False)
    assert meta == {"none": "null", "deep": '{"a": [1]}', "nan": "NaN"}


async def test_a_file_that_failed_for_no_fault_of_its_own_is_pending_when_it_is_put_again(laptop: Laptop) -> None:
    record = await laptop.documents.pending(TENANT, "a.md", info("a.md"), uri="")
    error: DocumentError = {"code": "internal", "message": "down", "remedy": "again"}
    await laptop.documents.update(record, {**record, "status": "failed", "error": error})

    again = await laptop.documents.pending(TENANT, "a.md", info("a.md"), uri="")

    assert again["status"] == "pending"
    assert "error" not in again
