"""Vectors for passages: stored ones where there are, the rest embedded in batches."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.ports import Embedder, Passage, PassageIndex
from graph.retrieval import indexed_text

_BATCH = 16


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """Passages with their vectors, shape (len(passages), dimensions)."""

    passages: Sequence[Passage]
    vectors: NDArray[np.float32]
    texts_sha256: Sequence[str]


async def embedded(passages: Sequence[Passage], embedder: Embedder, index: PassageIndex) -> AsyncGenerator[Embedded, None]:
    """Every passage once, those first whose text was embedded before: for them nothing is computed."""
    texts = [indexed_text(passage) for passage in passages]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    by_hash: dict[str, list[int]] = {}
    for place, sha256 in enumerate(hashes):
        by_hash.setdefault(sha256, []).append(place)

    def together(vectors: dict[str, NDArray[np.float32]]) -> Embedded:
        places = [place for sha256 in vectors for place in by_hash[sha256]]
        return Embedded(
            passages=[passages[place] for place in places],
            vectors=np.stack([vectors[hashes[place]] for place in places]),
            texts_sha256=[hashes[place] for place in places],
        )

    known = await index.vectors(list(by_hash), embedder.model)
    if known:
        yield together(known)
    missing = sorted((sha256 for sha256 in by_hash if sha256 not in known), key=lambda one: -len(texts[by_hash[one][0]]))

    async def embed(batch: Sequence[str]) -> Embedded:
        vectors = await embedder.embed([texts[by_hash[sha256][0]] for sha256 in batch], "passage")
        return together(dict(zip(batch, vectors, strict=True)))

    ahead: asyncio.Task[Embedded] | None = None
    try:
        for at in range(0, len(missing), _BATCH):
            last, ahead = ahead, asyncio.create_task(embed(missing[at : at + _BATCH]))  # the embedder never waits for the index
            if last is not None:
                yield await last
        if ahead is not None:
            yield await ahead
    finally:
        if ahead is not None:
            ahead.cancel()
