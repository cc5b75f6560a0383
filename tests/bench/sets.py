"""The public sets that benches measure with: documents, questions, which document answers which, vectors."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ports import Access, Passage

DATA = Path(__file__).parents[3] / "shared" / "data"
ACCESS = Access(tenant="bench")
Row = dict[str, Any]
Gold = dict[str, dict[str, int]]
"""Query → document → how relevant it is."""


def rows(file: str, prefix: str = "") -> list[Row]:
    """The lines of a JSONL file whose id starts with the prefix."""
    with (DATA / file).open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [one for one in found if one["_id"].startswith(prefix)]


def gold(folder: str, prefix: str = "") -> Gold:
    """What is relevant among the documents whose id starts with the prefix."""
    relevant: Gold = {}
    for line in (DATA / folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if document.startswith(prefix):
            relevant.setdefault(query, {})[document] = int(score)
    return relevant


def passage(row: Row) -> Passage:
    """A whole document as one passage."""
    identity, text = row["_id"], row["text"]
    return Passage(
        passage_id=identity, document_id=identity, version="1", ordinal=0, title=row.get("title") or "", path=identity,
        uri=f"file:///{identity}", start=0, end=len(text), text=text, meta={},
    )  # fmt: skip


def vectors(folder: str, kind: str) -> dict[str, NDArray[np.float32]]:
    """The vectors that come with a set, of its ``docs`` or ``queries``, by id."""
    with np.load(DATA / folder / "e5_small.npz") as arrays:
        ids = arrays["doc_ids" if kind == "docs" else "query_ids"]
        table = arrays[kind].astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    return dict(zip(map(str, ids), table, strict=True))


def ndcg(ranked: Sequence[str], relevant: dict[str, int], depth: int = 10) -> float:
    """NDCG of a ranking: 1 where nothing could stand higher."""
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    gains = [relevant.get(document, 0) for document in ranked[:depth]]
    best = sorted(relevant.values(), reverse=True)[:depth]
    return float(np.dot(gains, discounts[: len(gains)]) / np.dot(best, discounts[: len(best)]))
