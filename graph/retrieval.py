"""A wave of queries: fused, deduplicated passages, and those around them."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.duplicates import says_nothing_new
from graph.errors import Unavailable
from graph.filters import Condition
from graph.fusion import Found, Fusion, fuse
from graph.ports import Access, ArmHits, Embedder, IndexQuery, Passage, PassageIndex

__all__ = ["Found", "Retriever", "Wave", "counted", "indexed_text", "nearest"]

_ARM_SIZE = 20
_CHARACTERS_PER_TOKEN = 1.5
"""Where the embedder cannot count: as in Chinese, so that a budget is not exceeded."""

Arm = Literal["bm25", "knn", "embedder"]


def indexed_text(passage: Passage) -> str:
    """The text of a passage as it is embedded, hashed and put into BM25: under its title and heading path."""
    return "\n".join(part for part in (passage["title"], passage.get("heading"), passage["text"]) if part)


def counted(texts: Sequence[str], embedder: Embedder) -> list[int]:
    """Tokens of each text, estimated where the embedder is down."""
    try:
        return embedder.count_tokens(texts)
    except Unavailable:
        return [math.ceil(len(text) / _CHARACTERS_PER_TOKEN) for text in texts]


@dataclass(frozen=True, kw_only=True)
class Wave:
    """What one wave found."""

    passages: list[list[Found]]
    """One list for each query, best first, near-duplicates dropped."""
    hits: list[ArmHits]
    degraded: list[Arm]
    warnings: list[str]


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Searches: embeds, asks both arms, fuses."""

    embedder: Embedder
    index: PassageIndex
    fusion: Fusion = "absolute"

    async def search(  # noqa: PLR0913  # one call says all that a wave is about
        self,
        queries: Sequence[str],
        access: Access,
        *,
        size: int = 5,
        filters: Sequence[Condition] = (),
        document_id: str | None = None,
        exclude: frozenset[str] = frozenset(),
    ) -> Wave:
        """Passages for every query of a wave, in one round trip.

        Raises:
            IndexUnavailable: neither arm answers.
        """
        warnings = await self._warnings(filters, access)
        if warnings or not queries:
            return Wave(
                passages=[[] for _ in queries],
                hits=[ArmHits(bm25=[], knn=[], ceiling=0, query=text) for text in queries],
                degraded=[],
                warnings=warnings,
            )
        vectors, degraded = await self._vectors(queries)
        wave = [
            IndexQuery(text=text, vector=vector, document_id=document_id, exclude=exclude)
            for text, vector in zip(queries, vectors, strict=True)
        ]
        depth = max(_ARM_SIZE, size)
        hits = await self.index.search(wave, access, filters=filters, size=depth)
        degraded += sorted({arm for one in hits for arm in one.degraded})
        return Wave(passages=[self._best(one, size, depth) for one in hits], hits=hits, degraded=degraded, warnings=[])

    async def around(self, passages: Sequence[Passage], access: Access) -> list[Passage]:
        """The passages before and after each of these, without themselves, in their order."""
        chosen = {passage["passage_id"] for passage in passages}
        beside = [one for one in await self.index.neighbours(passages, access) if one["passage_id"] not in chosen]
        return sorted(beside, key=lambda one: nearest(one, passages))

    async def sizes(self, passages: Sequence[Passage]) -> list[int]:
        """Tokens of each passage."""
        return await asyncio.to_thread(counted, [passage["text"] for passage in passages], self.embedder)

    async def _vectors(self, queries: Sequence[str]) -> tuple[Sequence[NDArray[np.float32] | None], list[Arm]]:
        try:
            return list(await self.embedder.embed(queries, "query")), []
        except Unavailable:
            return [None] * len(queries), ["embedder"]

    def _best(self, hits: ArmHits, size: int, depth: int) -> list[Found]:
        best: list[Found] = []
        for found in fuse(hits, self.embedder.calibration, size=depth, fusion=self.fusion):
            if len(best) == size:
                break
            if not any(says_nothing_new(found.passage, beside.passage) for beside in best):
                best.append(found)
        return best

    async def _warnings(self, filters: Sequence[Condition], access: Access) -> list[str]:
        if not filters:
            return []
        known = await self.index.known_fields(access)
        unknown = sorted({condition.field for condition in filters} - known)
        return [f"No document has the field {field!r}. Known fields: {', '.join(sorted(known))}." for field in unknown]


def nearest(passage: Passage, chosen: Sequence[Passage]) -> int:
    """Place of the chosen passage that this one is, or else is beside; the best of several, the end where there is none."""
    places = [place for place, one in enumerate(chosen) if one["document_id"] == passage["document_id"]]
    distances = {place: abs(chosen[place]["ordinal"] - passage["ordinal"]) for place in places}
    return min(
        (place for place in places if distances[place] <= 1), key=lambda place: (distances[place], place), default=len(chosen)
    )
