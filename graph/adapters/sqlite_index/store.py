"""The file: its tables, and connections to it that never meet a locked database."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graph.errors import InvalidSetting

_LAYOUT = 1
_PATIENCE_S = 60.0
_TABLES = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL, version TEXT NOT NULL, tenant TEXT NOT NULL,
    groups TEXT NOT NULL,  -- JSON list
    visible INTEGER NOT NULL DEFAULT 0,
    UNIQUE (document_id, version)
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents,
    passage_id TEXT NOT NULL, ordinal INTEGER NOT NULL,
    terms INTEGER NOT NULL,  -- how many
    content BLOB NOT NULL,  -- the passage as JSON
    UNIQUE (document, passage_id)
);
CREATE INDEX passages_in_order ON passages (document, ordinal);
CREATE INDEX passages_by_id ON passages (passage_id);
-- One row a value of path, title and meta: as text in any case, as number where it is one.
CREATE TABLE facets (passage INTEGER NOT NULL, field TEXT NOT NULL, text TEXT NOT NULL, number REAL);
CREATE INDEX facets_by_field ON facets (field, passage);
CREATE INDEX facets_by_passage ON facets (passage);
CREATE TABLE vectors (
    passage INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL  -- float32
);
CREATE INDEX vectors_by_text ON vectors (sha256);
-- `graph.text` makes the terms, so all that is left to FTS5 is to cut at spaces; scores are computed in `bm25`.
CREATE VIRTUAL TABLE terms USING fts5 (text, tokenize = 'ascii', columnsize = 0);
CREATE VIRTUAL TABLE occurrences USING fts5vocab (terms, instance);
-- Documents that appeared, changed or went, oldest first: what a reader has to read anew.
CREATE TABLE changes (generation INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL);
"""


class Store:
    """Connections to one file: one for each reading thread, and one that writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opening = threading.Lock()
        self._is_prepared = False
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    def connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        with self._opening:
            if not self._is_prepared:
                _prepare(self.path)
                self._is_prepared = True
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connect(self.path)
            self._connections.append(connection)
        return connection

    def close(self) -> None:
        """Close what was opened. No thread may be using it any more."""
        while self._connections:
            self._connections.pop().close()
        self._local = threading.local()


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """All reads inside see one state of the file, whatever others write."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All writes inside happen, or none. IMMEDIATE, since a reader that turns writer cannot wait for its turn."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.OperationalError):  # after some errors SQLite has rolled back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")  # what was said to be published survives a power cut
    return connection


def _prepare(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connect(path)
    try:
        _use_wal(connection)
        with transaction(connection):
            (layout,) = connection.execute("PRAGMA user_version").fetchone()
            if layout not in (0, _LAYOUT):
                raise InvalidSetting(f"{path} was made by another version of Footnote. Remove it and ingest again.")
            if layout == 0:
                for statement in _statements(_TABLES):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_LAYOUT}")
    finally:
        connection.close()


def _use_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side. The busy timeout does not hold for this switch."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _statements(script: str) -> Iterator[str]:
    """`executescript` would commit the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
