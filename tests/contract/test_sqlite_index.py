"""What SQLite adds to the contract of `PassageIndex`: one file, many processes, arms that break on their own."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from graph.adapters.sqlite_index import SQLiteIndex, writing
from graph.errors import IndexUnavailable, InvalidSetting
from graph.ports import ArmHits, IndexQuery
from tests.contract import indexing
from tests.contract.passages import ACCESS, document, found, publish, stage, vector

WHOLE = indexing.BATCHES * indexing.BATCH


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.sqlite"


@asynccontextmanager
async def opened(file: Path) -> AsyncIterator[SQLiteIndex]:
    index = SQLiteIndex(file)
    try:
        yield index
    finally:
        await index.close()


@pytest.fixture
async def index(file: Path) -> AsyncIterator[SQLiteIndex]:
    async with opened(file) as index:
        yield index


@contextmanager
def writer(file: Path, document_id: str = "d") -> Iterator["subprocess.Popen[str]"]:
    """Another process that publishes version after version; killed at the end."""
    command = [sys.executable, "-m", "tests.contract.indexing", str(file), document_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own program
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdout is not None
    for printed in process.stdout:
        if printed.startswith(line):
            return
    pytest.fail(f"the writer ended before it {line}")


async def rule(index: SQLiteIndex) -> ArmHits:
    (hits,) = await index.search([IndexQuery(text="rule", vector=vector(0))], ACCESS, size=200)
    return hits


# --- other processes --------------------------------------------------------------------------------------------------


async def test_searches_see_whole_versions_while_another_process_writes(file: Path, index: SQLiteIndex) -> None:
    versions: set[str] = set()
    with writer(file) as process:
        await asyncio.to_thread(wait_for, process, "published")
        while len(versions) < 10:
            for hits in await asyncio.gather(*(rule(index) for _ in range(4))):
                seen = [{hit.passage["version"] for hit in arm} for arm in (hits.bm25, hits.knn)]
                assert (len(seen[0]), len(hits.bm25), len(hits.knn)) == (1, WHOLE, WHOLE)
                assert seen[0] == seen[1]
                versions |= seen[0]


async def test_several_processes_and_threads_write_at_once(file: Path, index: SQLiteIndex) -> None:
    with writer(file, "a") as first, writer(file, "b") as second:
        for n in range(15):
            await publish(index, document("c", version=f"{n}"), [f"rule {n}"])
        for process in (first, second):
            await asyncio.to_thread(wait_for, process, "published 3")
        await publish(index, document("c", version="last"), ["rule last"])

    hits = await rule(index)
    assert sorted(hit.passage["document_id"] for hit in hits.bm25) == ["a"] * WHOLE + ["b"] * WHOLE + ["c"]


@pytest.mark.parametrize("line", ["staged 1", "published 1", "staged 3", "published 3"])
async def test_a_process_killed_at_any_time_leaves_no_half_document(file: Path, index: SQLiteIndex, line: str) -> None:
    with writer(file) as process:
        await asyncio.to_thread(wait_for, process, line)
        process.send_signal(signal.SIGKILL)
        process.wait()

    hits = await rule(index)
    assert len(hits.bm25) == len(hits.knn)
    assert len(hits.bm25) in ({0, WHOLE} if line == "staged 1" else {WHOLE})
    assert len({hit.passage["version"] for hit in hits.bm25}) <= 1
    await publish(index, document(version="after"), ["rule after"])
    assert [hit.passage["text"] for hit in (await rule(index)).bm25] == ["rule after"]
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT document) FROM passages").fetchone() == (1, 1)
    connection.close()


async def test_what_one_process_published_another_one_finds(file: Path, index: SQLiteIndex) -> None:
    async with opened(file) as other:
        for n in range(3):
            await publish(index, document(f"d{n}"), [f"rule {n}"])
            hits = await rule(other)
            assert len(hits.bm25) == len(hits.knn) == n + 1
        await index.remove("d1")
        assert {hit.passage["text"] for hit in (await rule(other)).knn} == {"rule 0", "rule 2"}


async def test_a_reader_that_missed_more_changes_than_are_kept_reads_everything(
    file: Path, index: SQLiteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_REMEMBERED_CHANGES", 2)
    async with opened(file) as late:
        await publish(index, document("first"), ["rule first"])
        assert len((await rule(late)).knn) == 1
        await index.remove("first")
        for n in range(6):
            await publish(index, document(f"d{n}"), [f"rule {n}"])

        assert {hit.passage["text"] for hit in (await rule(late)).knn} == {f"rule {n}" for n in range(6)}


async def test_everything_is_there_after_a_restart(file: Path, index: SQLiteIndex) -> None:
    await publish(index, document(), ["a rule"])
    await stage(index, document("staged"), ["a staged rule"])
    await index.close()

    async with opened(file) as again:
        assert await found(again, "rule") == (["a rule"], ["a rule"])
        await again.publish(document("staged"))
        assert set((await found(again, "rule"))[1]) == {"a rule", "a staged rule"}


# --- what can break ---------------------------------------------------------------------------------------------------


def damage(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("DROP TABLE terms", "bm25"),
        ("DELETE FROM terms_data", "bm25"),
        ("DROP TABLE vectors", "knn"),
        ("DELETE FROM vectors WHERE passage = 1", "knn"),
        ("UPDATE vectors SET vector = x'0000' WHERE passage = 1", "knn"),
    ],
)
async def test_an_arm_that_breaks_leaves_the_other(file: Path, index: SQLiteIndex, statement: str, broken: str) -> None:
    await publish(index, document(), ["a rule", "another rule"])
    damage(file, statement)

    async with opened(file) as damaged:
        hits = await rule(damaged)

    assert hits.degraded == [broken]
    assert (len(hits.bm25), len(hits.knn)) == ((0, 2) if broken == "bm25" else (2, 0))


async def test_without_any_arm_the_index_is_unavailable(file: Path, index: SQLiteIndex) -> None:
    await publish(index, document(), ["a rule"])
    damage(file, "DROP TABLE terms")
    async with opened(file) as damaged:
        with pytest.raises(IndexUnavailable):
            await damaged.search([IndexQuery(text="rule", vector=None)], ACCESS)
    damage(file, "DROP TABLE vectors")
    async with opened(file) as damaged:
        with pytest.raises(IndexUnavailable):
            await rule(damaged)


async def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"not a database, not even a small one" * 100)

    async with opened(tmp_path / "index.sqlite") as broken:
        with pytest.raises(IndexUnavailable, match=r"index\.sqlite"):
            await rule(broken)


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, where a folder is needed")

    async with opened(tmp_path / "home" / "index.sqlite") as nowhere:
        with pytest.raises(IndexUnavailable, match=r"home.index\.sqlite"):
            await publish(nowhere, document(), ["a rule"])


async def test_an_index_of_another_version_is_refused_with_the_remedy(file: Path, index: SQLiteIndex) -> None:
    await publish(index, document(), ["a rule"])
    damage(file, "PRAGMA user_version = 99")

    async with opened(file) as other:
        with pytest.raises(InvalidSetting, match="ingest again"):
            await rule(other)


async def test_a_write_that_fails_changes_nothing(file: Path, index: SQLiteIndex) -> None:
    await publish(index, document(version="1"), ["an old rule"])
    await stage(index, document(version="2"), ["a new rule"])
    damage(file, "CREATE TRIGGER full BEFORE INSERT ON changes BEGIN SELECT RAISE(FAIL, 'disk is full'); END")

    with pytest.raises(IndexUnavailable, match="disk is full"):
        await index.publish(document(version="2"))

    assert await found(index, "rule") == (["an old rule"], ["an old rule"])
    damage(file, "DROP TRIGGER full")
    await index.publish(document(version="2"))
    assert await found(index, "rule") == (["a new rule"], ["a new rule"])


async def test_stopwords_find_nothing_beside_other_terms(index: SQLiteIndex) -> None:
    await publish(index, document(), ["An end of the rule", "Zeppelin", "The rule"])

    assert (await found(index, "What is the height of a zeppelin?"))[0] == ["Zeppelin"]
    assert (await found(index, "What is the depth of a well?"))[0] == []
    assert (await found(index, "of the"))[0] == ["An end of the rule", "The rule"]
