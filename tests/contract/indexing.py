"""A process that writes to an index until it is killed: ``python -m tests.contract.indexing FILE DOCUMENT``.

Every version has three batches of passages; each line printed says what has just been done.
"""

import asyncio
import itertools
import sys
from pathlib import Path

import numpy as np

from graph.adapters.sqlite_index import SQLiteIndex
from tests.contract.passages import MODEL, document, passages_of, vector

BATCHES, BATCH = 3, 5


async def write(file: Path, document_id: str) -> None:
    """Publish version after version."""
    index = SQLiteIndex(file)
    for number in itertools.count(1):
        of = document(document_id, version=f"{number}")
        passages = passages_of(of, [f"rule of version {number}"] * (BATCHES * BATCH))
        for start in range(0, len(passages), BATCH):
            batch = passages[start : start + BATCH]
            vectors = np.stack([vector(passage["ordinal"]) for passage in batch])
            await index.stage(of, batch, vectors, texts_sha256=[passage["passage_id"] for passage in batch], model=MODEL)
            print(f"staged {number}", flush=True)
        await index.publish(of)
        print(f"published {number}", flush=True)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2]))
