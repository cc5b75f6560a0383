"""How well OpenSearch ranks a public set: figures that the analyzers, both arms and the ceiling must reach together."""

import uuid
from pathlib import Path

import pytest

from graph.adapters.opensearch import OpenSearchIndex, Schema, connect, ensure_index
from graph.adapters.sqlite_table import SQLiteTable
from graph.fusion import fuse
from tests.ranking import ARM_SIZE, E5, PublicSet


@pytest.mark.data
@pytest.mark.timeout(300)
async def test_scifact(shared_data: Path, opensearch_url: str, tmp_path: Path) -> None:
    """BM25 0.683, k-NN 0.655, reciprocal ranks 0.71 and the fusion 0.72 were measured on OpenSearch 3.6."""
    scifact = PublicSet.read(shared_data / "scifact")
    client, table, name = (
        connect(opensearch_url, timeout_s=60),
        SQLiteTable(tmp_path / "table.sqlite"),
        f"scifact-{uuid.uuid4().hex}",
    )
    ensure_index(client, name, Schema(model="e5", dimensions=384))
    index = OpenSearchIndex(client, name, table=table, ef_search=400)
    try:
        hits = await scifact.searched(index)
    finally:
        client.indices.delete(index=f"{name}-v*")
        await index.close()
        await table.close()
    figures = {
        "bm25": scifact.ndcg([hit.passage for hit in one.bm25] for one in hits),
        "knn": scifact.ndcg([hit.passage for hit in one.knn] for one in hits),
        "rrf": scifact.ndcg([found.passage for found in fuse(one, E5, size=ARM_SIZE, fusion="rrf")] for one in hits),
        "absolute": scifact.ndcg([found.passage for found in fuse(one, E5, size=ARM_SIZE)] for one in hits),
    }
    print(figures)
    assert len(hits) == 300
    assert figures["bm25"] > 0.683 - 0.003
    assert figures["knn"] == pytest.approx(0.655, abs=0.005)
    assert figures["rrf"] > 0.71
    assert figures["absolute"] >= 0.72
