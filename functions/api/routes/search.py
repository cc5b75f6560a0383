"""Search without an answer."""

import time

from fastapi import APIRouter, Depends, Response

from functions.api.bodies import JsonRoute
from functions.api.dependencies import TheCaller, TheServices
from functions.api.negotiation import JSON, accepts
from functions.api.responses import documented, json
from functions.bodies import SearchBody
from functions.shapes import Arms, SearchHit, SearchResult
from graph import filters
from graph.retrieval import Found

router = APIRouter(tags=["search"], route_class=JsonRoute)


@router.post("/search", response_model=SearchResult, responses=documented(body=True), dependencies=[Depends(accepts(JSON))])
async def search(body: SearchBody, services: TheServices, caller: TheCaller) -> Response:
    """The best passages, and which arm of the search found them."""
    conditions = filters.parse(body.filters)
    began = time.perf_counter()
    retriever = await services.retriever()
    wave = await retriever.search([body.query], caller.access, size=body.size, filters=conditions)
    result: SearchResult = {
        "passages": [_hit(found) for found in wave.passages[0]],
        "degraded": wave.degraded,
        "warnings": wave.warnings,
        "took_ms": round((time.perf_counter() - began) * 1000, 1),
    }
    return json(result)


def _hit(found: Found) -> SearchHit:
    passage = found.passage
    arms: Arms = {}
    if found.bm25 is not None:
        arms["bm25"] = {"rank": found.bm25[0], "score": found.bm25[1]}
    if found.knn is not None:
        arms["knn"] = {"rank": found.knn[0], "score": found.knn[1]}
    hit: SearchHit = {
        "passage_id": passage["passage_id"],
        "document_id": passage["document_id"],
        "title": passage["title"],
        "uri": passage["uri"],
        "start": passage["start"],
        "end": passage["end"],
        "text": passage["text"],
        "score": found.score,
        "arms": arms,
    }
    if "page" in passage:
        hit["page"] = passage["page"]
    if "heading" in passage:
        hit["heading"] = passage["heading"]
    return hit
