"""The life of a document: registry and index become what the bucket says, whatever comes in between."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from graph.documents import document_id, public
from graph.errors import NotFound
from graph.ports import Access, Document, IndexQuery
from graph.retrieval import indexed_text
from ingestion.events import LAST_ATTEMPT
from ingestion.handler import consume
from ingestion.lifecycle import Lifecycle
from tests.ingestion.parts import ANYBODY, TENANT, Laptop, batch, event

RULES = "---\ndepartment: finance\n---\n# Travel rules\n\n## Abroad\n\nUp to 300 euros a day. " + "Keep the receipt. " * 300
OTHER = "# Travel rules\n\nThe limit is gone."
HR = Access(tenant=TENANT, groups=frozenset({"hr"}))


async def test_a_file_becomes_a_document_that_answers(laptop: Laptop) -> None:
    await consume(await laptop.put("guides/travel.md", RULES), laptop)

    record, passages = await laptop.record("guides/travel.md"), await laptop.passages("guides/travel.md")
    assert record["status"] == "ready"
    assert record["title"] == "Travel rules"
    assert record["meta"] == {"department": "finance"}
    assert (record["passages"], record["characters"]) == (len(passages), len(RULES) - RULES.index("# Travel"))
    assert "stage" not in record
    text = RULES[RULES.index("# Travel") :]
    for ordinal, passage in enumerate(passages):
        assert passage["text"] == text[passage["start"] : passage["end"]]
        assert passage["passage_id"] == f"{record['document_id']}.{record['version'][:12]}.{ordinal}"
        assert passage["uri"] == record["uri"]
        assert passage["meta"] == {"department": "finance"}
    assert passages[-1].get("heading") == "Abroad"
    assert set(laptop.counting.embedded) == {indexed_text(passage) for passage in passages}


async def test_a_client_sees_the_document_and_nothing_of_its_upkeep(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)

    shown = public(await laptop.record("a.md"))

    assert set(shown) == {
        "document_id", "title", "path", "uri", "status", "version", "bytes", "content_type", "passages", "meta", "warnings",
        "created_at", "updated_at",
    }  # fmt: skip


async def test_a_new_version_takes_the_place_of_the_old_one(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    first = await laptop.record("a.md")
    await consume(await laptop.put("a.md", OTHER), laptop)

    second = await laptop.record("a.md")
    assert await laptop.text("a.md") == OTHER
    assert second["document_id"] == first["document_id"]
    assert second["version"] != first["version"]
    assert second["created_at"] == first["created_at"]
    assert second["passages"] == 1


async def test_while_a_new_version_is_read_the_old_one_answers(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    seen: list[str] = []

    async def publish(document: Document, real: Callable[[Document], Coroutine[Any, Any, None]] = laptop.index.publish) -> None:
        seen.append(await laptop.text("a.md"))
        await real(document)

    monkeypatch.setattr(laptop.index, "publish", publish)
    await consume(await laptop.put("a.md", OTHER), laptop)

    assert "Up to 300 euros" in seen[0]
    assert OTHER not in seen[0]


async def test_a_deleted_file_answers_no_more(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    await consume(await laptop.drop("a.md"), laptop)

    assert await laptop.passages("a.md") == []
    with pytest.raises(NotFound):
        await laptop.documents.get(ANYBODY, document_id(TENANT, "a.md"))


async def test_a_file_may_come_back(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    await consume(await laptop.drop("a.md"), laptop)
    await consume(await laptop.put("a.md", OTHER), laptop)

    assert await laptop.text("a.md") == OTHER
    assert (await laptop.documents.get(ANYBODY, document_id(TENANT, "a.md")))["status"] == "ready"


async def test_an_event_that_comes_twice_changes_nothing(laptop: Laptop) -> None:
    put = await laptop.put("a.md", RULES)
    await consume(put, laptop)
    before, embedded = await laptop.record("a.md"), len(laptop.counting.embedded)
    await consume(put, laptop)

    assert await laptop.record("a.md") == before
    assert len(laptop.counting.embedded) == embedded


async def test_late_events_do_not_bring_back_what_is_gone(laptop: Laptop) -> None:
    first, second = await laptop.put("a.md", RULES), await laptop.put("a.md", OTHER)
    await consume(second, laptop)
    await consume(first, laptop)
    assert await laptop.text("a.md") == OTHER

    deleted = await laptop.drop("a.md")
    await consume(deleted, laptop)
    await consume(second, laptop)
    assert await laptop.passages("a.md") == []

    third = await laptop.put("a.md", RULES)
    await consume(third, laptop)
    await consume(deleted, laptop)
    assert "Up to 300 euros" in await laptop.text("a.md")


@pytest.mark.parametrize("seed", range(8))
async def test_any_shuffled_history_ends_as_the_bucket_is(laptop: Laptop, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  # a history, not a secret
    paths = ["a.md", "b/报销.txt", "c+d %.csv"]
    truth: dict[str, str] = {}
    events: list[dict[str, Any]] = []
    for number in range(12):
        path = dice.choice(paths)
        if dice.random() < 0.3:
            truth.pop(path, None)
            events.append(await laptop.drop(path))
        else:
            truth[path] = f"name,value\nrow {number},{dice.choice(['x', 'y'])}\n"
            events.append(await laptop.put(path, truth[path]))
        if dice.random() < 0.4:
            await consume(dice.choice(events), laptop)
    events += dice.choices(events, k=4)
    dice.shuffle(events)
    await asyncio.gather(*(consume(batch(*events[at::3]), laptop) for at in range(3)))

    for path in paths:
        text, record = await laptop.text(path), await laptop.documents.find(TENANT, document_id(TENANT, path))
        if path not in truth:
            assert text == ""
            assert record is None or record.get("deleted")
        else:
            assert f"row {truth[path].split('row ')[1].split(',')[0]}" in text
            assert record is not None
            assert (record["status"], record["passages"]) == ("ready", 1)


async def test_the_same_text_is_never_embedded_twice(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    embedded = len(laptop.counting.embedded)
    await consume(await laptop.put("a.md", RULES), laptop)
    await consume(await laptop.put("copy.md", RULES), laptop)

    assert len(laptop.counting.embedded) == embedded
    assert await laptop.text("copy.md") == await laptop.text("a.md") != ""


async def test_a_change_of_metadata_alone_takes_effect_without_embedding(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    embedded = len(laptop.counting.embedded)
    await consume(await laptop.put("a.md", RULES, {"department": "sales", "year": "2024", "groups": "hr, legal"}), laptop)

    record = await laptop.record("a.md")
    assert record["meta"] == {"department": "sales", "year": 2024}
    assert record["groups"] == ["hr", "legal"]
    assert await laptop.passages("a.md") == []
    assert [passage["meta"]["year"] for passage in await laptop.passages("a.md", HR)] == [2024] * record["passages"]
    assert len(laptop.counting.embedded) == embedded


async def test_who_may_read_may_be_said_in_the_file_and_holds_while_it_is_read_anew(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", "---\ngroups: [hr]\n---\nsecret"), laptop)
    info = await laptop.bucket.put("uploads/default/a.md", b"---\ngroups: [hr]\n---\nnew secret")
    pending = await laptop.documents.pending(TENANT, "a.md", info, uri="file:///a.md")

    assert pending["status"] == "pending"
    with pytest.raises(NotFound):
        await laptop.documents.get(ANYBODY, pending["document_id"])
    assert (await laptop.documents.list(ANYBODY))[0] == []
    assert [record["path"] for record in (await laptop.documents.list(HR))[0]] == ["a.md"]


async def test_a_file_that_cannot_be_read_fails_and_its_old_text_answers_no_more(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    answer = await consume(batch(await laptop.put("a.md", b"%PDF-1.7 scanned")), laptop)

    record = await laptop.record("a.md")
    assert answer == {"batchItemFailures": []}
    assert (record["status"], record["error"]["code"], record["passages"]) == ("failed", "unsupported_format", 0)
    assert record["error"]["remedy"]
    assert await laptop.passages("a.md") == []

    await consume(await laptop.put("a.md", OTHER), laptop)
    assert (await laptop.record("a.md"))["status"] == "ready"
    assert "error" not in await laptop.record("a.md")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("back\\slash.md", "ready"),
        ("emoji 👩‍💻.md", "ready"),
        ("报销 rules + 100%.md", "ready"),
        ("a#b?c&d.md", "ready"),
        ("e\u0301.md", "ready"),
        ("tab\there.md", "failed"),
    ],
)
async def test_odd_names_are_names_and_bad_ones_fail(laptop: Laptop, path: str, status: str) -> None:
    await consume(await laptop.put(path, OTHER), laptop)

    record = await laptop.record(path)
    assert (record["status"], record["path"]) == (status, path)
    assert record.get("error", {}).get("code") == (None if status == "ready" else "bad_name")


@pytest.mark.parametrize("path", [".hidden.md", ".git/config", "a/.b.md.meta.json", "folder/", "../escape.md", "a//b.md"])
async def test_dotfiles_folders_and_names_that_cannot_be_are_passed_over(laptop: Laptop, path: str) -> None:
    answer = await consume(batch(event(path)), laptop)

    assert answer == {"batchItemFailures": []}
    assert (await laptop.documents.list(ANYBODY))[0] == []


async def test_a_document_is_removed_at_once_and_stays_so(laptop: Laptop) -> None:
    put = await laptop.put("a.md", RULES)
    await consume(put, laptop)
    name = document_id(TENANT, "a.md")

    await laptop.documents.remove(ANYBODY, name, bucket=laptop.bucket, index=laptop.index)

    assert await laptop.passages("a.md") == []
    assert await laptop.bucket.head("uploads/default/a.md") is None
    await consume(put, laptop)
    assert await laptop.passages("a.md") == []
    with pytest.raises(NotFound):
        await laptop.documents.remove(ANYBODY, name, bucket=laptop.bucket, index=laptop.index)


async def test_a_removal_while_the_file_is_read_wins(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    embed = laptop.counting.embed

    async def remove_first(*args: Any) -> Any:
        await laptop.documents.remove(ANYBODY, document_id(TENANT, "a.md"), bucket=laptop.bucket, index=laptop.index)
        return await embed(*args)

    monkeypatch.setattr(laptop.counting, "embed", remove_first)
    await consume(await laptop.put("a.md", RULES), laptop)

    assert await laptop.passages("a.md") == []
    assert (await laptop.record("a.md")).get("deleted")


async def test_a_file_that_changes_while_it_is_read_is_read_again(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    get = laptop.bucket.get

    async def change_after(key: str) -> bytes | None:
        body = await get(key)
        monkeypatch.setattr(laptop.bucket, "get", get)
        await laptop.bucket.put(key, OTHER.encode())
        return body

    monkeypatch.setattr(laptop.bucket, "get", change_after)
    await consume(await laptop.put("a.md", RULES), laptop)

    assert await laptop.text("a.md") == OTHER


async def test_a_part_that_is_down_is_tried_again_and_given_up_in_the_end(laptop: Laptop) -> None:
    laptop.counting.is_down = True
    put = await laptop.put("a.md", RULES)

    assert await consume(batch(put), laptop) == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert (await laptop.record("a.md"))["status"] == "processing"

    assert await consume(batch(put, attempt=LAST_ATTEMPT), laptop) == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    record = await laptop.record("a.md")
    assert (record["status"], record["error"]["code"]) == ("failed", "internal")
    assert "stage" not in record

    laptop.counting.is_down = False
    assert await consume(batch(put), laptop) == {"batchItemFailures": []}
    assert (await laptop.record("a.md"))["status"] == "ready"


async def test_one_bad_file_never_holds_up_another(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [await laptop.put(f"{number}.md", f"# Page {number}") for number in range(4)]
    get = laptop.bucket.get

    async def unreadable(key: str) -> bytes | None:
        if key.endswith("1.md"):
            raise PermissionError(key)
        return await get(key)

    monkeypatch.setattr(laptop.bucket, "get", unreadable)
    answer = await consume(batch(*events), laptop)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert [(await laptop.record(f"{number}.md"))["status"] for number in (0, 2, 3)] == ["ready"] * 3


STEPS = ["bucket.get", "index.vectors", "embedder.embed", "index.stage", "index.publish", "table.put"]


class Died(BaseException):
    """The process is gone: no handler of errors runs."""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
async def test_a_worker_that_dies_at_any_step_leaves_the_old_version_and_the_retry_finishes(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch, step: str, *, after: bool
) -> None:
    await consume(await laptop.put("a.md", RULES), laptop)
    old = await laptop.text("a.md")
    put = await laptop.put("a.md", RULES.replace("300", "400"))
    port, method = step.split(".")
    part = getattr(laptop, port)
    real, calls = getattr(part, method), 0

    async def die(*args: Any, **keywords: Any) -> Any:
        nonlocal calls
        calls += 1
        if after:
            await real(*args, **keywords)
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(part, method, die)
        with pytest.raises(BaseExceptionGroup):
            await consume(put, laptop)
    assert calls
    new = old.replace("300", "400")
    assert await laptop.text("a.md") == (new if (step, after) == ("index.publish", True) else old)

    await consume(put, laptop)

    record = await laptop.record("a.md")
    assert await laptop.text("a.md") == new
    assert (record["status"], record["passages"]) == ("ready", len(await laptop.passages("a.md")))


async def test_what_a_dead_worker_had_embedded_is_not_embedded_again(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "# Long\n\n" + " ".join(f"Sentence {number} says something else." for number in range(4000))
    put = await laptop.put("long.md", body)
    stage, staged = laptop.index.stage, 0

    async def die_later(*args: Any, **keywords: Any) -> None:
        nonlocal staged
        if staged == 2:
            raise Died
        staged += 1
        await stage(*args, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(laptop.index, "stage", die_later)
        with pytest.raises(BaseExceptionGroup):
            await consume(put, laptop)
    stored = staged * 16
    before = len(laptop.counting.embedded)
    await consume(put, laptop)

    assert len(laptop.counting.embedded) - before == (await laptop.record("long.md"))["passages"] - stored > 0


async def test_a_search_that_runs_meanwhile_sees_one_version_never_both_never_neither(laptop: Laptop) -> None:
    await consume(await laptop.put("a.md", "# Version 0\n\nlimit " * 200), laptop)
    seen: list[set[str]] = []
    done = False

    async def look() -> None:
        while not done:
            (hits,) = await laptop.index.search([IndexQuery(text="limit", vector=None)], ANYBODY)
            seen.append({one.passage["version"] for one in hits.bm25})

    watching = asyncio.create_task(look())
    for number in range(1, 15):
        await consume(await laptop.put("a.md", f"# Version {number}\n\nlimit " * 200), laptop)
    done = True
    await watching

    assert len(seen) > 10
    assert {len(versions) for versions in seen} == {1}


async def test_a_slow_worker_never_ends_with_an_older_version(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    embed, started = laptop.counting.embed, asyncio.Event()

    async def slowly(*args: Any) -> Any:
        monkeypatch.setattr(laptop.counting, "embed", embed)
        started.set()
        await asyncio.sleep(0.2)
        return await embed(*args)

    monkeypatch.setattr(laptop.counting, "embed", slowly)
    slow = asyncio.create_task(consume(await laptop.put("a.md", RULES), laptop))
    await started.wait()
    await consume(await laptop.put("a.md", OTHER), laptop)
    await slow

    assert await laptop.text("a.md") == OTHER
    assert (await laptop.record("a.md"))["status"] == "ready"


@pytest.mark.parametrize("newer", [None, OTHER])
async def test_a_worker_that_publishes_much_too_late_puts_things_right(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch, newer: str | None
) -> None:
    monkeypatch.setattr("graph.documents._PUBLISHING_S", 0.05)
    publish, waiting, go_on = laptop.index.publish, asyncio.Event(), asyncio.Event()

    async def late(document: Document) -> None:
        monkeypatch.setattr(laptop.index, "publish", publish)
        waiting.set()
        await go_on.wait()
        await publish(document)

    monkeypatch.setattr(laptop.index, "publish", late)
    slow = asyncio.create_task(consume(await laptop.put("a.md", RULES), laptop))
    await waiting.wait()
    await consume(await (laptop.drop("a.md") if newer is None else laptop.put("a.md", newer)), laptop)
    go_on.set()
    await slow

    assert await laptop.text("a.md") == (newer or "")


async def test_progress_rises_from_stage_to_stage(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.claims._PROGRESS_EVERY_S", 0)
    told: list[tuple[str, float]] = []
    update = laptop.documents.update

    async def note(previous: Any, record: Any) -> Any:
        told.append((record.get("stage", record["status"]), record.get("progress", 1.0)))
        return await update(previous, record)

    lifecycle_documents = Lifecycle.__init__

    def with_notes(self: Lifecycle, wiring: Any) -> None:
        lifecycle_documents(self, wiring)
        monkeypatch.setattr(self._documents, "update", note)

    monkeypatch.setattr(Lifecycle, "__init__", with_notes)
    await consume(await laptop.put("a.md", "# A\n\n" + " ".join(f"Number {n} says this." for n in range(6000))), laptop)

    stages = list(dict.fromkeys(stage for stage, _ in told))
    assert stages == ["parsing", "chunking", "embedding", "indexing", "ready"]
    progress = [share for _, share in told]
    assert all(before <= after for before, after in pairwise(progress))
    assert len({share for stage, share in told if stage == "embedding"}) > 3
