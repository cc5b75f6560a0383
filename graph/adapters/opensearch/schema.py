"""The index: its mapping and analyzers, with a version; made at deploy, never by a request.

``LAYOUT`` goes up with any change here. Passages lie in ``NAME-vLAYOUT`` behind the alias ``NAME``.
"""

import unicodedata
from dataclasses import dataclass
from typing import Any, Literal

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from graph import text
from graph.adapters.opensearch.client import ask
from graph.errors import IndexUnavailable, InvalidSetting
from graph.ports import Json

Profile = Literal["managed", "serverless"]
"""A domain (or a server of one's own), or a Serverless vector collection."""

LAYOUT = 1
_ANALYZER = "porter2 + bigrams 1"
"""Names what the analyzers below make of a text."""
_LONGEST_QUERY = 400
_LONGEST_FACET = 8000
"""Lucene takes no terms over 32,766 bytes."""


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What an index must be like."""

    model: str
    dimensions: int
    space: Literal["cosinesimil", "innerproduct"] = "cosinesimil"
    engine: Literal["lucene", "faiss"] = "lucene"
    ef_construction: int = 256
    """Texts' vectors lie close together: with 100, and ``ef_search`` as low, one in fifty of the nearest 20 is missed."""
    shards: int | None = 1
    """BM25's statistics are those of a shard: with several, ceilings are estimates. None where nobody may say (Serverless)."""

    def body(self) -> Json:
        """The request that makes the index."""
        sizes = {} if self.shards is None else {"number_of_shards": self.shards, "auto_expand_replicas": "0-1"}
        return {
            "settings": {"index": {"knn": True} | sizes, "analysis": _ANALYSIS},
            "mappings": {"_meta": self.facts(), "dynamic": "strict", "properties": self._fields()},
        }

    def facts(self) -> dict[str, str | int]:
        """What two indexes must have in common for the passages of one to be searched in the other."""
        return {
            "layout": LAYOUT,
            "analyzer": _ANALYZER,
            "model": self.model,
            "dimensions": self.dimensions,
            "space": self.space,
            "engine": self.engine,
        }

    def _fields(self) -> Json:
        keyword, number = {"type": "keyword"}, {"type": "integer"}
        method = {
            "name": "hnsw",
            "engine": self.engine,
            "space_type": self.space,
            "parameters": {"m": 16, "ef_construction": self.ef_construction},
        }
        return {
            "tenant": keyword,
            "groups": keyword,
            "document_id": keyword,
            "version": keyword,
            "edition": keyword,
            "visible": {"type": "boolean"},
            "passage_id": keyword,
            "ordinal": number,
            "start": number,
            "end": number,
            "page": number,
            "heading": {"type": "keyword", "index": False, "doc_values": False},
            "fields": keyword,
            "facets": {"type": "keyword", "ignore_above": _LONGEST_FACET},
            "ranges": {"type": "keyword", "ignore_above": _LONGEST_FACET},
            "indexed": {
                "type": "text",
                "analyzer": "passage",
                "search_analyzer": "question",
                "fields": {"characters": {"type": "text", "analyzer": "characters", "norms": False}},
            },
            "vector": {"type": "knn_vector", "dimension": self.dimensions, "method": method},
            "sha256": keyword,
            "model": keyword,
            "passage": {"type": "object", "enabled": False},
        }


_TERMS = ["lowercase", "cjk_bigram", "english"]
_ANALYSIS: Json = {
    "char_filter": {"words": {"type": "pattern_replace", "pattern": r"[^\p{L}\p{N}]+", "replacement": " "}},
    "tokenizer": {"character": {"type": "pattern", "pattern": f"([{text.CJK}])", "group": 1}},
    "filter": {
        "english": {"type": "stemmer", "language": "porter2"},
        "once": {"type": "unique"},
        "first": {"type": "limit", "max_token_count": _LONGEST_QUERY},  # a query may have 1,024 clauses
    },
    "analyzer": {
        "passage": {"type": "custom", "char_filter": ["words"], "tokenizer": "standard", "filter": _TERMS},
        "question": {"type": "custom", "char_filter": ["words"], "tokenizer": "standard", "filter": [*_TERMS, "once", "first"]},
        "characters": {"type": "custom", "tokenizer": "character", "filter": ["once"]},
    },
}
"""The terms of `graph.text.terms`, of a `normalised` text."""


def normalised(content: str) -> str:
    """A text as the analyzers want it: not every OpenSearch has the plugin that could do this."""
    return unicodedata.normalize("NFKC", content.encode("utf-8", "replace").decode()).casefold()


def ensure_index(client: OpenSearch, name: str, schema: Schema) -> bool:
    """Make the index unless it is there; whether it was made.

    Raises:
        InvalidSetting: it is there, and differs from the schema; the message names both.
    """
    if client.indices.exists_alias(name=name):
        check(name, facts(client, name), schema.facts())
        return False
    try:
        client.indices.create(index=f"{name}-v{LAYOUT}", body=schema.body() | {"aliases": {name: {}}})
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
        check(name, facts(client, name), schema.facts())  # somebody else made it at the same time
        return False
    return True


def facts(client: OpenSearch, name: str) -> dict[str, Any]:
    """What the index was made for."""
    found = ask(client.indices.get_mapping, index=name)
    if len(found) != 1:
        raise IndexUnavailable(f"{name} stands for {len(found)} indexes ({', '.join(found)}); it must be one")
    (mapping,) = found.values()
    meta: dict[str, Any] = mapping["mappings"].get("_meta", {})
    return meta


def check(name: str, stored: dict[str, Any], wanted: dict[str, str | int]) -> None:
    """See that an index is as wanted.

    Raises:
        InvalidSetting: naming each difference, both sides.
    """
    differences = [
        f"{fact} {stored.get(fact)} there, {value} wanted" for fact, value in wanted.items() if stored.get(fact) != value
    ]
    if differences:
        raise InvalidSetting(
            f"the index {name} cannot be used: {'; '.join(differences)}. "
            "Set the embedder back, or name another index and ingest again."
        )
