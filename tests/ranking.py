"""Public sets with their vectors, and how well a ranking of them is."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ports import Access, ArmHits, Calibration, Document, IndexQuery, Passage, PassageIndex

E5 = Calibration(random_mean=0.83, random_std=0.02)
ARM_SIZE = 20
"""Passages that each arm is asked for."""
_WAVE = 10


@dataclass(frozen=True)
class PublicSet:
    """A set of documents and questions, with vectors by multilingual-e5-small."""

    passages: list[Passage]
    vectors: NDArray[np.float32]
    """Of the passages, shape (n, 384)."""
    queries: list[IndexQuery]
    relevant: list[dict[str, int]]
    """Grades by document, for each query."""

    @classmethod
    def read(cls, folder: Path, *, questions: str = "", documents: str = "") -> "PublicSet":
        """Documents that have a vector, and questions that some of them answer, whose ids have these prefixes."""
        vectors = np.load(folder / "e5_small.npz")
        of_documents, of_queries = _by_id(vectors, "doc"), _by_id(vectors, "query")
        listed = (one for one in _lines(folder / "corpus.jsonl") if one["_id"].startswith(documents))
        corpus = [one for one in listed if one["_id"] in of_documents]
        known = {one["_id"] for one in corpus}
        graded = {query: {one: grades[one] for one in grades if one in known} for query, grades in _grades(folder).items()}
        asked = [one for one in _lines(folder / "queries.jsonl") if one["_id"].startswith(questions) and graded.get(one["_id"])]
        return cls(
            passages=[_passage(n, one) for n, one in enumerate(corpus)],
            vectors=np.stack([of_documents[one["_id"]] for one in corpus]),
            queries=[IndexQuery(text=one["text"], vector=of_queries[one["_id"]]) for one in asked],
            relevant=[graded[one["_id"]] for one in asked],
        )

    async def searched(self, index: PassageIndex) -> list[ArmHits]:
        """What both arms of an empty index find for each question, once it holds the documents."""
        document, access = Document(document_id="set", version="1", tenant="t"), Access(tenant="t")
        ids = [passage["passage_id"] for passage in self.passages]
        await index.stage(document, self.passages, self.vectors, texts_sha256=ids, model="e5")
        await index.publish(document)
        hits: list[ArmHits] = []
        for start in range(0, len(self.queries), _WAVE):
            hits += await index.search(self.queries[start : start + _WAVE], access, size=ARM_SIZE)
        return hits

    def ndcg(self, ranked: Iterable[Sequence[Passage]]) -> float:
        """nDCG@10 of a ranking for each question, their mean."""
        pairs = zip(ranked, self.relevant, strict=True)
        return float(np.mean([_ndcg([passage["passage_id"] for passage in one], grades) for one, grades in pairs]))


def _ndcg(ranked: Iterable[str], relevant: Mapping[str, int]) -> float:
    gains = [2 ** relevant.get(document, 0) - 1 for document in list(ranked)[:10]]
    best = sorted((2**grade - 1 for grade in relevant.values()), reverse=True)[:10]
    return _discounted(gains) / _discounted(best)


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _by_id(vectors: Mapping[str, NDArray[np.generic]], name: str) -> dict[str, NDArray[np.float32]]:
    rows = vectors["docs" if name == "doc" else "queries"].astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return dict(zip(vectors[f"{name}_ids"].astype(str).tolist(), rows, strict=True))


def _grades(folder: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    with (folder / "qrels.tsv").open() as file:
        for query, *_, document, grade in list(csv.reader(file, delimiter="\t"))[1:]:
            found.setdefault(query, {})[document] = int(grade)
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _passage(ordinal: int, document: Mapping[str, str]) -> Passage:
    text = document["text"]
    return Passage(
        passage_id=document["_id"], document_id="set", version="1", ordinal=ordinal, title=document.get("title", ""),
        path="set.jsonl", uri="", start=0, end=len(text), text=text, meta={},
    )  # fmt: skip
