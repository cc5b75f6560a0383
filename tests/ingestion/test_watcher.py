"""The laptop's watcher: whatever is done to the folder, registry and index follow."""

import asyncio
import json
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from functions.local.backlog import Backlog
from functions.local.files import collect, outcomes, put_files
from functions.local.watcher import Watcher
from graph.documents import DocumentRecord, document_id
from graph.errors import BadName
from tests.ingestion.parts import ANYBODY, TENANT, Laptop

TEXT = "# Rules\n\nUp to 300 euros."
ROOT = Path(__file__).parents[2]


def folder(laptop: Laptop) -> Path:
    uploads = laptop.settings.home / "bucket" / "uploads" / TENANT
    uploads.mkdir(parents=True, exist_ok=True)
    return uploads


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await holds():  # noqa: ASYNC110  # another task, or process, writes to the stores
            await asyncio.sleep(0.05)


async def status(laptop: Laptop, path: str) -> str | None:
    record = await laptop.documents.find(TENANT, document_id(TENANT, path))
    return None if record is None or record.get("deleted") else record["status"]


async def becomes(laptop: Laptop, path: str, expected: str | None) -> None:
    async def holds() -> bool:
        return await status(laptop, path) == expected

    await until(holds)


async def test_what_is_in_the_folder_at_the_start_is_read(laptop: Laptop) -> None:
    (folder(laptop) / "en").mkdir()
    (folder(laptop) / "en" / "rules 报销.md").write_text(TEXT)
    (folder(laptop) / ".hidden.md").write_text(TEXT)

    async with Watcher(laptop):
        await becomes(laptop, "en/rules 报销.md", "ready")

    assert await laptop.text("en/rules 报销.md") == TEXT
    assert len((await laptop.documents.list(ANYBODY))[0]) == 1


@pytest.mark.parametrize("polling", [False, True])
async def test_files_that_come_change_and_go_are_followed(laptop: Laptop, *, polling: bool) -> None:
    file = folder(laptop) / "rules.md"

    async with Watcher(laptop, force_polling=polling):
        await asyncio.sleep(0.3)
        file.write_text(TEXT)
        await becomes(laptop, "rules.md", "ready")

        file.write_text("# Rules\n\nNo limit.")

        async def changed() -> bool:
            return await laptop.text("rules.md") == "# Rules\n\nNo limit."

        await until(changed)
        file.unlink()
        await becomes(laptop, "rules.md", None)

    assert await laptop.passages("rules.md") == []


async def test_folders_that_are_moved_in_and_out_are_followed(laptop: Laptop, tmp_path: Path) -> None:
    outside = tmp_path / "docs"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text(TEXT)
    inside = folder(laptop) / "docs"

    async with Watcher(laptop):
        await asyncio.sleep(0.3)
        outside.rename(inside)
        await becomes(laptop, "docs/deep/a.md", "ready")
        inside.rename(outside)
        await becomes(laptop, "docs/deep/a.md", None)


async def test_a_sidecar_that_is_written_later_takes_effect(laptop: Laptop) -> None:
    (folder(laptop) / "a.md").write_text(TEXT)

    async with Watcher(laptop):
        await becomes(laptop, "a.md", "ready")
        embedded = len(laptop.counting.embedded)
        (folder(laptop) / ".a.md.meta.json").write_text(json.dumps({"department": "finance"}))

        async def changed() -> bool:
            record = await laptop.record("a.md")
            return record["meta"] == {"department": "finance"} and record["status"] == "ready"

        await until(changed)
    assert len(laptop.counting.embedded) == embedded


async def test_a_file_is_read_only_when_it_is_complete(laptop: Laptop) -> None:
    file = folder(laptop) / "growing.txt"

    async with Watcher(laptop):
        with file.open("w") as growing:
            for number in range(12):
                growing.write(f"Line {number}.\n")
                growing.flush()
                await asyncio.sleep(0.1)
        await becomes(laptop, "growing.txt", "ready")

    assert "Line 11." in await laptop.text("growing.txt")
    assert all("Line 11." in text for text in laptop.counting.embedded), "nothing was read before the last line was there"


async def test_bad_files_fail_beside_good_ones(laptop: Laptop) -> None:
    (folder(laptop) / "empty.md").write_bytes(b"")
    (folder(laptop) / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder(laptop) / "tab\tname.md").write_text(TEXT)
    (folder(laptop) / "good.md").write_text(TEXT)

    async with Watcher(laptop):
        await becomes(laptop, "good.md", "ready")
        for path in ("empty.md", "picture.png", "tab\tname.md"):
            await becomes(laptop, path, "failed")

    codes = [(await laptop.record(path))["error"]["code"] for path in ("empty.md", "picture.png", "tab\tname.md")]
    assert codes == ["empty", "unsupported_format", "bad_name"]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS takes Unicode names only")
async def test_a_name_that_is_no_unicode_fails_and_stops_nothing(laptop: Laptop) -> None:
    (folder(laptop) / "caf\udce9.md").write_text(TEXT)
    (folder(laptop) / "good.md").write_text(TEXT)

    async with Watcher(laptop):
        await becomes(laptop, "good.md", "ready")
        await becomes(laptop, "caf\udce9.md", "failed")

    assert (await laptop.record("caf\udce9.md"))["error"]["code"] == "bad_name"


async def test_a_restart_embeds_nothing_twice_and_notices_what_happened_meanwhile(laptop: Laptop) -> None:
    for name in ("kept.md", "gone.md", "changed.md"):
        (folder(laptop) / name).write_text(f"# {name}")
    async with Watcher(laptop):
        for name in ("kept.md", "gone.md", "changed.md"):
            await becomes(laptop, name, "ready")
    embedded = len(laptop.counting.embedded)
    kept = await laptop.record("kept.md")
    (folder(laptop) / "gone.md").unlink()
    (folder(laptop) / "changed.md").write_text("# other")

    async with Watcher(laptop):
        await becomes(laptop, "gone.md", None)

        async def changed() -> bool:
            return await laptop.text("changed.md") == "# other"

        await until(changed)

    assert len(laptop.counting.embedded) == embedded + 1
    assert await laptop.record("kept.md") == kept


async def test_a_part_that_comes_back_is_used_again(laptop: Laptop) -> None:
    laptop.counting.is_down = True
    (folder(laptop) / "a.md").write_text(TEXT)

    async with Watcher(laptop):
        await becomes(laptop, "a.md", "processing")
        laptop.counting.is_down = False
        await becomes(laptop, "a.md", "ready")


async def test_a_file_that_cannot_be_done_is_given_up_also_where_the_folder_is_polled(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.local.watcher._BACKOFF_S", 0.05)
    laptop.counting.is_down = True
    (folder(laptop) / "a.md").write_text(TEXT)

    async with Watcher(laptop, force_polling=True):
        await becomes(laptop, "a.md", "failed")
        failed = await laptop.record("a.md")
        await asyncio.sleep(2.5)

    assert failed["error"]["code"] == "internal"
    assert await laptop.record("a.md") == failed


async def test_leaving_in_the_middle_loses_nothing(laptop: Laptop) -> None:
    for number in range(30):
        (folder(laptop) / f"{number}.md").write_text(f"# {number}\n\n" + f"Word {number}. " * 500)
    async with Watcher(laptop):
        await becomes(laptop, "3.md", "ready")

    async with Watcher(laptop):
        for number in range(30):
            await becomes(laptop, f"{number}.md", "ready")

    assert len(laptop.counting.embedded) <= len(set(laptop.counting.embedded)) + 3 * 32, "but for what was in the air"


async def test_a_killed_process_leaves_no_half_visible_document_and_the_next_one_finishes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    uploads = home / "bucket" / "uploads" / TENANT
    uploads.mkdir(parents=True)
    (uploads / "long.md").write_text(
        "# Long\n\n" + " ".join(f"Sentence {number} says something else." for number in range(5000))
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.ingestion.killed", str(home), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while int(await process.stdout.readline()) < 64:
            pass
    process.send_signal(signal.SIGKILL)
    await process.communicate()

    laptop = Laptop(home)
    assert await laptop.passages("long.md") == []
    assert (await laptop.record("long.md"))["status"] == "processing"
    async with Watcher(laptop):
        await becomes(laptop, "long.md", "ready")

    record = await laptop.record("long.md")
    assert record["passages"] == len(await laptop.passages("long.md"))
    assert len(laptop.counting.embedded) <= record["passages"] - 32, "what was stored before is not embedded again"
    await laptop.index.close()
    await laptop.table.close()


# --- Putting files ----------------------------------------------------------------------------------------------------


def docs(tmp_path: Path) -> Path:
    top = tmp_path / "en"
    (top / "deep").mkdir(parents=True)
    (top / "index.md").write_text(TEXT)
    (top / "deep" / "a.md").write_text("# A")
    (top / ".git").mkdir()
    (top / ".git" / "config").write_text("x")
    return top


def test_a_folder_keeps_its_name_and_a_file_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = docs(tmp_path)
    monkeypatch.chdir(top)

    assert set(collect([top])) == {"en/index.md", "en/deep/a.md"}
    assert set(collect([Path()])) == {"en/index.md", "en/deep/a.md"}
    assert set(collect([Path("deep/..")])) == {"en/index.md", "en/deep/a.md"}
    assert set(collect([top / "deep" / "a.md", top / "deep"])) == {"a.md", "deep/a.md"}


def test_two_files_for_one_document_and_none_at_all_are_refused(tmp_path: Path) -> None:
    top = docs(tmp_path)
    shutil.copytree(top, tmp_path / "other" / "en")

    with pytest.raises(BadName):
        collect([top, tmp_path / "other" / "en"])
    with pytest.raises(FileNotFoundError):
        collect([tmp_path / "missing"])


async def test_files_are_put_and_waited_for(laptop: Laptop, tmp_path: Path) -> None:
    top = docs(tmp_path)
    (top / "empty.md").write_text("")
    (top / ".index.md.meta.json").write_text('{"year": 2024}')
    seen: dict[str, list[DocumentRecord]] = {}

    async with Watcher(laptop):
        ids = await put_files([top], laptop, metadata={"department": "finance"})
        async for record in outcomes(laptop, ids):
            seen.setdefault(record["path"], []).append(record)

    assert {path: records[-1]["status"] for path, records in seen.items()} == {
        "en/index.md": "ready",
        "en/deep/a.md": "ready",
        "en/empty.md": "failed",
    }
    assert seen["en/index.md"][-1]["meta"] == {"year": 2024, "department": "finance"}


async def test_what_the_bucket_already_holds_stays_as_it_is(laptop: Laptop, tmp_path: Path) -> None:
    top = docs(tmp_path)
    async with Watcher(laptop):
        ids = await put_files([top], laptop)
        [_ async for _ in outcomes(laptop, ids)]
        before = [await laptop.record(path) for path in ("en/index.md", "en/deep/a.md")]
        (top / "deep" / "a.md").write_text("# B")
        ids = await put_files([top], laptop)
        [_ async for _ in outcomes(laptop, ids)]

    after = [await laptop.record(path) for path in ("en/index.md", "en/deep/a.md")]
    assert after[0] == before[0]
    assert after[1]["version"] != before[1]["version"]
    assert await laptop.text("en/deep/a.md") == "# B"


async def test_the_backlog_hands_out_small_files_first_and_a_key_to_one_hand_only() -> None:
    backlog = Backlog()
    backlog.add("large", 900)
    backlog.add("small", 1)
    backlog.add("later", 0, delay_s=0.2)
    small = await backlog.take()
    backlog.add("small", 1)
    taken = [(await backlog.take()).key for _ in range(2)]
    waiting = asyncio.create_task(backlog.take())
    await asyncio.sleep(0.05)

    assert (small.key, taken) == ("small", ["large", "later"])
    assert not waiting.done()
    backlog.done(small)
    assert (await waiting).key == "small"
    assert len(backlog) == 3


async def test_a_hand_that_is_stopped_while_something_comes_in_does_stop() -> None:
    async def hand(backlog: Backlog) -> None:
        while True:
            backlog.done(await backlog.take())

    for pauses in range(6):
        backlog = Backlog()
        backlog.add("later", 1, delay_s=60)
        working = asyncio.create_task(hand(backlog))
        await asyncio.sleep(0.01)
        backlog.add("a", 1)
        for _ in range(pauses):
            await asyncio.sleep(0)
        working.cancel()
        done, _ = await asyncio.wait([working], timeout=5)
        assert done
