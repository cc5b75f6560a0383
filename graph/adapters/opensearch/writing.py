"""What changes the index. Everything here blocks.

A vector collection of OpenSearch Serverless lets nobody choose ids, changes nothing in place and shows writes when it
likes. So passages are found before they are replaced or deleted, and waited for where a domain is told to refresh.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from graph.adapters.opensearch import facets
from graph.adapters.opensearch.client import ask, bulk
from graph.adapters.opensearch.editions import edition
from graph.adapters.opensearch.schema import Profile, normalised
from graph.errors import IndexUnavailable
from graph.ports import Document, Json, Passage
from graph.retrieval import indexed_text

_VISIBLE: Json = {"term": {"visible": True}}
_INVISIBLE: Json = {"term": {"visible": False}}
_PAGE = 5_000
_PATIENCE_S = 300.0
_POLL_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A passage with what is stored beside it."""

    passage: Passage
    vector: NDArray[np.float32]
    sha256: str
    model: str


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Writes to one index."""

    client: OpenSearch
    index: str
    profile: Profile

    def store(self, document: Document, passages: Sequence[Staged]) -> None:
        """Store passages, as visible as their edition is."""
        visible = self._count(_of(document), _VISIBLE) > 0
        stored = [_stored(document, one, visible=visible) for one in passages]
        if self.profile == "managed":
            self._bulk([({"index": {"_id": f"{one['edition']}/{one['passage_id']}"}}, one) for one in stored])
        else:
            same: Json = {"terms": {"passage_id": [one["passage_id"] for one in stored]}}
            self._insert(stored, instead_of=self._ids(_of(document), same))

    def show(self, document: Document) -> None:
        """Make every passage of an edition visible."""
        change: Json = {"visible": True, "tenant": document.tenant, "groups": sorted(document.groups)}
        if self.profile == "managed":
            ids = self._ids(_of(document), _INVISIBLE)
            self._bulk([({"update": {"_id": one, "retry_on_conflict": 3}}, {"doc": change}) for one in ids])
            self._refresh()
        else:
            hits = self._hits(_of(document), _INVISIBLE, source=True)
            written = self._insert([hit["_source"] | change for hit in hits], instead_of=[hit["_id"] for hit in hits])
            if hits:  # what else is there was left by a publish that did not get to its end
                self._delete([one for one in self._ids(_of(document)) if one not in written])
                self._await(_of(document), number=len(written))

    def drop(self, editions: Sequence[str]) -> None:
        """Delete every passage of these editions."""
        condition: Json = {"terms": {"edition": list(editions)}}
        self._delete(self._ids(condition))
        if self.profile == "managed":
            self._refresh()
        else:
            self._await(condition, number=0)

    def editions(self, document_id: str) -> dict[str, int]:
        """The editions of a document that have passages, and how many of these are visible."""
        if self.profile == "managed":
            self._refresh()
        body = {
            "size": 0,
            "query": {"term": {"document_id": document_id}},
            "aggs": {
                "editions": {
                    "terms": {"field": "edition", "size": 1_000},
                    "aggs": {"visible": {"filter": _VISIBLE}},
                }
            },
        }
        found = ask(self.client.search, body=body, index=self.index)
        return {bucket["key"]: bucket["visible"]["doc_count"] for bucket in found["aggregations"]["editions"]["buckets"]}

    def _refresh(self) -> None:
        if ask(self.client.indices.refresh, index=self.index)["_shards"]["failed"]:
            raise IndexUnavailable("a part of the index cannot be refreshed. Try again.")

    def _count(self, *conditions: Json) -> int:
        found = ask(self.client.count, body={"query": {"bool": {"filter": list(conditions)}}}, index=self.index)
        number: int = found["count"]
        return number

    def _await(self, *conditions: Json, number: int) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while self._count(*conditions) != number:
            if time.monotonic() > deadline:
                raise IndexUnavailable(f"OpenSearch does not show what was written within {_PATIENCE_S:.0f} s. Try again.")
            time.sleep(_POLL_S)

    def _insert(self, stored: Sequence[Json], *, instead_of: Sequence[str]) -> set[str]:
        written = self._bulk([({"index": {}}, one) for one in stored])
        self._delete(instead_of)
        self._await({"ids": {"values": written}}, number=len(written))
        self._await({"ids": {"values": list(instead_of)}}, number=0)
        return set(written)

    def _delete(self, ids: Sequence[str]) -> None:
        self._bulk([({"delete": {"_id": one}}, None) for one in ids])

    def _bulk(self, actions: Sequence[tuple[Json, Json | None]]) -> list[str]:
        return bulk(self.client, self.index, actions, makes_index=self.profile == "serverless")

    def _ids(self, *conditions: Json) -> list[str]:
        return [hit["_id"] for hit in self._hits(*conditions)]

    def _hits(self, *conditions: Json, source: bool = False) -> list[Any]:
        body: Json = {
            "query": {"bool": {"filter": list(conditions)}},
            "size": _PAGE,
            "_source": source,
            "sort": [{"edition": "asc"}, {"passage_id": "asc"}],
        }
        hits: list[Any] = []
        while True:
            page: list[Any] = ask(self.client.search, body=body, index=self.index)["hits"]["hits"]
            hits += page
            if len(page) < _PAGE:
                return hits
            body = body | {"search_after": page[-1]["sort"]}


def _of(document: Document) -> Json:
    return {"term": {"edition": edition(document.document_id, document.version)}}


def _stored(document: Document, staged: Staged, *, visible: bool) -> Json:
    passage = staged.passage
    return {
        "tenant": document.tenant,
        "groups": sorted(document.groups),
        "document_id": document.document_id,
        "version": document.version,
        "edition": edition(document.document_id, document.version),
        "visible": visible,
        "passage_id": passage["passage_id"],
        "ordinal": passage["ordinal"],
        "start": passage["start"],
        "end": passage["end"],
        **({"page": passage["page"]} if "page" in passage else {}),
        **({"heading": passage["heading"]} if "heading" in passage else {}),
        **facets.fields(passage),
        "indexed": normalised(indexed_text(passage)),
        "vector": staged.vector.tolist(),
        "sha256": staged.sha256,
        "model": staged.model,
        "passage": passage,
    }
