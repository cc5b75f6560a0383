"""How sure retrieval can be that it found the answer: whether grading is worth a call, and whether to answer at all.

``evidence = coverage + 0.054 · peak + 0.014 · closeness``, coverage and closeness of the passage where they are highest:

coverage   the share of the question's information that the passage contains (BM25 over its ceiling);
peak       by how much the best cosine stands out from ranks 6 and up of the same search;
closeness  by how much the passage's cosine exceeds that of two unrelated passages;

the latter two in standard deviations of the embedder's cosines between unrelated passages (`Calibration`), since 0.85 may be
noise with one model and a paraphrase with another. The weights are a logistic fit over five public sets with and without
the passages that answer each question (cmrc2018, XQuAD in English and Chinese, MultiHop-RAG, FastAPI's documentation), each
set counted alike. Alone, no score would do on every set: cosines are as high in a narrow corpus as between paraphrases in a
wide one, and coverage suffers from long passages and long questions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph.ports import ArmHits, Calibration
from graph.reasoner import Source
from graph.text import language
from graph.thresholds import CONFIDENT_FROM, NONE_BELOW

_PEAK_WEIGHT = 0.054
_CLOSENESS_WEIGHT = 0.014
_BACKGROUND_FROM = 5  # ranks from the 6th on are what the corpus says about anything
_FEWEST_BEHIND = 5
_HIGHEST_PEAK = 5.0  # more says that the other passages are about something else, not that this one answers
_HIGHEST_UNKNOWN_PEAK = 2.0  # in an index of a few passages nothing is behind the best one to compare it with
_NEITHER_NEAR_NOR_ALONE = 0.25
"""Peak, in deviations, below which vectors alone say that nothing was found: 2 % of XQuAD's questions across languages."""
_JOINT = re.compile(r"[-_ ]")
_CODE = re.compile(r"(?<![\w.])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w])")


@dataclass(frozen=True)
class Confidence:
    """How sure retrieval is."""

    level: Literal["confident", "unsure", "none"]
    """``confident``: no grading is needed. ``none``: nothing supports an answer."""
    score: float
    """The evidence that the level rests on."""


def judge(
    sources: Sequence[Source], hits: Sequence[ArmHits], calibration: Calibration, *, confident_from: float = CONFIDENT_FROM
) -> Confidence:
    """How sure one can be that the sources, found by these hits, answer what was asked."""
    if not sources:
        return Confidence("none", 0.0)
    peak = min((_peak(one, calibration) for one in hits if one.knn), default=None)
    score = evidence(sources, peak or 0.0, calibration)
    if _terms_say_nothing(sources, hits):
        nothing = peak is None or peak < _NEITHER_NEAR_NOR_ALONE
        return Confidence("none" if nothing else "unsure", score)
    if score < NONE_BELOW or _lacks_a_code(sources, hits):
        return Confidence("none", score)
    return Confidence("confident" if score >= confident_from else "unsure", score)


def evidence(sources: Sequence[Source], peak: float, calibration: Calibration) -> float:
    """What speaks for the best of the sources, and for there being one."""
    return _PEAK_WEIGHT * peak + max(
        source["coverage"] + _CLOSENESS_WEIGHT * (_deviations(source["cosine"], calibration) if source["cosine"] else 0.0)
        for source in sources
    )


def speaks_otherwise(question: str, text: str) -> bool:
    """Whether a text is in another language than a question, so that shared words say nothing."""
    return language(question) != language(text)


def _peak(hits: ArmHits, calibration: Calibration) -> float:
    best, behind = hits.knn[0].score, [one.score for one in hits.knn[_BACKGROUND_FROM:]]
    if len(behind) < _FEWEST_BEHIND:
        return min(max(0.0, _deviations(best, calibration)), _HIGHEST_UNKNOWN_PEAK)
    return min((best - sum(behind) / len(behind)) / calibration.random_std, _HIGHEST_PEAK)


def _deviations(cosine: float, calibration: Calibration) -> float:
    return (cosine - calibration.random_mean) / calibration.random_std


def _terms_say_nothing(sources: Sequence[Source], hits: Sequence[ArmHits]) -> bool:
    """Whether only vectors can have found something: BM25 is down, or the best passages speak another language."""
    if any("bm25" in one.degraded for one in hits):
        return True
    questions = [one.query for one in hits if one.query]
    return any(speaks_otherwise(question, sources[0]["passage"]["text"]) for question in questions)


def _lacks_a_code(sources: Sequence[Source], hits: Sequence[ArmHits]) -> bool:
    """Whether the question names an article, error or version (``E-4711``) that no source does: near ones mislead."""
    codes = {_JOINT.sub("", code).casefold() for one in hits for code in _CODE.findall(one.query)}
    texts = (
        [_JOINT.sub("", f"{one['passage']['title']}\n{one['passage']['text']}").casefold() for one in sources] if codes else []
    )
    return any(not any(code in text for text in texts) for code in codes)
