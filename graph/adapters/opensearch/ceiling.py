"""The highest BM25 score that a query could get, from the statistics of its terms (``_mtermvectors`` of no real document).

Lucene's BM25 has no factor k1 + 1, so a term that fills a passage adds its idf at most.
"""

import math
from collections.abc import Sequence
from typing import Any

from opensearchpy import OpenSearch

from graph.adapters.opensearch.client import ask
from graph.ports import Json

_TERMS = 8  # more would make long questions incomparable with short ones


def ceilings(client: OpenSearch, index: str, queries: Sequence[tuple[str, str]]) -> list[float]:
    """The ceiling of each query: of its words in ``indexed``, and its lone characters in ``indexed.characters``."""
    asked: list[tuple[int, Json]] = []
    for i, texts in enumerate(queries):
        for text, field in zip(texts, ("indexed", "indexed.characters"), strict=True):
            if text.strip():
                asked.append((i, _document(index, text, field)))
    if not asked:
        return [0.0] * len(queries)
    answer = ask(client.mtermvectors, body={"docs": [document for _, document in asked]})
    weights: list[list[float]] = [[] for _ in queries]
    for (i, _), document in zip(asked, answer["docs"], strict=True):
        for field in document.get("term_vectors", {}).values():
            weights[i] += _weights(field)
    return [sum(sorted(each)[-_TERMS:]) for each in weights]


def _document(index: str, text: str, field: str) -> Json:
    return {
        "_index": index,
        "doc": {"indexed": text},
        "fields": [field],
        "term_statistics": True,
        "field_statistics": True,
        "positions": False,
        "offsets": False,
    }


def _weights(field: Any) -> list[float]:
    """Lucene's idf of each term; one that no passage has counts as found in none."""
    passages = field.get("field_statistics", {}).get("doc_count", 0)
    having = (term.get("doc_freq", 0) for term in field["terms"].values())
    return [math.log1p((passages - n + 0.5) / (n + 0.5)) for n in having]
