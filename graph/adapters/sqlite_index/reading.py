"""Reads beside the search. Each function runs inside one snapshot."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graph.adapters.sqlite_index.eligibility import Eligible
from graph.ports import Passage

_LISTED = "(SELECT value FROM json_each(?))"


def by_row(connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, Passage]:
    """Passages by their rows in the file, which came from a search of the same snapshot."""
    query = "SELECT id, content FROM passages WHERE id IN (SELECT value FROM json_each(?))"
    found = connection.execute(query, (json.dumps(list(rows)),))
    return {row: _passage(content) for row, content in found}


def neighbours(
    connection: sqlite3.Connection, passages: Sequence[Passage], eligible: Eligible, before: int, after: int
) -> list[Passage]:
    """Passages around the given ones, documents in the order in which they are given."""
    versions = dict.fromkeys((passage["document_id"], passage["version"]) for passage in passages)
    found: list[Passage] = []
    for document_id, version in versions:
        given = [passage["ordinal"] for passage in passages if passage["document_id"] == document_id]
        around = {ordinal for centre in given for ordinal in range(centre - before, centre + after + 1)}
        condition = f"d.document_id = ? AND d.version = ? AND p.ordinal IN {_LISTED}"
        found += _select(connection, eligible, condition, document_id, version, json.dumps(sorted(around)))
    return found


def read(connection: sqlite3.Connection, eligible: Eligible, after: int, limit: int) -> list[Passage]:
    """Passages of the one document that is eligible."""
    return _select(connection, eligible, "p.ordinal > ?", after, limit=limit)


def get(connection: sqlite3.Connection, passage_ids: Sequence[str], eligible: Eligible) -> list[Passage]:
    """Passages by id, in the order of the ids."""
    found = _select(connection, eligible, f"p.passage_id IN {_LISTED}", json.dumps(passage_ids))
    by_id = {passage["passage_id"]: passage for passage in found}
    return [by_id[passage_id] for passage_id in passage_ids if passage_id in by_id]


def known_fields(connection: sqlite3.Connection, eligible: Eligible) -> set[str]:
    """Fields of the eligible passages."""
    passages, parameters = eligible.select("p.id")
    query = f"SELECT DISTINCT field FROM facets WHERE passage IN ({passages})"  # noqa: S608  # values are bound
    return {field for (field,) in connection.execute(query, parameters)} | {"path", "title"}


def vectors(connection: sqlite3.Connection, texts_sha256: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
    """Vectors of texts that some passage has, visible or not."""
    query = "SELECT sha256, vector FROM vectors WHERE model = ? AND sha256 IN (SELECT value FROM json_each(?))"
    found = connection.execute(query, (model, json.dumps(list(texts_sha256))))
    return {sha256: np.frombuffer(vector, "<f4") for sha256, vector in found}


def _select(
    connection: sqlite3.Connection, eligible: Eligible, condition: str, *values: str | int, limit: int = -1
) -> list[Passage]:
    query = eligible.select("p.content", f"AND {condition} ORDER BY d.id, p.ordinal LIMIT ?", *values, limit)
    return [_passage(content) for (content,) in connection.execute(*query)]


def _passage(content: bytes) -> Passage:
    return cast("Passage", json.loads(content.decode("utf-8", "surrogatepass")))
