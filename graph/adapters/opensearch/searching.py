"""Both arms of a wave of queries: one ``_msearch``, and beside it the statistics that BM25's ceilings need."""

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from opensearchpy import OpenSearch

from graph import text
from graph.adapters.opensearch.ceiling import FACTOR_BEFORE_3, ceilings, counted_ceilings
from graph.adapters.opensearch.client import OVERLOADED, ask, wait
from graph.adapters.opensearch.eligibility import Eligible
from graph.adapters.opensearch.schema import Profile, normalised
from graph.errors import IndexUnavailable
from graph.ports import ArmHits, IndexQuery, Json, Passage, Scored

Arm = Literal["bm25", "knn"]

_log = logging.getLogger(__name__)
_ATTEMPTS = 4
_LONE_CHARACTER = re.compile(f"(?<![{text.CJK}])[{text.CJK}](?![{text.CJK}])")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The text of a query: characters that stand alone are looked up among those that bigrams hide."""

    text: str
    characters: str

    @classmethod
    def of(cls, query: str) -> "Words":
        """The words of a query."""
        whole = normalised(query)
        return cls(text=_LONE_CHARACTER.sub(" ", whole), characters=" ".join(_LONE_CHARACTER.findall(whole)))


@dataclass(frozen=True, kw_only=True)
class Search:
    """How to search one index."""

    client: OpenSearch
    index: str
    profile: Profile
    space: str
    ef_search: int

    async def hits(self, queries: Sequence[IndexQuery], eligible: Sequence[Eligible], size: int) -> list[ArmHits]:
        """What both arms find for each query.

        Raises:
            IndexUnavailable: neither answers.
        """
        words = [Words.of(query.text) for query in queries]
        found, highest = await asyncio.gather(
            asyncio.to_thread(self._search, queries, words, eligible, size), asyncio.to_thread(self._ceilings, words)
        )
        return [
            _hits(query, found[i, "bm25"], found[i, "knn"], highest[i] if highest else None) for i, query in enumerate(queries)
        ]

    def _ceilings(self, words: Sequence[Words]) -> list[float] | None:
        try:
            told = counted_ceilings if self.profile == "serverless" else ceilings
            highest = told(self.client, self.index, [(one.text, one.characters) for one in words])
            return [one * self._factor for one in highest]
        except IndexUnavailable as error:
            _log.warning("the ceilings of BM25 cannot be had: %s", error)
            return None

    @cached_property
    def _factor(self) -> float:
        if self.profile == "serverless":
            return FACTOR_BEFORE_3
        number: str = ask(self.client.info)["version"]["number"]
        return FACTOR_BEFORE_3 if int(number.partition(".")[0]) < 3 else 1.0

    def _search(
        self, queries: Sequence[IndexQuery], words: Sequence[Words], eligible: Sequence[Eligible], size: int
    ) -> dict[tuple[int, Arm], list[Scored] | None]:
        """Hits of each query in each arm; None where the arm fails."""
        bodies: dict[tuple[int, Arm], Json] = {}
        for i, query in enumerate(queries):
            bodies[i, "bm25"] = _by_terms(words[i], eligible[i].query(excluded=query.exclude))
            if query.vector is not None:
                bodies[i, "knn"] = self._by_vector(query, eligible[i].query(excluded=query.exclude), size)
        answers = self._answers([body | {"size": size} for body in bodies.values()])
        found = {key: self._scored(key[1], answer) for key, answer in zip(bodies, answers, strict=True)}
        return {(i, arm): found.get((i, arm)) for i in range(len(queries)) for arm in ("bm25", "knn")}

    def _answers(self, bodies: Sequence[Json]) -> list[Any]:
        frame = {"_source": ["passage"], "track_total_hits": False}
        lines = "".join(f"{{}}\n{json.dumps(body | frame)}\n" for body in bodies)
        for attempt in range(_ATTEMPTS):
            answers: list[Any] = ask(self.client.msearch, body=lines, index=self.index)["responses"]
            if all(answer.get("status") != OVERLOADED for answer in answers):
                break
            wait(attempt)
        return answers

    def _by_vector(self, query: IndexQuery, eligible: Json, size: int) -> Json:
        nearest = {
            "vector": [] if query.vector is None else query.vector.tolist(),
            "k": size,
            "filter": eligible,
            "method_parameters": {"ef_search": max(self.ef_search, size)},  # Lucene of 2.19 explores only k otherwise
        }
        return {"query": {"knn": {"vector": nearest}}}

    def _scored(self, arm: Arm, answer: Any) -> list[Scored] | None:
        if "error" in answer or answer["_shards"]["failed"]:
            _log.warning("the %s arm does not answer: %s", arm, answer.get("error", answer.get("_shards")))
            return None
        hits = answer["hits"]["hits"]
        return [
            Scored(passage=cast("Passage", hit["_source"]["passage"]), score=self._score(arm, hit["_score"])) for hit in hits
        ]

    def _score(self, arm: Arm, score: float) -> float:
        """The score as the port has it: OpenSearch makes similarities positive."""
        if arm == "bm25":
            return score
        if self.space == "cosinesimil":
            return 2 * score - 1
        return score - 1 if score >= 1 else 1 - 1 / score


def _by_terms(words: Words, eligible: Json) -> Json:
    should: list[Json] = [{"match": {"indexed": words.text}}]
    should += [{"match": {"indexed.characters": words.characters}}] if words.characters else []
    return {"query": {"bool": {"should": should, "minimum_should_match": 1, "filter": [eligible]}}}


def _hits(query: IndexQuery, bm25: list[Scored] | None, knn: list[Scored] | None, ceiling: float | None) -> ArmHits:
    if ceiling is None:  # scores without a scale say nothing
        bm25 = None
    if bm25 is None and knn is None:
        raise IndexUnavailable("neither the terms nor the vectors of the index can be searched")
    degraded: list[Arm] = ["bm25"] if bm25 is None else []
    degraded += ["knn"] if knn is None and query.vector is not None else []
    return ArmHits(bm25=bm25 or [], knn=knn or [], ceiling=ceiling or 0.0, degraded=degraded, query=query.text)
