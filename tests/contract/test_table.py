"""What every `Table` does."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph.adapters.sqlite_table import SQLiteTable
from graph.errors import Unavailable
from graph.ports import Absent, Equals, Item, Json, Table


@pytest.fixture(params=["sqlite", "dynamodb"])
async def table(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Table]:
    made: Table
    if request.param == "sqlite":
        made = SQLiteTable(tmp_path / "home" / "table.sqlite")
    else:
        made = request.getfixturevalue("dynamodb_table")
    yield made
    await made.close()


def row(sk: str, pk: str = "p", expires_at: float | None = None, **value: object) -> Item:
    return Item(pk=pk, sk=sk, value=value, expires_at=None if expires_at is None else int(expires_at))


async def keys(table: Table, **query: object) -> list[str]:
    return [item.sk for item in await table.query("p", **query)]  # type: ignore[arg-type]


async def test_an_item_comes_back_as_it_was_put(table: Table) -> None:
    value: Json = {"text": "报销 \ud800 \0 👩‍💻", "n": 1, "f": 0.5, "none": None, "list": [1, "a", {"b": True}], "empty": {}}
    item = Item(pk="p", sk="s", value=value, expires_at=int(time.time()) + 60)

    assert await table.put(item)
    assert await table.get("p", "s") == item
    assert await table.get("p", "other") is None
    assert await table.get("q", "s") is None


async def test_a_put_replaces_the_whole_item(table: Table) -> None:
    await table.put(row("s", a=1, b=2))
    await table.put(row("s", c=3))

    assert await table.get("p", "s") == row("s", c=3)


async def test_only_the_first_of_many_puts_of_what_is_absent_succeeds(table: Table) -> None:
    stored = await asyncio.gather(*(table.put(row("s", n=n), condition=Absent()) for n in range(20)))

    assert stored.count(True) == 1
    assert await table.get("p", "s") == row("s", n=stored.index(True))


async def test_a_put_whose_condition_fails_stores_nothing(table: Table) -> None:
    assert not await table.put(row("s", n=1), condition=Equals({"n": 0}))
    assert await table.get("p", "s") is None

    await table.put(row("s", n=1, m=None))
    assert not await table.put(row("s", n=2), condition=Equals({"n": 0}))
    assert not await table.put(row("s", n=2), condition=Equals({"n": 1, "missing": None}))
    assert await table.get("p", "s") == row("s", n=1, m=None)

    assert await table.put(row("s", n=2), condition=Equals({"n": 1, "m": None}))
    assert await table.get("p", "s") == row("s", n=2)


async def test_writers_that_prove_what_they_read_lose_no_update(table: Table) -> None:
    await table.put(row("s", n=0))

    async def increment() -> None:
        while True:
            item = await table.get("p", "s")
            assert item is not None
            n = item.value["n"]
            assert isinstance(n, int)
            if await table.put(row("s", n=n + 1), condition=Equals({"n": n})):
                return

    await asyncio.gather(*(increment() for _ in range(20)))
    assert await table.get("p", "s") == row("s", n=20)


async def test_what_is_deleted_is_gone_and_a_second_delete_is_none_the_wiser(table: Table) -> None:
    await table.put(row("s", n=1))

    assert not await table.delete("p", "s", condition=Equals({"n": 2}))
    assert await table.get("p", "s") is not None
    assert await table.delete("p", "s", condition=Equals({"n": 1}))
    assert await table.get("p", "s") is None
    assert await table.delete("p", "s")
    assert await table.delete("p", "s", condition=Equals({"n": 1}))


async def test_an_expired_item_is_gone_for_every_operation(table: Table) -> None:
    await table.put(row("old", expires_at=time.time() - 1, n=1))
    await table.put(row("new", expires_at=time.time() + 60, n=1))

    assert await table.get("p", "old") is None
    assert await keys(table) == ["new"]
    assert not await table.put(row("old", n=2), condition=Equals({"n": 1}))
    assert await table.put(row("old", n=2), condition=Absent())
    assert await keys(table) == ["new", "old"]


async def test_a_query_is_ordered_bytewise(table: Table) -> None:
    names = ["a", "B", "a#", "a0", "aa", "é", "中", "\uffee", "👩", "a\u00ff"]
    for name in names:
        await table.put(row(name))
        await table.put(row(name, pk="q"))

    assert await keys(table) == sorted(names, key=str.encode)
    assert await keys(table, descending=True) == sorted(names, key=str.encode, reverse=True)


@pytest.mark.parametrize("prefix", ["a#", "event#", "\ud7ff", "a\U0010ffff", "\U0010ffff", "中"])
async def test_a_query_by_prefix_finds_what_starts_with_it_and_nothing_else(table: Table, prefix: str) -> None:
    inside = [prefix, f"{prefix}0", f"{prefix}\U0010ffff", f"{prefix}\U0010ffffz"]
    for name in [*inside, "a", "b", "evens", "\ue000", "z中"]:
        await table.put(row(name))

    assert await keys(table, prefix=prefix) == inside


async def test_pages_of_a_query_join_without_gap_or_overlap(table: Table) -> None:
    names = [f"n#{n:03d}" for n in range(25)]
    for name in [*names, "m", "o"]:
        await table.put(row(name))

    for descending in (False, True):
        read: list[str] = []
        while page := await keys(table, prefix="n#", after=read[-1] if read else None, limit=10, descending=descending):
            assert len(page) <= 10
            read += page
        assert read == sorted(names, reverse=descending)


async def test_expired_items_do_not_use_up_the_limit_of_a_page(table: Table) -> None:
    for n in range(10):
        await table.put(row(f"{n}", expires_at=time.time() + (-1 if n < 8 else 60)))

    assert await keys(table, limit=2) == ["8", "9"]


async def test_reads_go_on_beside_writes_and_see_what_was_acknowledged(table: Table) -> None:
    async def write(worker: int) -> None:
        for n in range(50):
            await table.put(row(f"{worker}#{n:03d}", n=n))
            assert await table.get("p", f"{worker}#{n:03d}") is not None

    await asyncio.gather(*(write(worker) for worker in range(8)))
    assert len(await keys(table)) == 400


async def test_a_value_that_is_not_json_is_refused_and_the_table_goes_on(table: Table) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await table.put(row("s", n=float("nan")))

    assert await table.put(row("s", n=1))


WRITER = """
import asyncio, sys
from pathlib import Path
from graph.adapters.sqlite_table import SQLiteTable
from graph.ports import Item

async def main(worker: str) -> None:
    table = SQLiteTable(Path(sys.argv[1]))
    for n in range(200):
        await table.put(Item(pk="p", sk=f"{worker}#{n}", value={}))
    await table.close()

asyncio.run(main(sys.argv[2]))
"""


async def test_sqlite_is_never_locked_also_across_processes(tmp_path: Path) -> None:
    path = tmp_path / "table.sqlite"
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(path), str(worker), stderr=asyncio.subprocess.PIPE
        )
        for worker in range(4)
    ]
    assert [(await process.communicate())[1] for process in processes] == [b""] * 4

    table = SQLiteTable(path)
    assert len(await keys(table)) == 800
    await table.close()


async def test_sqlite_keeps_its_items(tmp_path: Path) -> None:
    for n in range(2):
        table = SQLiteTable(tmp_path / "table.sqlite")
        assert len(await keys(table)) == n
        await table.put(row(f"{n}"))
        await table.close()


async def test_sqlite_says_which_folder_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    table = SQLiteTable(tmp_path / "file" / "table.sqlite")

    with pytest.raises(Unavailable, match=r"file/table\.sqlite"):
        await table.get("p", "s")
    await table.close()
