"""Passages for tests that need no index."""

import hashlib

from graph.ports import Passage
from graph.reasoner import Source


def passage(text: str, *, title: str = "Handbook", ordinal: int = 0, **meta: str) -> Passage:
    document_id = hashlib.sha256(title.encode()).hexdigest()[:16]
    return Passage(
        passage_id=f"{document_id}.v1.{ordinal}",
        document_id=document_id,
        version="v1",
        ordinal=ordinal,
        title=title,
        path=f"{title.lower()}.md",
        uri=f"file:///{title.lower()}.md",
        start=0,
        end=len(text),
        text=text,
        meta=dict(meta),
    )


def source(number: int, text: str, *, title: str = "Handbook", **meta: str) -> Source:
    return Source(
        number=number,
        passage=passage(text, title=title, ordinal=number - 1, **meta),
        score=1.0,
        coverage=0.9,
        cosine=0.9,
    )
