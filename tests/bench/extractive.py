"""Answers without a model: how often the gold answer is in them, what they cite, what is refused, how long it takes.

``python -m tests.bench.extractive [SET …]``. Everything is real: the int8 embedder for documents, questions and statements, the
SQLite index, the retriever, the reasoner, the citations. Documents are indexed whole, one passage each. "Gold away" asks again
with the gold passages excluded from the search, so that nothing (or only something similar) is left to answer from.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.adapters.e5 import E5Embedder
from graph.adapters.extractive import ExtractiveReasoner
from graph.adapters.sqlite_index import SQLiteIndex
from graph.citations import Grounded, ground
from graph.confidence import judge
from graph.nodes.sources import numbered
from graph.ports import Access, Document, Embedder, Passage
from graph.reasoner import AnswerTask, Budget, Source
from graph.retrieval import Retriever, indexed_text
from graph.settings import Settings
from graph.text import language

DATA = Path(__file__).parents[3] / "shared" / "data"
ACCESS = Access(tenant="bench")
QUESTIONS = 400
NULL = "null_query"
_BATCH = 64


@dataclass(frozen=True)
class Question:
    """A question with the strings that answer it and the documents that have them."""

    text: str
    answers: list[str]
    documents: frozenset[str]
    is_null: bool = False


@dataclass
class Tally:
    """What came of the questions of one set."""

    said: int = 0
    cited: int = 0
    refused: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    away: Counter[str] = field(default_factory=Counter)
    ms: list[float] = field(default_factory=list)


def read(name: str, prefix: str = "") -> list[dict[str, object]]:
    """The lines of a JSONL file whose id starts with the prefix."""
    with (DATA / name).open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [one for one in found if str(one["_id"]).startswith(prefix)]


def questions_of(folder: str, prefix: str = "") -> list[Question]:
    """The questions of a set."""
    gold: dict[str, set[str]] = {}
    for line in (DATA / folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        gold.setdefault(query, set()).add(document)
    return [
        Question(
            text=str(one["text"]),
            answers=answer if isinstance(answer := one.get("answer"), list) else [],
            documents=frozenset(gold.get(str(one["_id"]), ())),
            is_null=one.get("type") == NULL,
        )
        for one in read(f"{folder}/queries.jsonl", prefix)
    ]


async def indexed(folder: str, prefix: str, embedder: Embedder, path: Path) -> SQLiteIndex:
    """An index of a set's documents."""
    index = SQLiteIndex(path)
    corpus = read(f"{folder}/corpus.jsonl", prefix)
    for at in range(0, len(corpus), _BATCH):
        passages = [_passage(one) for one in corpus[at : at + _BATCH]]
        vectors = await embedder.embed([indexed_text(one) for one in passages], "passage")
        for passage, vector in zip(passages, vectors, strict=True):
            document = Document(document_id=passage["document_id"], version="1", tenant=ACCESS.tenant)
            key = passage["document_id"]
            await index.stage(document, [passage], vector[None], texts_sha256=[key], model=embedder.model)
            await index.publish(document)
    return index


def _passage(one: dict[str, object]) -> Passage:
    identity, text = str(one["_id"]), str(one["text"])
    return Passage(
        passage_id=identity, document_id=identity, version="1", ordinal=0, title=str(one.get("title") or ""), path=identity,
        uri=f"file:///{identity}", start=0, end=len(text), text=text, meta={},
    )  # fmt: skip


class Bench:
    """Asks one index."""

    def __init__(self, embedder: Embedder, index: SQLiteIndex) -> None:
        self._embedder = embedder
        self._retriever = Retriever(embedder=embedder, index=index)
        self._reasoner = ExtractiveReasoner(embedder)

    async def found(self, question: Question, *, away: bool = False) -> tuple[list[Source], str]:
        """The sources of a question and how sure they are."""
        exclude = question.documents if away else frozenset()
        wave = await self._retriever.search([question.text], ACCESS, exclude=exclude)
        sources = numbered(wave.passages[0])
        return sources, judge(sources, wave.hits, self._embedder.calibration).level

    async def answer(self, question: Question, sources: Sequence[Source]) -> Grounded:
        """The answer, its footnotes resolved."""
        task = AnswerTask(question=question.text, language=language(question.text), sources=sources)
        budget = Budget(deadline=time.monotonic() + 60, calls=1, tokens=1)
        text = "".join([str(piece) async for piece in self._reasoner.answer(task, budget)])
        return await ground(text, sources, self._embedder)

    async def tally(self, questions: Sequence[Question]) -> Tally:
        """Ask them all."""
        tally = Tally()
        for question in questions:
            sources, level = await self.found(question)
            started = time.perf_counter()
            result = await self.answer(question, sources)
            tally.ms.append((time.perf_counter() - started) * 1_000)
            tally.levels[level] += 1
            tally.refused += level == "none" or not result.citations
            tally.said += any(gold in result.answer for gold in question.answers)
            tally.cited += any(citation["document_id"] in question.documents for citation in result.citations)
            if question.documents and question.answers:
                tally.away[(await self.found(question, away=True))[1]] += 1
        return tally


SETS: dict[str, tuple[str, str, str]] = {
    "cmrc2018": ("cmrc2018", "", ""),
    "xquad en>en": ("xquad_en_zh", "en", "en"),
    "xquad zh>zh": ("xquad_en_zh", "zh", "zh"),
    "xquad zh>en": ("xquad_en_zh", "zh", "en"),
    "xquad en>zh": ("xquad_en_zh", "en", "zh"),
    "multihoprag500": ("multihoprag500", "", ""),
}
"""Folder, prefix of the questions' ids, prefix of the documents'."""


async def measure(name: str, embedder: Embedder, say: Callable[[str], None]) -> None:
    """One set's lines of the table."""
    folder, asked, held = SETS[name]
    with tempfile.TemporaryDirectory() as home:
        index = await indexed(folder, held, embedder, Path(home) / "index.sqlite")
        bench = Bench(embedder, index)
        every = questions_of(folder, asked)
        kinds = {"": [one for one in every if not one.is_null][:QUESTIONS], " null": [one for one in every if one.is_null]}
        for kind, questions in kinds.items():
            if questions:
                say(_line(name + kind, await bench.tally(questions), len(questions)))
        await index.close()


def _line(name: str, tally: Tally, asked: int) -> str:
    def share(count: int) -> str:
        return f"{count / asked:7.3f}"

    levels = "  ".join(share(tally.levels[level]) for level in ("confident", "unsure", "none"))
    away = "  ".join(share(tally.away[level]) for level in ("confident", "unsure", "none")) if tally.away else ""
    cited, refused = share(tally.cited), share(tally.refused)
    said = share(tally.said) if tally.away else f"{'–':>7}"
    return f"{name:20} {asked:4}  {said}  {cited}  {refused}   {levels}   {statistics.median(tally.ms):6.1f}   {away}"


async def main() -> None:
    """Print the table."""
    embedder = E5Embedder(cache=Settings.read({}).cache.expanduser())
    print(f"{'':25}  {'gold in':>7}  {'gold':>7}  {'':>7}   {'retrieval is':<25}   {'p50 of':>6}   gold away: retrieval is")
    heads = "  ".join(f"{head:>7}" for head in ("sure", "unsure", "none"))
    print(f"{'set':20} {'asked':>4} {'answer':>7}  {'cited':>7}  {'refused':>7}   {heads}   {'ms':>6}   {heads}")
    for name in sys.argv[1:] or SETS:
        await measure(name, embedder, print)


if __name__ == "__main__":
    asyncio.run(main())
