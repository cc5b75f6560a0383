"""Which statements of the sources answer a question best."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.adapters.extractive.candidates import Candidate, candidates
from graph.adapters.extractive.comparison import queries, sides
from graph.adapters.extractive.dates import contradict, date_of
from graph.adapters.extractive.glossary import gloss
from graph.adapters.extractive.vouching import vouches
from graph.errors import Unavailable
from graph.ports import Embedder
from graph.reasoner import Source
from graph.stopwords import content_terms
from graph.text import Language, language, terms

MOST = 3
"""Statements in an answer."""
_EMBEDDED = 8
"""Statements whose vectors are asked for: on cmrc2018 and XQuAD more find nothing more, and each costs some milliseconds."""
_EMBEDDED_ACROSS_LANGUAGES = 16  # shared words say nothing there, so the choice before is nearly blind
_LONGEST_EMBEDDED = 200
_WITHIN = 0.08
"""How far behind the best a further statement may be."""
_OWN_LANGUAGE_WITHIN = 3.0
"""Deviations that the best statement in the language of the answer may be behind one in another language."""
_SAME = 0.7
_STANDS_OUT = 2.0
_CACHED = 4_096
_REMEMBERED = 32  # rankings: those of the turns that run
_FLOOR, _FLOOR_ACROSS_LANGUAGES = 1.0, -5.0
"""Deviations above the cosine of two unrelated passages below which a statement without a word of the question says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """A statement with what speaks for it."""

    candidate: Candidate
    cosine: float
    score: float


class Picker:
    """Picks statements, and remembers the vectors of those it has seen."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._rankings: OrderedDict[tuple[object, ...], list[Pick]] = OrderedDict()

    async def pick(self, question: str, sources: Sequence[Source], wanted_language: str) -> list[Pick]:
        """The statements that answer the question, best first; none if none does."""
        ranked = self._in_language(question, await self._ranked(question, sources), wanted_language)
        if not ranked or self._says_nothing(question, ranked[0]):
            return []
        return _chosen([*await self._of_each_side(question, sources), *ranked], ranked[0].score - _WITHIN)

    async def vouched(self, question: str, sources: Sequence[Source]) -> Pick | None:
        """The best of what would be picked where it answers the question, and is not merely the nearest there is."""
        picks = await self.pick(question, sources, language(question))
        return picks[0] if picks and self._vouches(question, picks) else None

    def _vouches(self, question: str, picks: Sequence[Pick]) -> bool:
        calibration = self._embedder.calibration
        deviations = (picks[0].cosine - calibration.random_mean) / calibration.random_std
        return vouches(question, [pick.candidate for pick in picks], deviations)

    async def _of_each_side(self, question: str, sources: Sequence[Source]) -> list[Pick]:
        """The best statement about each side of a comparison."""
        compared = [set(content_terms(side)) for side in sides(question)]
        found = []
        for query, side in zip(queries(question), compared, strict=True):
            own = side.difference(*(other for other in compared if other is not side))
            ranked = await self._ranked(query, sources)
            found += [pick for pick in ranked if own & set(terms(f"{pick.candidate.context} {pick.candidate.plain}"))][:1]
        return found

    async def stands_out(self, question: str, sources: Sequence[Source]) -> bool:
        """Whether the best statement is much nearer to the question than any passage is: one row of a table, for example.

        By two deviations, 0.04 with multilingual-e5-small: 1 of 1,000 questions without an answer have one.
        """
        ranked = await self._ranked(question, sources)
        nearest = max((source["cosine"] for source in sources), default=0.0)
        return bool(ranked) and ranked[0].cosine - nearest >= _STANDS_OUT * self._embedder.calibration.random_std

    async def _ranked(self, question: str, sources: Sequence[Source]) -> list[Pick]:
        """The statements worth a vector, best first; remembered, since a grade asks for what an answer will want."""
        key = (question, *((one["passage"]["passage_id"], one["cosine"], one["coverage"]) for one in sources))
        if key not in self._rankings:
            self._rankings[key] = await self._rank(question, sources)
        while len(self._rankings) > _REMEMBERED:
            self._rankings.popitem(last=False)
        return self._rankings[key]

    async def _rank(self, question: str, sources: Sequence[Source]) -> list[Pick]:
        across = is_foreign(question, sources)
        translated = gloss(question) if across or _is_mixed(sources) else ""
        found = sorted(candidates(question, translated, sources), key=lambda one: -one.prior)
        found = _shortlist(found, language(question), blind=across and not translated)
        wordings = [question, translated] if translated else [question]
        cosines = await self._cosines(wordings, [_embedded_text(one) for one in found])
        picks = [Pick(one, cosine, cosine + one.prior) for one, cosine in zip(found, cosines, strict=True)]
        return sorted(picks, key=lambda pick: -pick.score)

    async def _cosines(self, wordings: Sequence[str], texts: Sequence[str]) -> list[float]:
        """Mean cosines of the texts to the question's wordings; 0 for all when the embedder is down, so that words decide."""
        try:
            asked, vectors = await asyncio.gather(self._embedded(wordings, "query"), self._embedded(texts, "passage"))
        except Unavailable:
            return [0.0] * len(texts)
        wanted = np.mean(asked, axis=0)
        return [float(wanted @ vector) for vector in vectors]

    async def _embedded(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[NDArray[np.float32]]:
        known = {text: self._vectors[kind, text] for text in texts if (kind, text) in self._vectors}
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        if unknown:
            known |= zip(unknown, await self._embedder.embed(unknown, kind), strict=True)
        for text, vector in known.items():  # other turns have gone on meanwhile
            self._vectors[kind, text] = vector
            self._vectors.move_to_end((kind, text))
        while len(self._vectors) > _CACHED:
            self._vectors.popitem(last=False)
        return [known[text] for text in texts]

    def _in_language(self, question: str, ranked: Sequence[Pick], wanted: str) -> Sequence[Pick]:
        """Only statements in the language of the answer, if they answer or are about as good as others."""
        own = [pick for pick in ranked if pick.candidate.language == wanted.partition("-")[0].lower()]
        least = ranked[0].score - _OWN_LANGUAGE_WITHIN * self._embedder.calibration.random_std if ranked else 0.0
        return own if own and (own[0].score >= least or self._vouches(question, own[:1])) else ranked

    def _says_nothing(self, question: str, best: Pick) -> bool:
        if best.candidate.coverage > 0 and set(content_terms(question)) & set(terms(best.candidate.plain)):
            return False
        floor = _FLOOR if best.candidate.language == language(question) else _FLOOR_ACROSS_LANGUAGES
        calibration = self._embedder.calibration
        return best.cosine < calibration.random_mean + floor * calibration.random_std


def _is_mixed(sources: Sequence[Source]) -> bool:
    return len({language(source["passage"]["text"]) for source in sources}) > 1


def _shortlist(found: Sequence[Candidate], spoken: Language, *, blind: bool) -> list[Candidate]:
    """The statements worth a vector; some in each language, since priors compare within one only."""
    own = [one for one in found if one.language == spoken][:_EMBEDDED]
    others = [one for one in found if one.language != spoken]
    return [*own, *others[: _EMBEDDED_ACROSS_LANGUAGES if blind else _EMBEDDED - len(own) // 2]]


def _embedded_text(one: Candidate) -> str:
    """The statement under its title and heading, as passages are: on cmrc2018 4 % more answers than without."""
    return (f"{one.context}: {one.plain}" if one.context else one.plain)[:_LONGEST_EMBEDDED]


def is_foreign(question: str, sources: Sequence[Source]) -> bool:
    """Whether most of the sources speak another language than the question."""
    spoken = language(question)
    return sum(language(source["passage"]["text"]) != spoken for source in sources) * 2 > len(sources)


def _chosen(ranked: Sequence[Pick], least: float) -> list[Pick]:
    """The best, and what adds to it: newer in place of older, nothing twice, nothing far behind."""
    kept: list[Pick] = []
    for pick in ranked:
        rival = next((other for other in kept if _rivals(pick, other)), None)
        if rival is not None and pick.score >= least and _is_newer(pick, rival):
            kept[kept.index(rival)] = pick
        elif rival is None and pick.score >= least and len(kept) < MOST and not any(_repeats(pick, other) for other in kept):
            kept.append(pick)
    return kept


def _repeats(pick: Pick, other: Pick) -> bool:
    one, two = pick.candidate, other.candidate
    same_document = one.source["passage"]["document_id"] == two.source["passage"]["document_id"]
    if same_document and one.start < two.start + len(two.words) and two.start < one.start + len(one.words):
        return True
    mine, theirs = set(terms(one.plain)), set(terms(two.plain))
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def _rivals(pick: Pick, other: Pick) -> bool:
    """Whether two statements of different documents give different numbers for the same."""
    one, two = pick.candidate, other.candidate
    apart = one.source["passage"]["document_id"] != two.source["passage"]["document_id"]
    return apart and contradict(one.plain, two.plain) and date_of(one.source["passage"]) != date_of(two.source["passage"])


def _is_newer(pick: Pick, other: Pick) -> bool:
    mine, theirs = date_of(pick.candidate.source["passage"]), date_of(other.candidate.source["passage"])
    return mine is not None and theirs is not None and mine > theirs
