"""Which statements of the sources answer a question best."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.adapters.extractive.asking import lacks
from graph.adapters.extractive.candidates import Candidate, candidates
from graph.adapters.extractive.choosing import Pick, Ranking, chosen
from graph.adapters.extractive.comparison import COMPARING, queries, sides
from graph.adapters.extractive.glossary import gloss
from graph.adapters.extractive.vouching import vouches
from graph.errors import Unavailable
from graph.ports import Embedder
from graph.reasoner import Source
from graph.stopwords import content_terms
from graph.text import Language, language, terms

_EMBEDDED, _EMBEDDED_OF_OTHERS = 4, 3
"""Statements in the question's language and in others whose vectors are asked for, while somebody waits for each: 8 find no
more on XQuAD (gold in .93 of the answers, in English and in Chinese), and .918 instead of .900 on cmrc2018."""
_PRIOR_WITHIN = 0.06
"""How far behind the best prior one may be: a cosine seldom makes up for more, and a third of them fall away."""
_EMBEDDED_ACROSS_LANGUAGES = 16  # shared words say nothing there, so the choice before is nearly blind
_LONGEST_EMBEDDED, _LONGEST_EMBEDDED_CJK = 140, 90
"""Characters of each, 40 to 60 tokens: 200 find no more on the same sets."""
_OWN_LANGUAGE_WITHIN = 3.0
"""Deviations that the best statement in the language of the answer may be behind one in another language."""
_STANDS_OUT = 2.0
_ABOUT_AS_NEAR, _ABOUT_AS_GOOD = 1.0, 4
"""Deviations and ranks that a statement which answers may be behind the first one, which does not."""
_CACHED = 4_096
_REMEMBERED = 32  # rankings: those of the turns that run
_FLOOR, _FLOOR_ACROSS_LANGUAGES = 1.0, -5.0
"""Deviations above the cosine of two unrelated passages below which a statement without a word of the question says nothing."""


class Picker:
    """Picks statements, and remembers the vectors of those it has seen."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._rankings: OrderedDict[tuple[object, ...], Ranking] = OrderedDict()

    async def pick(self, question: str, sources: Sequence[Source], wanted_language: str) -> list[Pick]:
        """The statements that answer the question, best first; none if none does."""
        ranking = await self._ranked(question, sources)
        ranked = self._in_language(question, ranking.picks, wanted_language)
        if not ranked or self._says_nothing(question, ranked[0]):
            return []
        return chosen(question, await self._of_each_side(question, sources), ranked, ranking.every)

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
        rest = set(content_terms(question)).difference(*compared) - COMPARING
        found: list[Pick] = []
        for query, side in zip(queries(question), compared, strict=True):
            own = side.difference(*(other for other in compared if other is not side))
            ranked = (await self._ranked(query, sources)).picks
            said = {pick: set(terms(f"{pick.candidate.context} {pick.candidate.plain}")) for pick in ranked}
            about = [pick for pick in ranked if own & said[pick]]
            found += sorted(about, key=lambda pick: -len(rest & said[pick]))[:1]  # called at once
        return found

    async def stands_out(self, question: str, sources: Sequence[Source]) -> bool:
        """Whether the best statement is much nearer to the question than any passage is: one row of a table, for example.

        By two deviations, 0.04 with multilingual-e5-small: 1 of 1,000 questions without an answer have one.
        """
        ranked = (await self._ranked(question, sources)).picks
        nearest = max((source["cosine"] for source in sources), default=0.0)
        return bool(ranked) and ranked[0].cosine - nearest >= _STANDS_OUT * self._embedder.calibration.random_std

    async def _ranked(self, question: str, sources: Sequence[Source]) -> Ranking:
        """The statements worth a vector, best first; remembered, since a grade asks for what an answer will want."""
        key = (question, *((one["passage"]["passage_id"], one["cosine"], one["coverage"]) for one in sources))
        if key not in self._rankings:
            self._rankings[key] = await self._rank(question, sources)
        while len(self._rankings) > _REMEMBERED:
            self._rankings.popitem(last=False)
        return self._rankings[key]

    async def _rank(self, question: str, sources: Sequence[Source]) -> Ranking:
        across = is_foreign(question, sources)
        translated = gloss(question) if across or _is_mixed(sources) else ""
        every = candidates(question, translated, sources)
        found = _shortlist(sorted(every, key=lambda one: -one.prior), language(question), blind=across and not translated)
        wordings = [question, translated] if translated else [question]
        cosines = await self._cosines(wordings, [_embedded_text(one) for one in found])
        picks = [Pick(one, cosine, cosine + one.prior) for one, cosine in zip(found, cosines, strict=True)]
        return Ranking(sorted(picks, key=lambda pick: -pick.score), every)

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
        others = [pick for pick in ranked if pick not in own]
        for some in (own, others):
            if answering := self._answering_first(question, some):
                return answering
        least = ranked[0].score - _OWN_LANGUAGE_WITHIN * self._embedder.calibration.random_std if ranked else 0.0
        return own if own and own[0].score >= least else ranked

    def _answering_first(self, question: str, ranked: Sequence[Pick]) -> list[Pick]:
        """With what answers the question before a nearer one that says nothing of it; nothing where none answers."""
        within = _ABOUT_AS_NEAR * self._embedder.calibration.random_std
        is_about_it = bool(ranked) and ranked[0].candidate.carried > 0 and not lacks(question, ranked[0].candidate.words)
        most = 1 if is_about_it else _ABOUT_AS_GOOD
        near = [pick for pick in ranked[:most] if pick.score >= ranked[0].score - within]
        best = next((pick for pick in near if self._vouches(question, [pick])), None)
        return [best, *(pick for pick in ranked if pick is not best)] if best else []

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
    return [*_near(own), *(others[:_EMBEDDED_ACROSS_LANGUAGES] if blind else _near(others[:_EMBEDDED_OF_OTHERS]))]


def _near(found: Sequence[Candidate]) -> list[Candidate]:
    """Without what is too far behind the first to become the best by its vector."""
    return [one for one in found if one.prior >= found[0].prior - _PRIOR_WITHIN]


def _embedded_text(one: Candidate) -> str:
    """The statement under its title and heading, as passages are: on cmrc2018 4 % more answers than without."""
    longest = _LONGEST_EMBEDDED if one.language == "en" else _LONGEST_EMBEDDED_CJK
    return (f"{one.context}: {one.plain}" if one.context else one.plain)[:longest]


def is_foreign(question: str, sources: Sequence[Source]) -> bool:
    """Whether most of the sources speak another language than the question."""
    spoken = language(question)
    return sum(language(source["passage"]["text"]) != spoken for source in sources) * 2 > len(sources)
