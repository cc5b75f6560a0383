"""What could stand in an answer: the statements of the sources, with what speaks for each before any vector is known."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph.adapters.extractive.asking import lacks
from graph.adapters.extractive.carrying import shares
from graph.reasoner import Source
from graph.statements import Statement, statements
from graph.stopwords import content_terms
from graph.text import Language, language, terms

_K1, _B = 1.2, 0.4  # sentences differ in length less than passages do, and a long one is not worse
_CEILING_TERMS = 8
_HEADING_COUNTS = 0.5  # of a term in the statement itself
COVERAGE_WEIGHT = 0.2
PASSAGE_WEIGHT = 0.5
"""Both weights as measured on cmrc2018 and XQuAD for ``cosine + 0.2 · coverage + 0.5 · score of the passage``."""
_PASSAGE_COVERAGE = 0.15

_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
_QUESTION = re.compile(r"[?？]\W*$")
_POINTER = re.compile(
    r"\b(?:read|see|check|find)\b.{0,60}\b(?:docs|documentation|section|chapter|guide)\b|\b(?:read|learn|see) more\b"
    r"|^\W*for (?:more|further|other) (?:info|information|details)"
    r"|^\W*(?:更多|详情|参见|参阅|详见|请参|请查看)|你可以.{0,20}(?:阅读|了解|查看).{0,6}更多",
    re.IGNORECASE,
)
_CHANGELOG = re.compile(r"\bPR \[?#\d+|\bby \[?@[\w-]+", re.IGNORECASE)
_LOG_OF_CHANGES = re.compile(r"\b(?:release notes|change ?log|version history)\b|更新日志|发行说明|变更记录", re.IGNORECASE)
_RECORD = re.compile(r"[\w ]{1,40}: [^;\n]+; [\w ]{1,40}: [^;\n]+;")
_ANOTHER_NUMBER = 0.04
_HOW = re.compile(r"\bhow (?:do|can|to|should)\b|怎么|如何|怎样", re.IGNORECASE)
_STEPS = re.compile(r"^\s*1[.)] .*^\s*2[.)] ", re.MULTILINE | re.DOTALL)
_TO_WRITE = re.compile(r"`[^`\n]*(?:\w=\w|\w\(|(?<!\w)--\w)[^`\n]*`")  # a setting, a call, an option
_SHOWS_HOW = 0.03
"""For numbered steps, or what to write, where the question asks how."""
_FEWEST_TERMS = 4
_LACKS_A_KIND = 0.03
"""For a statement without a number where the question asks how many, and so on."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A statement of a source."""

    source: Source
    statement: Statement
    words: str
    """As it stands in the passage."""
    plain: str
    """Without the targets of links and without tags, under what it needs before it."""
    context: str
    """Title of the document and nearest heading, as far as there are any."""
    language: Language
    coverage: float
    """Share of the question's information, from 0 to 1."""
    carried: float
    """Share of the question's information that it carries together with its context, from 0 to 1."""
    prior: float
    """What speaks for it without a vector: coverage, the passage's scores, and what kind of statement it is."""

    @property
    def start(self) -> int:
        """Its place in the document."""
        return self.source["passage"]["start"] + self.statement.start


def candidates(question: str, translated: str, sources: Sequence[Source]) -> list[Candidate]:
    """Every statement of the sources, once, in their order.

    Statements in another language than the question's are compared with ``translated``, where there is such a wording.
    """
    spoken = language(question)
    pairs = list(_each_once(sources))
    plain = [_plain(source, one) for source, one in pairs]
    contexts = [_context(source, one) for source, one in pairs]
    languages = [language(text) for text in plain]
    coverages = _coverages(question, plain, contexts)
    if translated:
        others = _coverages(translated, plain, contexts)
        rows = zip(languages, coverages, others, strict=True)
        coverages = [own if speaks == spoken else other for speaks, own, other in rows]
    carried = shares(question, [_counted(text) for text in plain], [_counted(context) for context in contexts])
    asks_how = bool(_HOW.search(question))
    lacking = _lacking(question, plain, contexts)
    found = []
    for at, (source, one) in enumerate(pairs):
        words = source["passage"]["text"][one.start : one.end]
        standing = source["cosine"] + _PASSAGE_COVERAGE * source["coverage"]
        penalty = _penalty(plain[at], words, contexts[at]) + _ANOTHER_NUMBER * lacking[at]
        penalty -= _SHOWS_HOW if asks_how and (_STEPS.search(words) or _TO_WRITE.search(words)) else 0.0
        penalty += _LACKS_A_KIND if lacks(question, words) else 0.0
        prior = COVERAGE_WEIGHT * coverages[at] + PASSAGE_WEIGHT * standing - penalty
        found.append(Candidate(source, one, words, plain[at], contexts[at], languages[at], coverages[at], carried[at], prior))
    return found


def _each_once(sources: Sequence[Source]) -> Iterator[tuple[Source, Statement]]:
    """Statements of all sources; passages of a document overlap."""
    seen: set[tuple[str, int, int]] = set()
    for source in sources:
        passage = source["passage"]
        for one in statements(passage["text"]):
            key = (passage["document_id"], passage["start"] + one.start, passage["start"] + one.end)
            if key not in seen:
                seen.add(key)
                yield source, one


def _plain(source: Source, one: Statement) -> str:
    text = source["passage"]["text"]
    lead = text[one.lead.start : one.lead.end] + "\n" if one.lead else ""
    return _TAG.sub("", _LINK.sub(r"\1", lead + text[one.start : one.end]))


def _context(source: Source, one: Statement) -> str:
    passage = source["passage"]
    heading = one.heading or passage.get("heading", "").rpartition(" > ")[2]
    return ", ".join(dict.fromkeys(part for part in (passage["title"], heading) if part))


def _lacking(question: str, texts: Sequence[str], contexts: Sequence[str]) -> list[bool]:
    """Which texts lack a number or code of the question that others have."""
    asked = {term for term in content_terms(question) if any(character.isdigit() for character in term)}
    if not asked:
        return [False] * len(texts)
    has = [asked <= _counted(text).keys() | _counted(context).keys() for text, context in zip(texts, contexts, strict=True)]
    return [not one and any(has) for one in has]


@lru_cache(maxsize=8_192)
def _counted(text: str) -> Counter[str]:
    """The terms of a statement or its context; the same passages are found again and again."""
    return Counter(terms(text))


def _penalty(plain: str, words: str, context: str) -> float:
    """What a statement loses that tells little by its kind."""
    penalty = 0.0
    if _QUESTION.search(plain):
        penalty += 0.06  # it resembles the question and answers none
    if _POINTER.search(plain):
        penalty += 0.06  # it says where to read on
    if _CHANGELOG.search(plain) or _LOG_OF_CHANGES.search(context):
        penalty += 0.08  # what changed once, which may no longer be so, and says little by itself
    if len(words) > 2 * len(plain):
        penalty += 0.04  # mostly links
    if _RECORD.match(words):
        penalty += 0.03  # many words of the question stand in every row of a table of theirs
    if _counted(plain).total() < _FEWEST_TERMS:
        penalty += 0.05
    return penalty


def _coverages(wording: str, texts: Sequence[str], contexts: Sequence[str]) -> list[float]:
    """BM25 of each text over the highest possible for the question's 8 rarest terms; the heading above counts half."""
    wanted = content_terms(wording)
    counts = [_occurrences(wanted, text, context) for text, context in zip(texts, contexts, strict=True)]
    having = Counter(term for found in counts for term in found)
    idf = {term: math.log1p((len(texts) - having[term] + 0.5) / (having[term] + 0.5)) for term in wanted}
    ceiling = (_K1 + 1) * sum(sorted(idf.values())[-_CEILING_TERMS:]) or 1.0
    lengths = [max(1, _counted(text).total()) for text in texts]
    average = sum(lengths) / max(1, len(lengths))
    shares = []
    for found, length in zip(counts, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / average)
        total = sum(idf[term] * (_K1 + 1) * count / (count + norm) for term, count in found.items())
        shares.append(min(1.0, total / ceiling))
    return shares


def _occurrences(wanted: Sequence[str], text: str, context: str) -> dict[str, float]:
    """How often the terms occur, those that do."""
    own, above = _counted(text), _counted(context)
    counts = {term: own[term] + _HEADING_COUNTS * (term in above) for term in wanted}
    return {term: count for term, count in counts.items() if count}
