"""What Bedrock's embedding models take and give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graph.adapters.recent import Kind
from graph.errors import InvalidSetting
from graph.ports import Calibration, Json


class BedrockModel(Protocol):
    """One model of Bedrock."""

    @property
    def id(self) -> str:
        """Bedrock's name of it."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Of one text, by our estimate."""
        ...

    @property
    def max_characters(self) -> int:
        """Of one text."""
        ...

    @property
    def batch(self) -> int:
        """Texts of one request."""
        ...

    @property
    def calibration(self) -> Calibration: ...

    def request(self, texts: Sequence[str], kind: Kind) -> Json:
        """The body of a request."""
        ...

    def vectors(self, answer: Any) -> list[list[float]]:
        """The vectors of its answer."""
        ...


@dataclass(frozen=True)
class Titan:
    """Amazon Titan Text Embeddings V2: one text a request, read as the same whether it asks or answers."""

    dimensions: int = 1024
    id = "amazon.titan-embed-text-v2:0"
    max_tokens = 512
    """It would read 8,192, but passages are made to this measure, and a footnote should point at a short one."""
    max_characters = 50_000
    batch = 1
    calibration = Calibration(random_mean=0.08, random_std=0.06)
    """An estimate: `footnote doctor` says what the model in use does."""

    def __post_init__(self) -> None:
        if self.dimensions not in (256, 512, 1024):
            raise InvalidSetting(f"FOOTNOTE_EMBEDDER_DIMENSIONS={self.dimensions}: Titan's vectors have 256, 512 or 1024")

    def request(self, texts: Sequence[str], kind: Kind) -> Json:  # noqa: ARG002  # it knows no kinds
        (text,) = texts
        return {"inputText": text, "dimensions": self.dimensions, "normalize": True}

    def vectors(self, answer: Any) -> list[list[float]]:
        return [answer["embedding"]]


@dataclass(frozen=True)
class Cohere:
    """Cohere Embed Multilingual v3: many texts a request; questions and passages are read differently."""

    id = "cohere.embed-multilingual-v3"
    dimensions = 1024
    max_tokens = 512
    max_characters = 2048
    batch = 96
    calibration = Calibration(random_mean=0.3, random_std=0.07)
    """An estimate: `footnote doctor` says what the model in use does."""

    def request(self, texts: Sequence[str], kind: Kind) -> Json:
        read_as = "search_query" if kind == "query" else "search_document"
        return {"texts": list(texts), "input_type": read_as, "truncate": "END"}

    def vectors(self, answer: Any) -> list[list[float]]:
        vectors: list[list[float]] = answer["embeddings"]
        return vectors
