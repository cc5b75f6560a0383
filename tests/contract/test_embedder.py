"""What every `Embedder` does. Another adapter is one more parameter of the fixture."""

import asyncio
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

from graph.adapters import boto
from graph.adapters.bedrock import BedrockEmbedder
from graph.adapters.bedrock_models import Cohere, Titan
from graph.adapters.e5 import E5Embedder
from graph.ports import Embedder
from graph.settings import Settings
from tests.standins.bedrock import Bedrock, bedrock

LONG = "The quick brown fox jumps over the lazy dog. 敏捷的棕色狐狸跳过了懒狗。" * 25


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(cache=Settings.read({}).cache.expanduser())


@pytest.fixture(scope="module")
def bedrock_server(e5: E5Embedder) -> Iterator[Bedrock]:
    with bedrock(e5) as running:
        yield running


@pytest.fixture(scope="module")
def titan(bedrock_server: Bedrock) -> Iterator[BedrockEmbedder]:
    client = boto.build("bedrock-runtime", attempts=0, **bedrock_server.connection)
    yield BedrockEmbedder(Titan(), client=client)
    client.close()


@pytest.fixture(scope="module")
def cohere(bedrock_server: Bedrock) -> Iterator[BedrockEmbedder]:
    client = boto.build("bedrock-runtime", attempts=0, **bedrock_server.connection)
    yield BedrockEmbedder(Cohere(), client=client)
    client.close()


@pytest.fixture(params=["e5", "titan", "cohere"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return cast("Embedder", request.getfixturevalue(request.param))


knowing_kinds = pytest.mark.parametrize("embedder", ["e5", "cohere"], indirect=True)
"""Titan reads questions and passages alike."""
calibrated = pytest.mark.parametrize("embedder", ["e5"], indirect=True)
"""What Bedrock's models do is not to be seen from a stand-in."""


async def test_vectors_have_the_shape_that_is_promised_and_length_one(embedder: Embedder) -> None:
    texts = ["one", "another text", "还有一个", LONG]

    for kind in ("query", "passage"):
        vectors = await embedder.embed(texts, kind)
        assert vectors.shape == (4, embedder.dimensions)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_nothing_to_embed_gives_no_rows(embedder: Embedder) -> None:
    assert (await embedder.embed([], "query")).shape == (0, embedder.dimensions)


async def test_a_text_has_one_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    texts = ["How long may a trip be?", "x", LONG, "国内出差的报销期限是多少天？", "x"]

    together = await embedder.embed(texts, "passage")
    alone = np.concatenate([await embedder.embed([text], "passage") for text in texts])

    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_array_equal(together[1], together[4])


@knowing_kinds
async def test_questions_and_passages_are_embedded_differently(embedder: Embedder) -> None:
    query, passage = [await embedder.embed(["Expenses are refunded."], kind) for kind in ("query", "passage")]

    assert not np.allclose(query, passage)


async def test_meaning_is_near_across_words_and_languages(embedder: Embedder) -> None:
    passages = await embedder.embed(
        [
            "Employees get their travel costs back within a month.",
            "The museum opens at nine and is closed on Mondays.",
            "出差费用在一个月之内报销。",
        ],
        "passage",
    )
    questions = await embedder.embed(["How soon are trips reimbursed?", "博物馆几点开门？"], "query")

    scores = questions @ passages.T

    assert scores[0, 0] > scores[0, 1]
    assert scores[0, 2] > scores[0, 1]
    assert scores[1, 1] > scores[1, 0]


@calibrated
async def test_unrelated_passages_are_as_near_as_the_calibration_says(embedder: Embedder) -> None:
    texts = [
        "The museum opens at nine.", "Invoices are kept for ten years.", "Photosynthesis turns light into sugar.",
        "The match ended in a draw.", "Reset the router by holding the button.", "Bake the bread for forty minutes.",
        "The treaty was signed in 1648.", "Cats sleep most of the day.",
    ]  # fmt: skip
    vectors = await embedder.embed(texts, "passage")

    cosines = (vectors @ vectors.T)[np.triu_indices(len(texts), 1)]

    assert abs(cosines.mean() - embedder.calibration.random_mean) < 5 * embedder.calibration.random_std


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "\0", "\ud800", "<s></s><mask>", "👩‍💻", "\u200b", "a" * 3_000, "税" * 1_500]
)
async def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    (vector,) = await embedder.embed([text], "passage")

    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_the_end_of_a_text_counts_beyond_one_window(embedder: Embedder) -> None:
    filler = "Nothing of interest is said here. " * (embedder.max_tokens // 5)
    with_end, without = await embedder.embed([filler + "Penguins live in Antarctica.", filler], "passage")
    (penguins,) = await embedder.embed(["Where do penguins live?"], "query")

    assert penguins @ with_end > penguins @ without


async def test_tokens_are_counted_without_special_ones(embedder: Embedder) -> None:
    none, one, many = embedder.count_tokens(["", "hello", "hello " * 50])

    assert none == 0
    assert 1 <= one <= 3
    assert many == 50 * one
    assert embedder.count_tokens([]) == []


async def test_calls_may_run_at_the_same_time(embedder: Embedder) -> None:
    texts = [f"text number {n}" for n in range(20)]
    expected = await embedder.embed(texts, "passage")

    results = await asyncio.gather(*(embedder.embed([text], "passage") for text in texts))

    np.testing.assert_allclose(np.concatenate(results), expected, atol=1e-6)


async def test_warming_twice_is_fine_and_the_model_has_a_name(embedder: Embedder) -> None:
    await embedder.warm()
    await embedder.warm()

    assert embedder.model
