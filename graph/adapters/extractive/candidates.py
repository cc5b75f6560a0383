"""What could stand in an answer: the statements of the sources, with what speaks for each before any vector is known."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from graph.reasoner import Source
from graph.statements import Statement, statements
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
_FEWEST_TERMS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A statement of a source."""

    source: Source
    statement: Statement
    words: str
    """As it stands in the passage."""
    plain: str
    """Without the targets of links and without tags: what is compared and embedded."""
    language: Language
    coverage: float
    """Share of the question's information, from 0 to 1."""
    prior: float
    """What speaks for it without a vector: coverage, the passage's scores, and what kind of statement it is."""

    @property
    def start(self) -> int:
        """Its place in the document."""
        return self.source["passage"]["start"] + self.statement.start


def candidates(wording: str, sources: Sequence[Source]) -> list[Candidate]:
    """Every statement of the sources, once, in their order; ``wording`` is the question in the language of most of them."""
    found: dict[tuple[str, int, int], tuple[Source, Statement]] = {}
    for source in sources:
        passage = source["passage"]
        for one in statements(passage["text"]):
            key = (passage["document_id"], passage["start"] + one.start, passage["start"] + one.end)
            found.setdefault(key, (source, one))
    pairs = list(found.values())
    plain = [_plain(source, one) for source, one in pairs]
    coverages = _coverages(wording, plain, [_context(source, one) for source, one in pairs])
    return [
        _candidate(source, one, words, coverage) for (source, one), words, coverage in zip(pairs, plain, coverages, strict=True)
    ]


def _candidate(source: Source, one: Statement, plain: str, coverage: float) -> Candidate:
    words = source["passage"]["text"][one.start : one.end]
    standing = source["cosine"] + _PASSAGE_COVERAGE * source["coverage"]
    prior = COVERAGE_WEIGHT * coverage + PASSAGE_WEIGHT * standing - _penalty(plain, words, _context(source, one))
    return Candidate(source, one, words, plain, language(plain), coverage, prior)


def _plain(source: Source, one: Statement) -> str:
    text = source["passage"]["text"]
    lead = text[one.lead.start : one.lead.end] + "\n" if one.lead else ""
    return _TAG.sub("", _LINK.sub(r"\1", lead + text[one.start : one.end]))


def _context(source: Source, one: Statement) -> str:
    passage = source["passage"]
    return f"{passage['title']} {one.heading or passage.get('heading', '').rpartition(' > ')[2]}"


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
    if len(terms(plain)) < _FEWEST_TERMS:
        penalty += 0.05
    return penalty


def _coverages(question: str, texts: Sequence[str], contexts: Sequence[str]) -> list[float]:
    """BM25 of each text over the highest possible for the question's 8 rarest terms; the heading above counts half."""
    own = [Counter(terms(text)) for text in texts]
    above = [set(terms(text)) for text in contexts]
    wanted = set(terms(question))
    having = {term: sum(term in counts for counts in own) for term in wanted}
    idf = {term: math.log1p((len(own) - count + 0.5) / (count + 0.5)) for term, count in having.items()}
    ceiling = (_K1 + 1) * sum(sorted(idf.values())[-_CEILING_TERMS:]) or 1.0
    lengths = [max(1, sum(counts.values())) for counts in own]
    average = sum(lengths) / max(1, len(lengths))
    shares = []
    for counts, headings, length in zip(own, above, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / average)
        occurrences = {term: counts[term] + _HEADING_COUNTS * (term in headings) for term in wanted}
        total = sum(idf[term] * (_K1 + 1) * count / (count + norm) for term, count in occurrences.items())
        shares.append(min(1.0, total / ceiling))
    return shares
