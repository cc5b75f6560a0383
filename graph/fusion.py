"""One list from the two arms of a search.

On absolute scales: ``cosine + λ × coverage``. Coverage is BM25 over the query's ceiling: how much of what is asked is in this
passage. Cosines of one embedder have one spread, whatever the query, and λ is scaled with it. A bad arm then has little to
say, where reciprocal rank fusion lets it vote as loudly as a good one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.ports import ArmHits, Calibration, Passage, Scored

Fusion = Literal["absolute", "rrf"]
_LAMBDA_SPREADS = 7.5
"""λ in standard deviations of random cosines: 0.15 for multilingual-e5-small, chosen on the public sets."""
_RRF_K = 60
_Place = tuple[int, float]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A passage with its scores."""

    passage: Passage
    score: float
    """cosine + λ × coverage (or the RRF score)."""
    coverage: float
    """Share of the query's information, 0 to 1; 0 where the BM25 arm is down."""
    cosine: float
    """0 where the vectors are down."""
    bm25: tuple[int, float] | None
    """Rank (from 1) and score in the BM25 arm."""
    knn: tuple[int, float] | None


def fuse(hits: ArmHits, calibration: Calibration, *, size: int, fusion: Fusion = "absolute") -> list[Found]:
    """Passages of both arms, best first; ``size`` is how many each arm was asked for.

    A passage that only one arm found gets the last score of the other's list, and 0 from a BM25 list that is not full.
    """
    weight = _LAMBDA_SPREADS * calibration.random_std
    by_terms, by_vector = _places(hits.bm25), _places(hits.knn)
    last_bm25 = hits.bm25[-1].score if len(hits.bm25) >= size else 0.0
    last_cosine = hits.knn[-1].score if hits.knn else 0.0
    found = []
    for passage in _each_once(hits):
        bm25, knn = by_terms.get(passage["passage_id"]), by_vector.get(passage["passage_id"])
        coverage = min(1.0, (bm25[1] if bm25 else last_bm25) / hits.ceiling) if hits.ceiling else 0.0
        cosine = knn[1] if knn else last_cosine
        score = cosine + weight * coverage if fusion == "absolute" else _reciprocal((bm25, knn))
        found.append(Found(passage=passage, score=score, coverage=coverage, cosine=cosine, bm25=bm25, knn=knn))
    return sorted(found, key=lambda one: -one.score)


def _places(arm: Sequence[Scored]) -> dict[str, _Place]:
    return {scored.passage["passage_id"]: (rank, scored.score) for rank, scored in enumerate(arm, 1)}


def _each_once(hits: ArmHits) -> Iterable[Passage]:
    return {scored.passage["passage_id"]: scored.passage for scored in (*hits.knn, *hits.bm25)}.values()


def _reciprocal(places: Iterable[_Place | None]) -> float:
    return sum(1 / (_RRF_K + place[0]) for place in places if place)
