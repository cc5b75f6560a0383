"""How much of a question's information statements carry, with what they stand under."""

import math
from collections import Counter
from collections.abc import Sequence

from graph.adapters.extractive.glossary import alternatives, spaced
from graph.stopwords import content_terms
from graph.text import terms

Terms = Counter[str]


def shares(question: str, texts: Sequence[Terms], contexts: Sequence[Terms]) -> list[float]:
    """Share of a question's information, by rarity among the texts, that each has itself or in its context, 0 to 1.

    A word counts as there where another one of the same meaning is, in Chinese or English.
    """
    alike = {term: [terms(word) for word in words] for term, words in alternatives(question).items()}
    wanted = content_terms(spaced(question))
    own = [{term for term in wanted if _has(text, term, alike)} for text in texts]
    having = Counter(term for found in own for term in found)
    idf = {term: math.log1p((len(texts) - having[term] + 0.5) / (having[term] + 0.5)) for term in wanted}
    total = sum(idf.values()) or 1.0
    return [
        sum(idf[term] for term in wanted if term in found or _has(context, term, alike)) / total
        for found, context in zip(own, contexts, strict=True)
    ]


def _has(text: Terms, term: str, alike: dict[str, list[list[str]]]) -> bool:
    return term in text or any(all(part in text for part in other) for other in alike.get(term, ()))
