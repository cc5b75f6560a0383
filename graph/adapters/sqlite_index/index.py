"""The passage index of a laptop."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graph.adapters.sqlite_index import reading, writing
from graph.adapters.sqlite_index.eligibility import Eligible
from graph.adapters.sqlite_index.memory import Generation, Memory
from graph.adapters.sqlite_index.searching import Search
from graph.adapters.sqlite_index.store import Store, snapshot, transaction
from graph.errors import IndexUnavailable
from graph.filters import Condition
from graph.ports import Access, ArmHits, Document, IndexQuery, Passage

T = TypeVar("T")
_READERS = 4


class SQLiteIndex:
    """Passages in one file, which other processes may read and write at the same time."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path)
        self._memory = Memory()
        self._readers = ThreadPoolExecutor(_READERS, "index-read")
        self._writer = ThreadPoolExecutor(1, "index-write")

    async def search(
        self, queries: Sequence[IndexQuery], access: Access, *, filters: Sequence[Condition] = (), size: int = 20
    ) -> list[ArmHits]:
        def search(connection: sqlite3.Connection, generation: Generation) -> list[ArmHits]:
            wave = Search(connection=connection, generation=generation, access=access, filters=tuple(filters), size=size)
            return wave.hits(queries)

        return await self._search(search)

    async def neighbours(
        self, passages: Sequence[Passage], access: Access, *, before: int = 1, after: int = 1
    ) -> list[Passage]:
        return await self._read(lambda connection: reading.neighbours(connection, passages, Eligible(access), before, after))

    async def read(self, document_id: str, access: Access, *, after: int = -1, limit: int = 20) -> list[Passage]:
        return await self._read(lambda connection: reading.read(connection, Eligible(access, (), document_id), after, limit))

    async def get(self, passage_ids: Sequence[str], access: Access) -> list[Passage]:
        return await self._read(lambda connection: reading.get(connection, passage_ids, Eligible(access)))

    async def known_fields(self, access: Access) -> set[str]:
        return await self._search(lambda connection, generation: generation.fields(connection, Eligible(access)))

    async def vectors(self, texts_sha256: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        return await self._read(lambda connection: reading.vectors(connection, texts_sha256, model))

    async def stage(
        self,
        document: Document,
        passages: Sequence[Passage],
        vectors: NDArray[np.float32],
        *,
        texts_sha256: Sequence[str],
        model: str,
    ) -> None:
        batch = writing.Batch(passages=passages, vectors=vectors, texts_sha256=texts_sha256, model=model)
        await self._write(lambda connection: writing.stage(connection, document, batch))

    async def publish(self, document: Document) -> None:
        await self._write(lambda connection: writing.publish(connection, document))

    async def remove(self, document_id: str) -> None:
        await self._write(lambda connection: writing.remove(connection, document_id))

    async def check(self, model: str, dimensions: int) -> None:
        await self._read(lambda connection: writing.check(connection, model, dimensions))

    async def close(self) -> None:
        def close() -> None:
            self._readers.shutdown()
            self._writer.shutdown()
            self._store.close()

        await asyncio.to_thread(close)

    async def _search(self, work: Callable[[sqlite3.Connection, Generation], T]) -> T:
        """Read with the generation in memory that belongs to the snapshot."""

        def attempt(connection: sqlite3.Connection) -> T | None:
            generation = self._memory.at(connection)
            return None if generation is None else work(connection, generation)

        while (result := await self._read(attempt)) is None:
            pass  # another thread has read a newer generation meanwhile
        return result

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            connection = self._store.connection()
            with snapshot(connection):
                return work(connection)

        return await self._run(self._readers, run)

    async def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def run() -> None:
            connection = self._store.connection()
            with transaction(connection):
                work(connection)

        await self._run(self._writer, run)

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except (sqlite3.Error, OSError) as error:
            raise IndexUnavailable(f"the index {self._store.path} does not answer: {error}") from error
