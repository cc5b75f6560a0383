"""The single table in one SQLite file: the laptop's DynamoDB."""

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from graph.errors import Unavailable
from graph.ports import Absent, Equals, Item, Json

T = TypeVar("T")
_READERS = 2
_BUSY_S = 30.0
_PURGE_EVERY = 1000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, value TEXT NOT NULL, expires_at INTEGER, PRIMARY KEY (pk, sk)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
"""
_LIVE = "(expires_at IS NULL OR expires_at > :now)"


class SQLiteTable:
    """Readers beside one writer (WAL): nobody in this process waits for a lock, another process's writer is waited for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = ThreadPoolExecutor(1, "table-writer")
        self._readers = ThreadPoolExecutor(_READERS, "table-reader")
        self._connections: list[sqlite3.Connection] = []
        self._local = threading.local()
        self._opened = False
        self._puts = 0

    async def put(self, item: Item, *, condition: Absent | Equals | None = None) -> bool:
        return await self._run(self._writer, lambda db: self._put(db, item, condition))

    async def get(self, pk: str, sk: str) -> Item | None:
        return await self._run(self._readers, lambda db: _get(db, pk, sk))

    async def query(
        self, pk: str, *, prefix: str = "", after: str | None = None, limit: int | None = None, descending: bool = False
    ) -> list[Item]:
        return await self._run(
            self._readers, lambda db: _query(db, pk, prefix=prefix, after=after, limit=limit, descending=descending)
        )

    async def delete(self, pk: str, sk: str, *, condition: Equals | None = None) -> bool:
        return await self._run(self._writer, lambda db: _delete(db, pk, sk, condition))

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[sqlite3.Connection], T]) -> T:
        def guarded() -> T:
            try:
                return work(self._connection())
            except sqlite3.OperationalError as error:  # a full or read-only disk, a folder that went away
                raise Unavailable(f"the table {self._path} cannot be used ({error}); see to its disk and its rights") from error

        if not self._opened:  # one thread makes the file, before others open it
            await asyncio.get_running_loop().run_in_executor(self._writer, self._connection)
            self._opened = True
        return await asyncio.get_running_loop().run_in_executor(pool, guarded)

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        existing: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if existing is not None:
            return existing
        try:
            connection = _open(self._path)
        except (sqlite3.OperationalError, OSError) as error:
            raise Unavailable(f"the table {self._path} cannot be opened ({error}); see to its folder and its rights") from error
        self._local.connection = connection
        self._connections.append(connection)
        return connection

    def _put(self, db: sqlite3.Connection, item: Item, condition: Absent | Equals | None) -> bool:
        value = json.dumps(item.value, allow_nan=False)
        with _writing(db):
            if condition is not None and not _holds(condition, _get(db, item.pk, item.sk)):
                return False
            db.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", (item.pk, item.sk, value, item.expires_at))
            self._puts += 1
            if self._puts % _PURGE_EVERY == 1:
                db.execute("DELETE FROM items WHERE expires_at <= ?", (int(time.time()),))
        return True

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
        self._connections.clear()


@contextmanager
def _writing(db: sqlite3.Connection) -> Iterator[None]:
    """A transaction that takes the write lock at once: a reader that turns into a writer could not wait for it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:  # a full disk has rolled back by itself
            db.execute("ROLLBACK")


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            # Changing the journal mode does not wait for another process that does the same.
            if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > deadline:
                db.close()
                raise
            time.sleep(0.02)
        else:
            return db


def _item(row: tuple[str, str, str, int | None]) -> Item:
    value: Json = json.loads(row[2])
    return Item(pk=row[0], sk=row[1], value=value, expires_at=row[3])


def _get(db: sqlite3.Connection, pk: str, sk: str) -> Item | None:
    row = db.execute(
        f"SELECT pk, sk, value, expires_at FROM items WHERE pk = :pk AND sk = :sk AND {_LIVE}",  # noqa: S608  # a constant
        {"pk": pk, "sk": sk, "now": time.time()},
    ).fetchone()
    return None if row is None else _item(row)


def _query(  # noqa: PLR0913  # as the port has them
    db: sqlite3.Connection, pk: str, *, prefix: str, after: str | None, limit: int | None, descending: bool
) -> list[Item]:
    conditions = ["pk = :pk", "sk >= :prefix", _LIVE]
    end = _after_all(prefix)
    if end is not None:
        conditions.append("sk < :end")
    if after is not None:
        conditions.append("sk < :after" if descending else "sk > :after")
    rows = db.execute(
        f"SELECT pk, sk, value, expires_at FROM items WHERE {' AND '.join(conditions)}"  # noqa: S608  # constants
        f" ORDER BY sk {'DESC' if descending else 'ASC'} LIMIT :limit",
        {"pk": pk, "prefix": prefix, "end": end, "after": after, "limit": -1 if limit is None else limit, "now": time.time()},
    ).fetchall()
    return [_item(row) for row in rows]


def _delete(db: sqlite3.Connection, pk: str, sk: str, condition: Equals | None) -> bool:
    with _writing(db):
        if condition is not None:
            item = _get(db, pk, sk)
            if item is not None and not _holds(condition, item):
                return False
        db.execute("DELETE FROM items WHERE pk = ? AND sk = ?", (pk, sk))
    return True


def _holds(condition: Absent | Equals, item: Item | None) -> bool:
    if isinstance(condition, Absent):
        return item is None
    absent = object()
    return item is not None and all(item.value.get(name, absent) == value for name, value in condition.fields.items())


def _after_all(prefix: str) -> str | None:
    """The least text that sorts after everything with this prefix; None where there is none."""
    for length in range(len(prefix), 0, -1):
        last = ord(prefix[length - 1])
        if last < 0x10FFFF:
            following = 0xE000 if last == 0xD7FF else last + 1  # UTF-8 has no surrogates
            return prefix[: length - 1] + chr(following)
    return None
