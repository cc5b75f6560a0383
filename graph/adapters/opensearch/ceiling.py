"""The highest BM25 score that a query could get, from the statistics of its terms.

A domain tells them as ``_mtermvectors`` of documents that do not exist; Serverless has no such thing, there they are counted.
A term that fills a passage adds its idf at most, since Lucene's BM25 has no factor k1 + 1; OpenSearch 2, and Serverless, which
is a 2, go on with the one that had it.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

from opensearchpy import OpenSearch

from graph import text
from graph.adapters.opensearch.client import ask
from graph.errors import IndexUnavailable
from graph.ports import Json

FACTOR_BEFORE_3 = 1.2 + 1
_LONGEST_QUERY = 400
_TERMS = 8  # more would make long questions incomparable with short ones


def ceilings(client: OpenSearch, index: str, queries: Sequence[tuple[str, str]]) -> list[float]:
    """The ceiling of each query: of its words in ``indexed``, and its lone characters in ``indexed.characters``."""
    asked: list[tuple[int, Json]] = []
    for i, texts in enumerate(queries):
        for content, field in zip(texts, ("indexed", "indexed.characters"), strict=True):
            if content.strip():
                asked.append((i, _document(index, content, field)))
    if not asked:
        return [0.0] * len(queries)
    answer = ask(client.mtermvectors, body={"docs": [document for _, document in asked]})
    weights: list[list[float]] = [[] for _ in queries]
    for (i, _), document in zip(asked, answer["docs"], strict=True):
        for field in document.get("term_vectors", {}).values():
            passages = field.get("field_statistics", {}).get("doc_count", 0)
            weights[i] += [_idf(passages, term.get("doc_freq", 0)) for term in field["terms"].values()]
    return [_highest(each) for each in weights]


def counted_ceilings(client: OpenSearch, index: str, queries: Sequence[tuple[str, str]]) -> list[float]:
    """The same from the number of passages that have each term."""
    counts = [_terms(*query) for query in queries]
    lines = "".join(f"{{}}\n{json.dumps({'size': 0, 'aggs': _counting(terms)})}\n" for terms in counts)
    answers = ask(client.msearch, body=lines, index=index)["responses"]
    return [_counted(terms, answer) for terms, answer in zip(counts, answers, strict=True)]


def _terms(words: str, characters: str) -> list[tuple[str, str]]:
    """Each term with its field."""
    terms = dict.fromkeys(text.terms(words))
    return [("indexed", term) for term in terms][:_LONGEST_QUERY] + [
        ("indexed.characters", character) for character in dict.fromkeys(characters.split())
    ]


def _counting(terms: Sequence[tuple[str, str]]) -> Json:
    having: dict[str, Json] = {"all": {"exists": {"field": "indexed"}}}
    having |= {f"{i}": {"term": {field: term}} for i, (field, term) in enumerate(terms)}
    return {"passages": {"filters": {"filters": having}}}


def _counted(terms: Sequence[tuple[str, str]], answer: Any) -> float:
    if "error" in answer:
        raise IndexUnavailable(f"OpenSearch does not count: {answer['error'].get('type')}")
    passages = answer["aggregations"]["passages"]["buckets"]
    return _highest([_idf(passages["all"]["doc_count"], passages[f"{i}"]["doc_count"]) for i in range(len(terms))])


def _document(index: str, content: str, field: str) -> Json:
    return {
        "_index": index,
        "doc": {"indexed": content},
        "fields": [field],
        "term_statistics": True,
        "field_statistics": True,
        "positions": False,
        "offsets": False,
    }


def _idf(passages: int, having: int) -> float:
    """Lucene's; a term that no passage has counts as found in none."""
    return math.log1p((passages - having + 0.5) / (having + 0.5))


def _highest(weights: Sequence[float]) -> float:
    return sum(sorted(weights)[-_TERMS:])
