"""The Lambda's door: every shape of event that AWS sends."""

import json
import subprocess
import sys
from typing import Any

import pytest

from graph.documents import document_id
from ingestion import handler as lambda_handler
from ingestion.events import NotAnEvent, changes
from ingestion.handler import consume
from tests.ingestion.parts import TENANT, Laptop, batch, event, stored_event

TRAVEL = "guides/travel rules 50% + 报销.md"
PLAIN = "guides/plain + 100% 计划.md"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("s3_put", f"uploads/default/{TRAVEL}"),
        ("s3_copy", "uploads/default/guides/travel-copy.md"),
        ("s3_multipart", "uploads/default/manual.txt"),
        ("s3_delete", f"uploads/default/{TRAVEL}"),
        ("s3_delete_marker", f"uploads/default/{TRAVEL}"),
        ("eventbridge_object_created", f"uploads/default/{PLAIN}"),
    ],
)
def test_keys_come_out_of_every_event_as_they_are_in_the_bucket(name: str, key: str) -> None:
    (change,) = changes(stored_event(name))

    assert change.key == key
    assert change.sequencer.startswith("0065E2F")


def test_the_test_event_asks_for_nothing() -> None:
    assert changes(stored_event("s3_test_event")) == []


@pytest.mark.parametrize("broken", [{}, {"Records": [{}]}, {"Records": None}, {"detail-type": "x"}, {"Records": [{"s3": []}]}])
def test_what_is_no_event_is_an_error(broken: dict[str, Any]) -> None:
    with pytest.raises(NotAnEvent):
        changes(broken)


@pytest.mark.parametrize("name", ["s3_put", "s3_delete", "s3_delete_marker"])
async def test_every_event_of_a_key_leads_to_what_the_bucket_holds(laptop: Laptop, name: str) -> None:
    await laptop.put(TRAVEL, "# Travel\n\nUp to 300 euros.")

    await consume(stored_event(name), laptop)

    assert await laptop.text(TRAVEL) == "# Travel\n\nUp to 300 euros."


@pytest.mark.parametrize("name", ["s3_put", "s3_delete", "s3_delete_marker"])
async def test_every_event_of_a_key_that_is_gone_removes_its_document(laptop: Laptop, name: str) -> None:
    await consume(await laptop.put(TRAVEL, "# Travel"), laptop)
    await laptop.drop(TRAVEL)

    await consume(stored_event(name), laptop)

    assert await laptop.passages(TRAVEL) == []
    assert (await laptop.record(TRAVEL)).get("deleted")


async def test_a_batch_is_done_message_by_message(laptop: Laptop) -> None:
    await laptop.put(TRAVEL, "# Travel")
    await laptop.put("scan.bin", b"\x89PNG\r\n\x1a\n........")
    await laptop.put(PLAIN, "# Plan")

    answer = await consume(stored_event("sqs_batch"), laptop)

    assert answer == {"batchItemFailures": []}
    assert [(await laptop.record(path))["status"] for path in (TRAVEL, PLAIN, "scan.bin")] == ["ready", "ready", "failed"]


async def test_only_the_messages_that_failed_come_again(laptop: Laptop) -> None:
    good, bad = batch(await laptop.put("a.md", "# A"))["Records"][0], batch({"neither": "nor"})["Records"][0]
    records = [good, bad | {"messageId": "nonsense"}, bad | {"messageId": "broken", "body": "{"}, bad | {"body": "[]"}]

    answer = await consume({"Records": records}, laptop)

    assert answer == {"batchItemFailures": [{"itemIdentifier": name} for name in ("nonsense", "broken", "0")]}
    assert (await laptop.record("a.md"))["status"] == "ready"


async def test_outside_of_a_queue_a_failure_is_raised_so_that_the_caller_tries_again(laptop: Laptop) -> None:
    laptop.counting.is_down = True

    with pytest.raises(ExceptionGroup):
        await consume(await laptop.put("a.md", "# A"), laptop)


async def test_small_files_come_first(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambda_handler, "_SIDE_BY_SIDE", 1)
    sizes = {"large.md": 900, "small.md": 10, "middle.md": 300}
    events = [await laptop.put(path, "word " * size) for path, size in sizes.items()]

    await consume(batch(*events), laptop)

    order = [text.split("\n")[0] for text in laptop.counting.embedded]
    assert list(dict.fromkeys(order)) == ["small.md", "middle.md", "large.md"]


async def test_other_tenants_files_are_documents_of_theirs(laptop: Laptop) -> None:
    await laptop.bucket.put("uploads/acme/a.md", b"# A")
    await laptop.bucket.put("exports/a.md", b"# A")
    await consume(event("a.md", tenant="acme"), laptop)
    await consume({"Records": [{"s3": {"object": {"key": "exports/a.md"}}}]}, laptop)

    assert await laptop.documents.find("acme", document_id("acme", "a.md")) is not None
    assert await laptop.documents.find(TENANT, document_id(TENANT, "a.md")) is None


def test_the_lambda_runs_in_the_loop_of_its_environment(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambda_handler, "wiring", lambda: laptop)

    assert lambda_handler.handler(stored_event("s3_test_event"), None) == {"batchItemFailures": []}


def test_ingestion_never_imports_langgraph_nor_functions() -> None:
    code = "import sys, json, ingestion.handler; print(json.dumps(sorted(name.split('.')[0] for name in sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603  # our own code

    assert not {"langgraph", "langchain_core", "functions", "fastapi", "onnxruntime"} & set(json.loads(done.stdout))
