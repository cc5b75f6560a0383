"""A wave of queries: fused, deduplicated, budgeted passages."""

import asyncio
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

__all__ = ["Found", "Retriever", "Wave", "indexed_text"]

_ARM_SIZE = 20
_CHARACTERS_PER_TOKEN = 1.5
"""Where the embedder cannot count: as in Chinese, so that a budget is not exceeded."""

Arm = Literal["bm25", "knn", "embedder"]


def indexed_text(passage: Passage) -> str:
    """The text of a passage as it is embedded, hashed and put into BM25: under its title and heading path."""
    return "\n".join(part for part in (passage["title"], passage.get("heading"), passage["text"]) if part)


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

    async def with_neighbours(self, passages: Sequence[Passage], access: Access, *, tokens: int) -> list[Passage]:
        """The passages, best first, with those before and after each, as far as ``tokens`` reach.

        The given ones come before any neighbour, and the first of them in any case. Each is followed, and preceded, by its
        neighbours in reading order.
        """
        around = await self.index.neighbours(passages, access)
        rank = {passage["passage_id"]: place for place, passage in enumerate(passages)}
        nearest = [_nearest(passage, passages) for passage in around]
        by_worth = sorted(range(len(around)), key=lambda place: (around[place]["passage_id"] not in rank, nearest[place]))
        sizes = await self._sizes(around)
        kept: set[int] = set()
        for place in by_worth:
            if not kept or sum(sizes[one] for one in kept) + sizes[place] <= tokens:
                kept.add(place)
        return [around[place] for place in sorted(kept, key=lambda place: (nearest[place], around[place]["ordinal"]))]

    async def _sizes(self, passages: Sequence[Passage]) -> list[int]:
        texts = [passage["text"] for passage in passages]
        try:
            return await asyncio.to_thread(self.embedder.count_tokens, texts)
        except Unavailable:
            return [round(len(text) / _CHARACTERS_PER_TOKEN) for text in texts]

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


def _nearest(passage: Passage, chosen: Sequence[Passage]) -> int:
    """Place of the chosen passage that this one is, or else is beside; the best of several."""
    inside = [place for place, one in enumerate(chosen) if one["document_id"] == passage["document_id"]]
    return min(inside, key=lambda place: (abs(chosen[place]["ordinal"] - passage["ordinal"]), place))
