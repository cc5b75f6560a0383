"""Passages in OpenSearch: BM25 and k-NN over one document for each passage."""

from graph.adapters.opensearch.client import connect
from graph.adapters.opensearch.index import OpenSearchIndex
from graph.adapters.opensearch.keeping import keep
from graph.adapters.opensearch.schema import Schema, ensure_index

__all__ = ["OpenSearchIndex", "Schema", "connect", "ensure_index", "keep"]
