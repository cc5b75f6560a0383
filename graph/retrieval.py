"""A wave of queries: fused, deduplicated, budgeted passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph.filters import Condition
from graph.ports import Access, ArmHits, Embedder, Passage, PassageIndex


def indexed_text(passage: Passage) -> str:
    """The text of a passage as it is embedded, hashed and put into BM25: under its title and heading path."""
    return "\n".join(part for part in (passage["title"], passage.get("heading"), passage["text"]) if part)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A passage with its scores."""

    passage: Passage
    score: float
    """cosine + λ × coverage (or the RRF score)."""
    coverage: float
    cosine: float
    bm25: tuple[int, float] | None
    """Rank (from 1) and score in the BM25 arm."""
    knn: tuple[int, float] | None


@dataclass(frozen=True, kw_only=True)
class Wave:
    """What one wave found."""

    passages: list[list[Found]]
    """One list for each query, best first, near-duplicates dropped."""
    hits: list[ArmHits]
    degraded: list[Literal["bm25", "knn", "embedder"]]
    warnings: list[str]


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Searches: embeds, asks both arms, fuses."""

    embedder: Embedder
    index: PassageIndex
    fusion: Literal["absolute", "rrf"] = "absolute"

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
        raise NotImplementedError
