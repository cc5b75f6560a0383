"""Passages a second by stage, beside what the bare embedder does with the same texts, and peak memory.

    python -m tests.bench.ingestion [FOLDER …]

Without folders: FastAPI's documentation in English and Chinese. The embedder is measured before and after the pipeline, since
the machine may be busier at one time than at another; processor time is less moved by that than wall time.
"""

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from functions.local.files import collect, outcomes, put_files
from functions.local.watcher import Watcher
from graph.documents import fresh
from graph.ports import Embedder, ObjectInfo, Passage
from graph.retrieval import indexed_text
from graph.settings import Settings
from graph.wiring import Wiring
from ingestion.passages import Reading, cut, read

DOCS = Path(__file__).parents[3] / "shared" / "data" / "fastapi_docs"
TENANT = "default"
_SAMPLE = 400


class Stage:
    """Wall and processor time of a stage, from its making to its `done`."""

    def __init__(self, name: str) -> None:
        self._name, self._wall, self._cpu = name, time.perf_counter(), time.process_time()

    def done(self, passages: int) -> float:
        """Print the stage; passages a second."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        rate, cost = passages / wall, 1000 * cpu / passages
        spent = f"{cost:7.1f} ms of processor each, {cpu / wall:.2f} cores"
        print(f"{self._name:32} {passages:5} passages {wall:7.2f} s {rate:7.1f}/s {spent}", flush=True)
        return rate


def parsed(paths: Sequence[Path]) -> list[tuple[Reading, ObjectInfo]]:
    """Every file, read and parsed."""
    found = []
    for path, file in sorted(collect(paths).items()):
        body = file.read_bytes()
        info = ObjectInfo(key=path, version="1", bytes=len(body), content_type="", metadata={}, modified_at=0.0, sequencer="1")
        found.append((read(body, fresh(TENANT, path, info, uri=""), {}), info))
    return found


def chunked(readings: Sequence[tuple[Reading, ObjectInfo]], embedder: Embedder) -> list[Passage]:
    """All passages."""
    return [passage for reading, info in readings for passage in cut(reading, fresh(TENANT, info.key, info, uri=""), embedder)]


async def bare(texts: Sequence[str], embedder: Embedder, when: str) -> float:
    """The embedder alone, given all it could wish for: every text in one call."""
    stage = Stage(f"embedder alone, a sample, {when}")
    await embedder.embed(texts, "passage")
    return stage.done(len(texts))


async def pipeline(paths: Sequence[Path], wiring: Wiring, name: str) -> float:
    """From files outside of the bucket to documents that answer."""
    stage = Stage(name)
    async with Watcher(wiring):
        ids = await put_files(paths, wiring)
        counts = [record["passages"] async for record in outcomes(wiring, ids) if record["status"] == "ready"]
    if len(counts) != len(ids):
        print(f"{len(ids) - len(counts)} files failed")
    return stage.done(sum(counts))


async def main(paths: Sequence[Path]) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as home:
        wiring = Wiring(Settings.read(home=Path(home)))
        await wiring.embedder.warm()
        stage = Stage("parse and chunk")
        passages = chunked(parsed(paths), wiring.embedder)
        stage.done(len(passages))
        texts = list({indexed_text(passage) for passage in passages})
        sample = texts[:: max(1, len(texts) // _SAMPLE)]
        before = await bare(sample, wiring.embedder, "before")
        whole = await pipeline(paths, wiring, "pipeline, file to answerable")
        after = await bare([f"{text}." for text in sample], wiring.embedder, "after")  # the same ones might be remembered
        await pipeline(paths, wiring, "pipeline again, nothing changed")
        print(f"pipeline / embedder alone: {2 * whole / (before + after):.2f} (wanted: at least 0.80)")
        print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (wanted: at most 900)")
        await wiring.index.close()
        await wiring.table.close()


if __name__ == "__main__":
    asyncio.run(main([Path(name) for name in sys.argv[1:]] or [DOCS / "en", DOCS / "zh"]))
