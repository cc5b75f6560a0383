"""Both arms of a wave of queries, over one generation."""

import json
import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from graph import text
from graph.adapters.sqlite_index import bm25, reading
from graph.adapters.sqlite_index.eligibility import Eligible
from graph.adapters.sqlite_index.memory import Floats, Generation, Mask
from graph.errors import IndexUnavailable
from graph.filters import Condition
from graph.ports import Access, ArmHits, IndexQuery, Passage, Scored

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Best:
    """What one arm found for one query: rows of the file with scores, best first."""

    rows: list[tuple[int, float]]
    ceiling: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Search:
    """One wave in one snapshot."""

    connection: sqlite3.Connection
    generation: Generation
    access: Access
    filters: tuple[Condition, ...]
    size: int

    def hits(self, queries: Sequence[IndexQuery]) -> list[ArmHits]:
        """What both arms find.

        Raises:
            IndexUnavailable: neither answers.
        """
        masks = [self._mask(query) for query in queries]
        terms = self._attempt("bm25", self._by_terms, queries, masks)
        vectors = self._attempt("knn", self._by_vector, queries, masks)
        if terms is None and (vectors is None or all(query.vector is None for query in queries)):
            raise IndexUnavailable("neither the terms nor the vectors of the index can be searched")
        degraded: list[Literal["bm25", "knn"]] = []
        degraded += ["bm25"] if terms is None else []
        degraded += ["knn"] if vectors is None else []
        nothing = [_Best([])] * len(queries)
        return self._hydrated(queries, terms or nothing, vectors or nothing, degraded)

    def _mask(self, query: IndexQuery) -> Mask:
        mask = self.generation.mask(self.connection, Eligible(self.access, self.filters, query.document_id))
        return self.generation.without(self.connection, mask, json.dumps(list(query.exclude))) if query.exclude else mask

    def _attempt(
        self, arm: str, search: Callable[[IndexQuery, Mask], _Best], queries: Sequence[IndexQuery], masks: Sequence[Mask]
    ) -> list[_Best] | None:
        try:
            return [search(query, mask) for query, mask in zip(queries, masks, strict=True)]
        except (sqlite3.Error, ValueError) as error:
            _log.warning("the %s arm does not answer: %s", arm, error)
            return None

    def _by_terms(self, query: IndexQuery, mask: Mask) -> _Best:
        seen = self.generation.mask(self.connection, Eligible(self.access))
        scores, ceiling = bm25.scores(self.connection, self.generation, text.terms(query.text), seen)
        return _Best(self._best(scores, mask & (scores > 0)), ceiling)

    def _by_vector(self, query: IndexQuery, mask: Mask) -> _Best:
        if query.vector is None or not mask.any():
            return _Best([])
        if self.generation.vectors is None:
            raise ValueError("the vectors were not read")
        return _Best(self._best(self.generation.vectors @ query.vector, mask))

    def _best(self, scores: Floats, mask: Mask) -> list[tuple[int, float]]:
        slots = np.flatnonzero(mask)
        if len(slots) > self.size:
            slots = slots[np.argpartition(-scores[slots], self.size - 1)[: self.size]]
        slots = slots[np.lexsort((slots, -scores[slots]))]
        return list(zip(self.generation.rows[slots].tolist(), scores[slots].tolist(), strict=True))

    def _hydrated(
        self,
        queries: Sequence[IndexQuery],
        terms: Sequence[_Best],
        vectors: Sequence[_Best],
        degraded: list[Literal["bm25", "knn"]],
    ) -> list[ArmHits]:
        found = {row for best in (*terms, *vectors) for row, _ in best.rows}
        passages = reading.by_row(self.connection, found)
        return [
            ArmHits(
                bm25=_scored(passages, by_terms),
                knn=_scored(passages, by_vector),
                ceiling=by_terms.ceiling,
                degraded=degraded,
                query=query.text,
            )
            for query, by_terms, by_vector in zip(queries, terms, vectors, strict=True)
        ]


def _scored(passages: dict[int, Passage], best: _Best) -> list[Scored]:
    return [Scored(passage=passages[row], score=score) for row, score in best.rows]
