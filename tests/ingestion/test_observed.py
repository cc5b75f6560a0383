"""What an operator sees of files: traces over OTLP, metrics in the log."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingestion.handler import consume
from tests.ingestion.parts import Laptop, batch, event
from tests.standins.otlp import Collector

TRACE_ID = "692cd3e00123456789abcdef01234567"
HEADER = "Root=1-692cd3e0-0123456789abcdef01234567;Parent=53995c3f42cd8ad8;Sampled=1"


async def test_the_trace_of_the_queues_message_goes_on_through_the_reading_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector.running() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        laptop = Laptop(tmp_path)
        message = batch(await laptop.put("secret plans.md", "# Plans\n\nWe shall sell shoes."))
        message["Records"][0]["attributes"]["AWSTraceHeader"] = HEADER
        await consume(message, laptop)
        await laptop.close()

        tree = collector.trace(TRACE_ID, "ingest", "parse", "chunk", "embed", "index")
        (root,) = (span for span in collector.spans if span.name == "ingest")
    assert tree == {"ingest": None, "parse": "ingest", "chunk": "ingest", "embed": "ingest", "index": "ingest"}
    assert root.parent_span_id.hex() == "53995c3f42cd8ad8"
    assert not [span for span in collector.spans if "secret" in str(span) or "shoes" in str(span)]


async def test_files_are_counted_by_status_and_how_long_they_took(
    laptop: Laptop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = pytest.importorskip("ingestion.metrics", reason="Powertools comes with the extra aws")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Footnote/test")
    good, bad = await laptop.put("a.md", "# A"), await laptop.put("b.bin", b"")
    good["Records"][0]["eventTime"] = "2026-03-02T09:14:07.512Z"
    await consume(batch(good, bad), laptop, observe=metrics.emit)
    laptop.counting.is_down = True
    await consume(batch(await laptop.put("c.md", "# C"), event("nowhere.md")), laptop, observe=metrics.emit)

    blobs: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {blob["_aws"]["CloudWatchMetrics"][0]["Namespace"] for blob in blobs} == {"Footnote/test"}
    assert sorted(blob["status"] for blob in blobs if "Files" in blob) == ["failed", "ready", "retried"]
    (lag,) = (blob["IngestionLag"] for blob in blobs if "IngestionLag" in blob)
    assert lag[0] > 0
