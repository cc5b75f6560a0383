"""What changes the index. Everything here blocks.

A vector collection of OpenSearch Serverless lets nobody choose ids and shows writes when it likes. So passages are
found before they are changed or deleted, and waited for where a domain would be told to refresh.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from graph.adapters.opensearch import facets
from graph.adapters.opensearch.client import ask, bulk
from graph.adapters.opensearch.editions import edition
from graph.adapters.opensearch.schema import normalised
from graph.errors import IndexUnavailable
from graph.ports import Document, Json, Passage
from graph.retrieval import indexed_text

Profile = Literal["managed", "serverless"]

_VISIBLE: Json = {"term": {"visible": True}}
_INVISIBLE: Json = {"term": {"visible": False}}
_PAGE = 5_000
_PATIENCE_S = 300.0
_POLL_S = 1.0


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
        replaced: list[str] = []
        if self.profile == "serverless":
            replaced = self._ids(_of(document), {"terms": {"passage_id": [one.passage["passage_id"] for one in passages]}})
        written = bulk(self.client, self.index, [self._action(document, one, visible=visible) for one in passages])
        self._delete(replaced)
        if self.profile == "serverless":
            self._await({"ids": {"values": written}}, number=len(written))
            self._await({"ids": {"values": replaced}}, number=0)

    def show(self, document: Document) -> None:
        """Make every passage of an edition visible."""
        ids = self._ids(_of(document), _INVISIBLE)
        change: Json = {"doc": {"visible": True, "tenant": document.tenant, "groups": sorted(document.groups)}}
        bulk(self.client, self.index, [({"update": {"_id": one, "retry_on_conflict": 3}}, change) for one in ids])
        self._settle(_of(document), _INVISIBLE)

    def drop(self, editions: Sequence[str]) -> None:
        """Delete every passage of these editions."""
        condition: Json = {"terms": {"edition": list(editions)}}
        self._delete(self._ids(condition))
        self._settle(condition)

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

    def _settle(self, *conditions: Json) -> None:
        """See that searches see everything that was written, after which no passage meets the conditions."""
        if self.profile == "serverless":
            self._await(*conditions, number=0)
        else:
            self._refresh()

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

    def _action(self, document: Document, staged: Staged, *, visible: bool) -> tuple[Json, Json]:
        name = f"{edition(document.document_id, document.version)}/{staged.passage['passage_id']}"
        return {"index": {} if self.profile == "serverless" else {"_id": name}}, _stored(document, staged, visible=visible)

    def _delete(self, ids: Sequence[str]) -> None:
        bulk(self.client, self.index, [({"delete": {"_id": one}}, None) for one in ids])

    def _ids(self, *conditions: Json) -> list[str]:
        body: Json = {
            "query": {"bool": {"filter": list(conditions)}},
            "size": _PAGE,
            "_source": False,
            "sort": [{"edition": "asc"}, {"passage_id": "asc"}],
        }
        ids: list[str] = []
        while True:
            hits: list[Any] = ask(self.client.search, body=body, index=self.index)["hits"]["hits"]
            ids += [hit["_id"] for hit in hits]
            if len(hits) < _PAGE:
                return ids
            body = body | {"search_after": hits[-1]["sort"]}


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
