"""Passages in one SQLite file: terms in FTS5, vectors beside them, both read in one snapshot."""

from graph.adapters.sqlite_index.index import SQLiteIndex

__all__ = ["SQLiteIndex"]
