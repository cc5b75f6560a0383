"""Documents, passages and vectors with which indexes are tried."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graph.ports import Access, Document, IndexQuery, MetaValue, Passage, PassageIndex

TENANT = "acme"
ACCESS = Access(tenant=TENANT)
DIMENSIONS = 8
MODEL = "test"


def vector(seed: int) -> NDArray[np.float32]:
    """A vector of length 1, the same for the same seed."""
    made = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made), np.float32)


def document(document_id: str = "d", version: str = "1", *, tenant: str = TENANT, groups: Sequence[str] = ()) -> Document:
    """A version of a document."""
    return Document(document_id=document_id, version=version, tenant=tenant, groups=frozenset(groups))


def passages_of(of: Document, texts: Sequence[str], meta: dict[str, MetaValue] | None = None) -> list[Passage]:
    """Passages with these texts, in this order."""
    return [
        Passage(
            passage_id=f"{of.document_id}.{of.version}.{ordinal}", document_id=of.document_id, version=of.version,
            ordinal=ordinal, title="Guide", path=f"{of.document_id}.md", uri=f"file:///{of.document_id}.md",
            start=100 * ordinal, end=100 * ordinal + len(text), text=text, heading="Rules > Trips", page=1, meta=meta or {},
        )
        for ordinal, text in enumerate(texts)
    ]  # fmt: skip


async def stage(index: PassageIndex, of: Document, texts: Sequence[str], meta: dict[str, MetaValue] | None = None) -> None:
    """Stage the texts; the n-th has `vector` (n), and its hash is ``DOCUMENT:TEXT``."""
    await index.stage(
        of,
        passages_of(of, texts, meta),
        np.stack([vector(ordinal) for ordinal in range(len(texts))]),
        texts_sha256=[f"{of.document_id}:{text}" for text in texts],
        model=MODEL,
    )


async def publish(index: PassageIndex, of: Document, texts: Sequence[str], meta: dict[str, MetaValue] | None = None) -> None:
    """Stage the texts and make them visible."""
    await stage(index, of, texts, meta)
    await index.publish(of)


async def found(index: PassageIndex, text: str, access: Access = ACCESS, *, size: int = 20) -> tuple[list[str], list[str]]:
    """Texts that BM25 and the vectors find, best first; the vector asked for is `vector` (0)."""
    (hits,) = await index.search([IndexQuery(text=text, vector=vector(0))], access, size=size)
    return [hit.passage["text"] for hit in hits.bm25], [hit.passage["text"] for hit in hits.knn]
