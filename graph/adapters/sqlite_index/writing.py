"""What changes the file. Each function runs inside one transaction."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph import text
from graph.adapters.sqlite_index.eligibility import as_text, is_number
from graph.errors import InvalidSetting, NotFound
from graph.ports import Document, Passage
from graph.retrieval import indexed_text

_REMEMBERED_CHANGES = 10_000


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Passages of a version with their vectors, shape (passages, dimensions)."""

    passages: Sequence[Passage]
    vectors: NDArray[np.float32]
    texts_sha256: Sequence[str]
    model: str


def stage(connection: sqlite3.Connection, document: Document, batch: Batch) -> None:
    """Store passages of a version."""
    if batch.passages:
        check(connection, batch.model, batch.vectors.shape[1])
    row, is_visible = _document(connection, document)
    _drop_passages(connection, "document = ? AND passage_id IN (SELECT value FROM json_each(?))",
                   row, json.dumps([passage["passage_id"] for passage in batch.passages]))  # fmt: skip
    for passage, vector, sha256 in zip(batch.passages, batch.vectors, batch.texts_sha256, strict=True):
        _insert(connection, row, passage, (sha256, batch.model, np.asarray(vector, "<f4").tobytes()))
    if is_visible:  # the same version again: its passages were replaced where they are
        _changed(connection, [row])


def publish(connection: sqlite3.Connection, document: Document) -> None:
    """Make a version visible and drop the others."""
    rows = connection.execute("SELECT id, version FROM documents WHERE document_id = ?", (document.document_id,)).fetchall()
    staged = [row for row, version in rows if version == document.version]
    if not staged:
        raise NotFound(f"nothing is staged of {document.document_id} in version {document.version}")
    _drop(connection, [row for row, version in rows if version != document.version])
    connection.execute(
        "UPDATE documents SET visible = 1, tenant = ?, groups = ? WHERE id = ?",
        (document.tenant, _groups(document), staged[0]),
    )
    _changed(connection, [row for row, _ in rows])


def remove(connection: sqlite3.Connection, document_id: str) -> None:
    """Drop every version."""
    rows = [row for (row,) in connection.execute("SELECT id FROM documents WHERE document_id = ?", (document_id,))]
    _drop(connection, rows)
    _changed(connection, rows)


def check(connection: sqlite3.Connection, model: str, dimensions: int) -> None:
    """See that the vectors here are of this model. All are of one, so any of them tells."""
    stored = connection.execute("SELECT model, length(vector) / 4 FROM vectors LIMIT 1").fetchone()
    if stored is not None and stored != (model, dimensions):
        raise InvalidSetting(
            f"the index holds vectors of {stored[0]} ({stored[1]} dimensions), the embedder is {model} ({dimensions}). "
            "Set the embedder back, or start with an empty home and ingest again."
        )


def _document(connection: sqlite3.Connection, document: Document) -> tuple[int, bool]:
    connection.execute(
        "INSERT INTO documents (document_id, version, tenant, groups) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (document.document_id, document.version, document.tenant, _groups(document)),
    )
    row, visible = connection.execute(
        "SELECT id, visible FROM documents WHERE document_id = ? AND version = ?", (document.document_id, document.version)
    ).fetchone()
    return row, bool(visible)


def _groups(document: Document) -> str:
    return json.dumps(sorted(document.groups))


def _insert(connection: sqlite3.Connection, document: int, passage: Passage, vector: tuple[str, str, bytes]) -> None:
    indexed = indexed_text(passage)
    terms = text.terms(indexed)
    content = json.dumps(passage, ensure_ascii=False).encode("utf-8", "surrogatepass")
    row = connection.execute(
        "INSERT INTO passages (document, passage_id, ordinal, terms, content) VALUES (?, ?, ?, ?, ?)",
        (document, passage["passage_id"], passage["ordinal"], len(terms), content),
    ).lastrowid
    connection.execute("INSERT INTO terms (rowid, text) VALUES (?, ?)", (row, " ".join([*terms, *text.characters(indexed)])))
    connection.execute("INSERT INTO vectors (passage, sha256, model, vector) VALUES (?, ?, ?, ?)", (row, *vector))
    connection.executemany(
        "INSERT INTO facets (passage, field, text, number) VALUES (?, ?, ?, ?)", [(row, *facet) for facet in _facets(passage)]
    )


def _facets(passage: Passage) -> Iterator[tuple[str, str, float | None]]:
    fields = {**passage["meta"], "path": passage["path"], "title": passage["title"]}
    for field, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            yield field, as_text(value), float(value) if is_number(value) else None


def _drop(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    for document in documents:
        _drop_passages(connection, "document = ?", document)
        connection.execute("DELETE FROM documents WHERE id = ?", (document,))


def _drop_passages(connection: sqlite3.Connection, condition: str, *parameters: int | str) -> None:
    chosen = f"SELECT id FROM passages WHERE {condition}"  # noqa: S608  # conditions of this module
    for table, key in (("terms", "rowid"), ("vectors", "passage"), ("facets", "passage"), ("passages", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {key} IN ({chosen})", parameters)  # noqa: S608  # names of tables


def _changed(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    connection.executemany("INSERT INTO changes (document) VALUES (?)", [(document,) for document in documents])
    connection.execute(
        "DELETE FROM changes WHERE generation <= (SELECT max(generation) FROM changes) - ?", (_REMEMBERED_CHANGES,)
    )
