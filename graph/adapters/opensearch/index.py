"""The passage index of AWS."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from graph.adapters.opensearch import schema
from graph.adapters.opensearch.client import ask
from graph.adapters.opensearch.editions import Editions, edition
from graph.adapters.opensearch.eligibility import Eligible
from graph.adapters.opensearch.schema import Profile
from graph.adapters.opensearch.searching import Search
from graph.adapters.opensearch.writing import Staged, Writer
from graph.errors import IndexUnavailable, NotFound, Unavailable
from graph.filters import Condition
from graph.ports import Access, ArmHits, Document, IndexQuery, Json, Passage, Table

T = TypeVar("T")
_MOST_HITS = 10_000
_FIELDS = 1_000
_VECTORS = 500


class OpenSearchIndex:
    """Passages behind one alias, which `ensure_index` has made. The table holds what OpenSearch cannot: one step."""

    def __init__(  # noqa: PLR0913  # settings
        self,
        client: OpenSearch,
        name: str,
        *,
        table: Table,
        profile: Profile = "managed",
        space: Literal["cosinesimil", "innerproduct"] = "cosinesimil",
        ef_search: int = 200,
    ) -> None:
        self._client = client
        self._name = name
        self._editions = Editions(table, name)
        self._writer = Writer(client=client, index=name, profile=profile)
        self._searcher = Search(client=client, index=name, profile=profile, space=space, ef_search=ef_search)

    async def search(
        self, queries: Sequence[IndexQuery], access: Access, *, filters: Sequence[Condition] = (), size: int = 20
    ) -> list[ArmHits]:
        async def search(hidden: frozenset[str]) -> list[ArmHits]:
            eligible = [
                Eligible(access=access, hidden=hidden, filters=tuple(filters), document_id=query.document_id)
                for query in queries
            ]
            return await self._searcher.hits(queries, eligible, size)

        return await self._consistently(search) if queries else []

    async def neighbours(
        self, passages: Sequence[Passage], access: Access, *, before: int = 1, after: int = 1
    ) -> list[Passage]:
        wanted: dict[str, list[Json]] = {}
        for passage in passages:
            around = {"gte": passage["ordinal"] - before, "lte": passage["ordinal"] + after}
            wanted.setdefault(_edition(passage), []).append({"range": {"ordinal": around}})
        if not wanted:
            return []
        either: list[Json] = [
            {"bool": {"filter": [{"term": {"edition": name}}, {"bool": {"should": ranges}}]}} for name, ranges in wanted.items()
        ]
        found = await self._passages(access, {"bool": {"should": either}})
        order = {name: place for place, name in enumerate(wanted)}
        return sorted(found, key=lambda passage: (order[_edition(passage)], passage["ordinal"]))

    async def read(self, document_id: str, access: Access, *, after: int = -1, limit: int = 20) -> list[Passage]:
        conditions: tuple[Json, ...] = ({"term": {"document_id": document_id}}, {"range": {"ordinal": {"gt": after}}})
        return await self._passages(access, *conditions, limit=limit)

    async def get(self, passage_ids: Sequence[str], access: Access) -> list[Passage]:
        found = await self._passages(access, {"terms": {"passage_id": list(passage_ids)}})
        by_id = {passage["passage_id"]: passage for passage in found}
        return [by_id[passage_id] for passage_id in passage_ids if passage_id in by_id]

    async def known_fields(self, access: Access) -> set[str]:
        names = {"terms": {"field": "fields", "size": _FIELDS}}
        found = await self._read(access, {"size": 0, "aggs": {"fields": names}})
        return {bucket["key"] for bucket in found["aggregations"]["fields"]["buckets"]} | {"path", "title"}

    async def vectors(self, texts_sha256: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        return await asyncio.to_thread(self._vectors, list(texts_sha256), model)

    async def stage(
        self,
        document: Document,
        passages: Sequence[Passage],
        vectors: NDArray[np.float32],
        *,
        texts_sha256: Sequence[str],
        model: str,
    ) -> None:
        await self.check(model, vectors.shape[1])
        staged = [
            Staged(passage=passage, vector=vector, sha256=sha256, model=model)
            for passage, vector, sha256 in zip(passages, vectors, texts_sha256, strict=True)
        ]
        await asyncio.to_thread(self._writer.store, document, staged)

    async def publish(self, document: Document) -> None:
        """The steps of `editions`."""
        new, by = edition(document.document_id, document.version), uuid.uuid4().hex
        old = await asyncio.to_thread(self._writer.editions, document.document_id)
        if new not in old:
            raise NotFound(f"nothing is staged of {document.document_id} in version {document.version}")
        if not old.pop(new) or await self._editions.is_hidden(new):  # by a publish that did not get to its end
            await self._editions.claim(new, by=by)
        await asyncio.to_thread(self._writer.show, document)
        await self._editions.replace(old, new, by=by)
        await self._drop(old, by)

    async def remove(self, document_id: str) -> None:
        by = uuid.uuid4().hex
        editions = await asyncio.to_thread(self._writer.editions, document_id)
        await self._editions.doom(editions, by=by)
        await self._drop(editions, by)

    async def _drop(self, editions: Collection[str], by: str) -> None:
        if editions:
            await asyncio.to_thread(self._writer.drop, list(editions))
            await self._editions.forget(editions, by=by)

    async def check(self, model: str, dimensions: int) -> None:
        stored = await asyncio.to_thread(lambda: self._facts)
        schema.check(self._name, stored, {"model": model, "dimensions": dimensions})

    async def close(self) -> None:
        await asyncio.to_thread(self._client.close)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return schema.facts(self._client, self._name)

    async def _passages(self, access: Access, *conditions: Json, limit: int = _MOST_HITS) -> list[Passage]:
        """Passages that may be found and meet the conditions, in reading order."""
        body: Json = {"size": limit, "_source": ["passage"], "sort": [{"edition": "asc"}, {"ordinal": "asc"}]}
        found = await self._read(access, body, *conditions)
        return [cast("Passage", hit["_source"]["passage"]) for hit in found["hits"]["hits"]]

    async def _read(self, access: Access, body: Json, *conditions: Json) -> Any:
        async def read(hidden: frozenset[str]) -> Any:
            query = Eligible(access=access, hidden=hidden).query(*conditions)
            return await asyncio.to_thread(ask, self._client.search, body=body | {"query": query}, index=self._name)

        return await self._consistently(read)

    async def _consistently(self, read: Callable[[frozenset[str]], Awaitable[T]]) -> T:
        try:
            return await self._editions.consistently(read)
        except IndexUnavailable:
            raise
        except Unavailable as error:  # the table's
            raise IndexUnavailable(str(error)) from error

    def _vectors(self, texts_sha256: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        """Vectors of texts that some passage has, visible or not."""
        found: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(texts_sha256), _VECTORS):
            condition: list[Json] = [{"terms": {"sha256": texts_sha256[start : start + _VECTORS]}}, {"term": {"model": model}}]
            body = {"query": {"bool": {"filter": condition}}, "collapse": {"field": "sha256"}, "size": _VECTORS}
            body["_source"] = ["sha256", "vector"]
            for hit in ask(self._client.search, body=body, index=self._name)["hits"]["hits"]:
                found[hit["_source"]["sha256"]] = np.array(hit["_source"]["vector"], np.float32)
        return found


def _edition(passage: Passage) -> str:
    return edition(passage["document_id"], passage["version"])
