"""A retriever over a handful of passages in memory, whose scores a test can read off: shares of the query's terms."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from graph.errors import IndexUnavailable
from graph.filters import Condition
from graph.ports import Access, ArmHits, Calibration, Passage, PassageIndex, Scored
from graph.reasoner import Source
from graph.retrieval import Found, Retriever, Wave, nearest
from graph.text import terms

CEILING = 20.0


class HashEmbedder:
    """Bags of words, hashed: texts that share words are close."""

    model = "hash"
    dimensions = 256
    max_tokens = 512
    calibration = Calibration(random_mean=0.1, random_std=0.1)

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> NDArray[np.float32]:  # noqa: ARG002  # the port's
        vectors = np.full((len(texts), self.dimensions), 1e-6, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for term in terms(text):
                row[int.from_bytes(hashlib.sha256(term.encode()).digest()[:2]) % self.dimensions] += 1
        normed: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normed

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(terms(text)) for text in texts]

    async def warm(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Library(Retriever):
    """Searches its passages, and remembers for what."""

    passages: list[Passage] = field(default_factory=list)
    queries: list[list[str]] = field(default_factory=list)
    filters: list[Sequence[Condition]] = field(default_factory=list)
    access: list[Access] = field(default_factory=list)
    failures: list[IndexUnavailable] = field(default_factory=list)
    """Raised by the next searches, one each."""
    degraded: list[Literal["bm25", "knn", "embedder"]] = field(default_factory=list)

    async def search(
        self,
        queries: Sequence[str],
        access: Access,
        *,
        size: int = 5,
        filters: Sequence[Condition] = (),
        document_id: str | None = None,
        exclude: frozenset[str] = frozenset(),
    ) -> Wave:
        self.queries.append(list(queries))
        self.filters.append(filters)
        self.access.append(access)
        if self.failures:
            raise self.failures.pop()
        wanted = [
            one for one in self.passages if one["passage_id"] not in exclude and document_id in (None, one["document_id"])
        ]
        found = [_ranked(query, wanted)[:size] for query in queries]
        return Wave(
            passages=found, hits=[_hits(*one) for one in zip(queries, found, strict=True)], degraded=self.degraded, warnings=[]
        )

    async def around(self, passages: Sequence[Passage], access: Access) -> list[Passage]:  # noqa: ARG002  # all may read all
        return [one for one in self.passages if one not in passages and nearest(one, passages) < len(passages)]


def library(*passages: Passage) -> Library:
    return Library(embedder=HashEmbedder(), index=cast("PassageIndex", None), passages=list(passages))


def _ranked(query: str, passages: Sequence[Passage]) -> list[Found]:
    found = [_found(query, passage) for passage in passages]
    return sorted((one for one in found if one.coverage > 0), key=lambda one: -one.score)


def _found(query: str, passage: Passage) -> Found:
    asked = set(terms(query)) - _STOP
    share = len(asked & set(terms(passage["text"] + " " + passage["title"]))) / max(1, len(asked))
    cosine, coverage = 0.1 + 0.85 * math.sqrt(share), share**3  # a half of the query is neither confident nor hopeless
    return Found(
        passage=passage,
        score=cosine + 0.15 * coverage,
        coverage=coverage,
        cosine=cosine,
        bm25=(1, coverage * CEILING),
        knn=(1, cosine),
    )


def _hits(query: str, found: Sequence[Found]) -> ArmHits:
    bm25 = [Scored(passage=one.passage, score=one.coverage * CEILING) for one in found]
    knn = [Scored(passage=one.passage, score=one.cosine) for one in found]
    return ArmHits(bm25=bm25, knn=knn, ceiling=CEILING, query=query)


def hits_of(query: str, sources: Sequence[Source]) -> ArmHits:
    """What both arms would have found for these sources."""
    return _hits(query, _ranked(query, [source["passage"] for source in sources]))


_STOP = set(terms("a an the is are do does did how what which who when where why of in on to for and it about much long"))
