"""A wave of queries: fused, deduplicated, budgeted passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.errors import Unavailable
from graph.filters import Condition
from graph.fusion import Found, Fusion, fuse
from graph.ports import Access, ArmHits, Embedder, IndexQuery, Passage, PassageIndex
from graph.text import terms

__all__ = ["Found", "Retriever", "Wave", "indexed_text"]

_ARM_SIZE = 20
_SAME_TEXT = 0.8
"""Share of common shingles, of the shorter text, from which on two passages say the same thing."""
_SAME_SPAN = 0.5
"""Share of the shorter span that two passages of one document may have in common: chunks overlap by a quarter."""


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
        vectors, degraded = await self._vectors(queries)
        wave = [
            IndexQuery(text=text, vector=vector, document_id=document_id, exclude=exclude)
            for text, vector in zip(queries, vectors, strict=True)
        ]
        hits = await self.index.search(wave, access, filters=filters, size=_ARM_SIZE)
        degraded += sorted({arm for one in hits for arm in one.degraded if arm == "bm25" or not degraded})
        return Wave(
            passages=[self._best(one, size) for one in hits],
            hits=hits,
            degraded=degraded,
            warnings=await self._warnings(filters, access),
        )

    async def _vectors(self, queries: Sequence[str]) -> tuple[Sequence[NDArray[np.float32] | None], list[Arm]]:
        try:
            return list(await self.embedder.embed(queries, "query")), []
        except Unavailable:
            return [None] * len(queries), ["embedder"]

    def _best(self, hits: ArmHits, size: int) -> list[Found]:
        best: list[Found] = []
        for found in fuse(hits, self.embedder.calibration, size=_ARM_SIZE, fusion=self.fusion):
            if len(best) == size:
                break
            if not any(_says_the_same(found.passage, other.passage) for other in best):
                best.append(found)
        return best

    async def _warnings(self, filters: Sequence[Condition], access: Access) -> list[str]:
        if not filters:
            return []
        known = await self.index.known_fields(access)
        unknown = sorted({condition.field for condition in filters} - known)
        return [f"No document has the field {field!r}. Known fields: {', '.join(sorted(known))}." for field in unknown]


def _says_the_same(one: Passage, other: Passage) -> bool:
    if one["document_id"] == other["document_id"]:
        common = min(one["end"], other["end"]) - max(one["start"], other["start"])
        return common > _SAME_SPAN * min(one["end"] - one["start"], other["end"] - other["start"])
    first, second = _shingles(one["text"]), _shingles(other["text"])
    return len(first & second) >= _SAME_TEXT * max(1, min(len(first), len(second)))


def _shingles(text: str) -> set[tuple[str, str]]:
    return set(pairwise(terms(text)))
