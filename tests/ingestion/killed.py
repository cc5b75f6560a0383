"""A process that ingests a folder with an embedder that is slow, so that a test can kill it: ``killed.py HOME``."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from functions.local.watcher import Watcher
from tests.ingestion.parts import CountingEmbedder, Laptop


class SlowEmbedder(CountingEmbedder):
    """Says on standard output how many texts it has embedded."""

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> NDArray[np.float32]:
        await asyncio.sleep(0.1)
        vectors = await super().embed(texts, kind)
        sys.stdout.write(f"{len(self.embedded)}\n")
        sys.stdout.flush()
        return vectors


async def main(home: Path) -> None:
    """Watch until killed."""
    laptop = Laptop(home)
    laptop.__dict__["embedder"] = SlowEmbedder()
    async with Watcher(laptop):
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
