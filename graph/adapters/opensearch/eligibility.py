"""Who may see a passage, and which filters it meets: the one place for both arms and every read."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from graph.adapters.opensearch import facets
from graph.filters import Condition
from graph.ports import Access, Json


@dataclass(frozen=True, kw_only=True)
class Eligible:
    """Which passages may be found."""

    access: Access
    hidden: AbstractSet[str]
    """Editions that are not to be seen at this moment (`editions`)."""
    filters: tuple[Condition, ...] = ()
    document_id: str | None = None

    def query(self, *more: Json, excluded: AbstractSet[str] = frozenset()) -> Json:
        """The condition, together with others, as a query that gives no scores."""
        readers: list[Json] = [
            {"bool": {"must_not": [{"exists": {"field": "groups"}}]}},
            {"terms": {"groups": sorted(self.access.groups)}},
        ]
        must: list[Json] = [
            {"term": {"visible": True}},
            {"term": {"tenant": self.access.tenant}},
            {"bool": {"should": readers}},
            *(facets.query(condition) for condition in self.filters),
            *more,
        ]
        if self.document_id is not None:
            must.append({"term": {"document_id": self.document_id}})
        must_not = [
            {"terms": {field: sorted(ids)}} for field, ids in (("edition", self.hidden), ("passage_id", excluded)) if ids
        ]
        return {"bool": {"filter": must, "must_not": must_not}}
