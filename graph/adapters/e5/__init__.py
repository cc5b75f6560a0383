"""multilingual-e5-small on this machine: its weights come inside a package, and nothing is loaded at import."""

from graph.adapters.e5.embedder import E5Embedder

__all__ = ["E5Embedder"]
