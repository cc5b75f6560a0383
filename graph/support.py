"""Which words of a passage say what a sentence says: by its rare terms and numbers, across languages by cosine."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from graph.errors import Unavailable
from graph.ports import Calibration, Embedder
from graph.statements import pieces, statements
from graph.stopwords import content_terms
from graph.text import Span, language, terms

_NUMBER = re.compile(r"(?<![A-Za-z_\d.])\d+(?:[.,]\d+)*(?![A-Za-z_\d])")
_WORD = re.compile(r"\w+")
_NO_WORDS = re.compile(r"(?<=\])\([^)\s]*(?:\s+\"[^\"\n]*\")?\)|</?[A-Za-z][^<>\n]*>")
_LONGEST_REST = 400
_LONGEST_RUN = 3
_ONE_MORE_SENTENCE = 0.1
"""Share of a sentence's information that one more quoted sentence must bring."""
ENOUGH_SHARED = 0.3
"""Share of a sentence's information, by rarity, that a span must contain. Of SciFact's claims 68 % reach it in the abstract
that decides on them, 33 % in the most similar other one."""
_LITTLE_SHARED = 0.15
"""Between this and enough the cosine decides; with less shared, only in another language."""
_CLOSE = 2.0
"""Deviations above two unrelated passages: 0.87 with multilingual-e5-small, which 87 % of those claims reach, and 65 % of the
others: together with some shared words that is a paraphrase more often than not."""
_CLOSE_ACROSS_LANGUAGES = -1.5
"""0.80: 98 % of XQuAD's sentences reach it with their translation, 1 % with the nearest sentence of another passage."""
_COMPARED_SPANS = 24


@dataclass(frozen=True)
class _Quotable:
    """What can be quoted of a passage."""

    parts: Sequence[Span]
    """Sentences, rows, code."""
    spans: Sequence[Span]
    """Sentences, runs of them, lists, rows, code."""
    sentences: Sequence[int]
    """How many sentences each span holds."""
    found: Sequence[frozenset[str]]
    """The terms of each span."""
    numbers: Sequence[frozenset[str]]
    weights: dict[str, float]
    """The weight of each term of the passage by its rarity in it."""
    unknown: float
    """The weight of a term that it has not."""


class Claim(NamedTuple):
    """A sentence, or a clause of one, with a text that it cites."""

    sentence: str
    text: str
    numbers: frozenset[str]
    """The numbers that the supporting span must have."""


@lru_cache(maxsize=256)
def _quotable(text: str) -> _Quotable:
    parts = pieces(text)
    runs = [Span(parts[i].start, parts[j].end) for i in range(len(parts)) for j in range(i, min(i + _LONGEST_RUN, len(parts)))]
    counts = [j - i + 1 for i in range(len(parts)) for j in range(i, min(i + _LONGEST_RUN, len(parts)))]
    whole = [span for span in (Span(one.start, one.end) for one in statements(text)) if span not in set(runs)]
    spans = [*runs, *whole]
    having = Counter(term for span in parts for term in set(terms(text[span.start : span.end])))
    weights = {term: math.log(1 + (len(parts) + 1) / (1 + count)) for term, count in having.items()}
    return _Quotable(
        parts=parts,
        spans=spans,
        sentences=[*counts, *([2] * len(whole))],
        found=[frozenset(terms(text[span.start : span.end])) for span in spans],
        numbers=[numbers(text[span.start : span.end]) for span in spans],
        weights=weights,
        unknown=math.log(2 + len(parts)),
    )


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text as they compare: without separators of thousands and leading zeros; not those inside of names."""
    found = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return frozenset(re.sub(r",(?=\d{3}(?!\d))", "", number).lstrip("0") or "0" for number in found)


def quoted(sentence: str, text: str) -> Span | None:
    """Where the words of the sentence stand in the text one after the other, whatever is between words; None if nowhere.

    Tags and the targets of links are no words: answers leave them out.
    """
    words = _WORD.findall(_blanked(sentence))
    if not words:
        return None
    match = re.search(r"(?<!\w)" + r"[\W_]*".join(map(re.escape, words)) + r"(?!\w)", _blanked(text))
    return None if match is None else _whole(text, match.start(), match.end())


@lru_cache(maxsize=256)
def _blanked(text: str) -> str:
    return _NO_WORDS.sub(lambda match: " " * len(match[0]), text)


def _whole(text: str, start: int, end: int) -> Span:
    """The sentences, rows and code that the words are part of; where these are long, the words alone."""
    parts = [part for part in _quotable(text).parts if part.start < end and start < part.end]
    if not parts or max(end, parts[-1].end) - min(start, parts[0].start) > end - start + _LONGEST_REST:
        return Span(start, end)
    return Span(min(start, parts[0].start), max(end, parts[-1].end))


def shared(claim: Claim) -> tuple[Span | None, float]:
    """The span of the text that has most of the sentence's information and all its numbers, and the share that it has."""
    if exact := quoted(claim.sentence, claim.text):
        return exact, 1.0
    best: tuple[Span | None, float] = None, 0.0
    best_value = 0.0
    for span, share, count in _shares(claim):
        value = share - _ONE_MORE_SENTENCE * (count - 1)
        if value > best_value:
            best, best_value = (span, share), value
    return best


def _shares(claim: Claim) -> Iterator[tuple[Span, float, int]]:
    """Spans that have the numbers, the share of information in each, and how many sentences it is long."""
    quotable = _quotable(claim.text)
    weights = {term: quotable.weights.get(term, quotable.unknown) for term in content_terms(claim.sentence)}
    total = sum(weights.values()) or 1.0
    for span, count, found, has in zip(quotable.spans, quotable.sentences, quotable.found, quotable.numbers, strict=True):
        if claim.numbers <= has:
            yield span, sum(weight for term, weight in weights.items() if term in found) / total, count


async def supporting(claims: Sequence[Claim], embedder: Embedder) -> list[Span | None]:
    """For each claim the span that supports it; None where nothing does."""
    matches = [shared(claim) for claim in claims]
    results = [span if share >= ENOUGH_SHARED else None for span, share in matches]
    doubtful = [
        number for number, (_, share) in enumerate(matches) if share < ENOUGH_SHARED and _may_mean(claims[number], share)
    ]
    if doubtful:
        close = await _closest([claims[number] for number in doubtful], embedder)
        for number, span in zip(doubtful, close, strict=True):
            results[number] = span
    return results


def _may_mean(claim: Claim, share: float) -> bool:
    """Whether it is worth asking the vectors."""
    return share >= _LITTLE_SHARED or language(claim.sentence) != language(claim.text)


async def _closest(claims: Sequence[Claim], embedder: Embedder) -> list[Span | None]:
    """The same by cosine, all texts embedded at once; nothing when the embedder is down, so that words decide."""
    options = [_single_spans(claim) for claim in claims]
    texts = [claim.sentence for claim in claims]
    for claim, spans in zip(claims, options, strict=True):
        texts += [claim.text[span.start : span.end] for span in spans]
    distinct = list(dict.fromkeys(texts))
    try:
        vectors = dict(zip(distinct, await embedder.embed(distinct, "passage"), strict=True))
    except Unavailable:
        return [None] * len(claims)
    chosen: list[Span | None] = []
    for claim, spans in zip(claims, options, strict=True):
        cosines = [float(vectors[claim.sentence] @ vectors[claim.text[span.start : span.end]]) for span in spans]
        best = int(np.argmax(cosines)) if cosines else 0
        chosen.append(spans[best] if cosines and cosines[best] >= _threshold(claim, embedder.calibration) else None)
    return chosen


def _single_spans(claim: Claim) -> list[Span]:
    """Sentences that have the numbers, those that share most first, then in reading order."""
    rows = [(span, share) for span, share, count in _shares(claim) if count == 1]
    return [span for span, _ in sorted(rows, key=lambda row: -row[1])[:_COMPARED_SPANS]]


def _threshold(claim: Claim, calibration: Calibration) -> float:
    across = language(claim.sentence) != language(claim.text)
    return calibration.random_mean + (_CLOSE_ACROSS_LANGUAGES if across else _CLOSE) * calibration.random_std
