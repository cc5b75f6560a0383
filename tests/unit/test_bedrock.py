"""What Bedrock adds to the contract of `Embedder`: its limits, its refusals, its sizes."""

from collections.abc import Iterator

import numpy as np
import pytest

from graph.adapters import boto
from graph.adapters.bedrock import BedrockEmbedder
from graph.adapters.bedrock_models import BedrockModel, Cohere, Titan
from graph.adapters.e5 import E5Embedder
from graph.errors import InvalidSetting, Unavailable
from graph.settings import Settings
from graph.wiring import Wiring
from tests.standins.bedrock import Bedrock, Refused, bedrock

THROTTLED = Refused(429, "ThrottlingException", "Too many requests, please wait before trying again.")


@pytest.fixture
def server() -> Iterator[Bedrock]:
    with bedrock(E5Embedder(cache=Settings().cache.expanduser())) as running:
        yield running


@pytest.fixture
def client(server: Bedrock) -> Iterator[object]:
    made = boto.build("bedrock-runtime", attempts=0, **server.connection)
    yield made
    made.close()


def embedder(client: object, model: BedrockModel) -> BedrockEmbedder:
    return BedrockEmbedder(model, client=client, first_wait_s=0.001)


async def test_cohere_is_asked_for_96_texts_at_once_and_told_what_they_are(server: Bedrock, client: object) -> None:
    await embedder(client, Cohere()).embed([f"text {n}" for n in range(200)], "passage")

    assert sorted(len(body["texts"]) for body in server.asked) == [8, 96, 96]
    assert {body["input_type"] for body in server.asked} == {"search_document"}

    await embedder(client, Cohere()).embed(["a question"], "query")
    assert server.asked[-1]["input_type"] == "search_query"


async def test_titan_is_asked_once_for_each_text_that_it_has_not_just_read(server: Bedrock, client: object) -> None:
    titan = embedder(client, Titan())

    await titan.embed(["a", "b", "a"], "query")
    await titan.embed(["b", "c"], "query")

    assert sorted(body["inputText"] for body in server.asked) == ["a", "b", "c"]


@pytest.mark.parametrize("dimensions", [256, 512, 1024])
async def test_titan_gives_vectors_of_the_size_that_is_set(client: object, dimensions: int) -> None:
    titan = embedder(client, Titan(dimensions))

    assert (await titan.embed(["text"], "passage")).shape == (1, dimensions)
    assert titan.model == f"amazon.titan-embed-text-v2:0/{dimensions}/1"  # vectors of two sizes never meet


async def test_throttling_is_waited_for(server: Bedrock, client: object) -> None:
    server.failures = [THROTTLED] * 6

    vectors = await embedder(client, Cohere()).embed(["text"], "passage")

    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert len(server.asked) == 7


async def test_nobody_who_asks_waits_for_long(server: Bedrock, client: object) -> None:
    server.failures = [THROTTLED] * 20

    with pytest.raises(Unavailable, match="ThrottlingException"):
        await embedder(client, Cohere()).embed(["text"], "query")
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("refused", "remedy"),
    [
        (Refused(403, "AccessDeniedException", "You don't have access to the model"), "Request access"),
        (Refused(404, "ResourceNotFoundException", "no such model"), "FOOTNOTE_EMBEDDER"),
        (Refused(400, "ValidationException", "Malformed input request"), "Malformed"),
    ],
)
async def test_what_waiting_does_not_help_is_said_at_once(
    server: Bedrock, client: object, refused: Refused, remedy: str
) -> None:
    server.failures = [refused]

    with pytest.raises(Unavailable, match=remedy):
        await embedder(client, Titan()).embed(["text"], "passage")
    assert len(server.asked) == 1


async def test_a_bedrock_that_does_not_answer_is_unavailable() -> None:
    nowhere = Bedrock(url="http://127.0.0.1:1").connection
    client = boto.build("bedrock-runtime", attempts=0, **nowhere)
    with pytest.raises(Unavailable, match="Bedrock"):
        await embedder(client, Titan()).embed(["text"], "query")
    client.close()


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        (Settings(embedder="bedrock-titan-v2", embedder_dimensions=512), "amazon.titan-embed-text-v2:0/512/1"),
        (Settings(embedder="bedrock-cohere-multilingual"), "cohere.embed-multilingual-v3/1024/1"),
    ],
)
def test_settings_choose_the_model(settings: Settings, model: str) -> None:
    assert Wiring(settings).embedder.model == model


def test_a_size_that_titan_has_not_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="256, 512 or 1024"):
        _ = Wiring(Settings(embedder="bedrock-titan-v2", embedder_dimensions=384)).embedder
