"""Which of the ranked statements make the answer: the best, what completes it, and no more than adds to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.adapters.extractive.asking import kinds, lacks, leans_back
from graph.adapters.extractive.candidates import Candidate
from graph.adapters.extractive.dates import contradict, date_of, stated_date
from graph.stopwords import content_terms
from graph.text import terms

MOST = 3
"""Statements in an answer."""
_MOST_OF_SIDES = 4
_WITHIN = 0.08
"""How far behind the best a further statement may be that has words of the question which the others lack."""
_NEARLY = 0.04
"""The same for one that has none."""
_SAME = 0.7
_SHORT_SECTION = 300
_A_THIRD = 1 / 3  # of what the older one carries of the question
_ABOUT_THE_SAME = 0.4  # of two documents that both say when they were made


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """A statement with what speaks for it."""

    candidate: Candidate
    cosine: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Statements worth a vector, best first, and all statements in their order."""

    picks: list[Pick]
    every: list[Candidate]


def chosen(question: str, sides: Sequence[Pick], ranked: Sequence[Pick], every: Sequence[Candidate]) -> list[Pick]:
    """At most three statements, the best first: newer in place of older, nothing twice, nothing that adds nothing."""
    asked = set(content_terms(question))
    first = [_renewed(pick, every, asked) for pick in (sides or ranked[:1])]
    kept: list[Pick] = []
    for pick in first:
        if not any(_repeats(pick, other) for other in kept):
            kept.append(pick)
    for pick in list(kept):
        kept += [one for one in _completing(question, pick, every) if not any(_repeats(one, other) for other in kept)]
    best = max(pick.score for pick in ranked)
    for pick in ranked:
        _add(kept, _renewed(pick, every, asked), best, asked)
    return kept[: _MOST_OF_SIDES if sides else MOST]


def _add(kept: list[Pick], pick: Pick, best: float, asked: set[str]) -> None:
    """Add a statement that is near enough, or let it take the place of an older one that says otherwise."""
    said = set(terms(" ".join(other.candidate.plain for other in kept)))
    news = asked & set(terms(pick.candidate.plain)) - said
    if pick.score < best - (_WITHIN if news else _NEARLY):
        return
    rival = next((other for other in kept if _rivals(pick.candidate, other.candidate)), None)
    if rival is None:
        kept += [] if any(_repeats(pick, other) for other in kept) else [pick]
    elif _is_newer(pick.candidate, rival.candidate) and _is_as_exact(pick.candidate, rival.candidate, asked):
        kept[kept.index(rival)] = pick


def _renewed(pick: Pick, every: Sequence[Candidate], asked: set[str]) -> Pick:
    """What a newer document says of the same, where metadata or titles date both, else the pick."""
    one = pick.candidate
    mine = stated_date(one.source["passage"])
    if mine is None:
        return pick
    said = set(content_terms(one.plain))
    newer = [
        other
        for other in every
        if (theirs := stated_date(other.source["passage"])) and theirs > mine
        if other.language == one.language and other.carried >= _A_THIRD * one.carried
        if contradict(one.plain, other.plain, shared=_ABOUT_THE_SAME) and _is_as_exact(other, one, asked)
        if len({_section(one), _section(other), ""}) <= 2  # not under two headings of two subjects
    ]
    best = max(newer, key=lambda other: len(said & set(content_terms(other.plain))), default=None)
    return pick if best is None else replace(pick, candidate=best)


def _section(one: Candidate) -> str:
    """The heading that a statement stands under; empty where it is the title of the document."""
    return "" if one.statement.heading == one.source["passage"]["title"] else one.statement.heading


def _is_as_exact(newer: Candidate, older: Candidate, asked: set[str]) -> bool:
    """Whether the newer has every number and code of the question that the older has: 2.x stays true beside 3.x."""
    exact = {term for term in asked if any(character.isdigit() for character in term)}
    return exact & set(terms(f"{older.context} {older.plain}")) <= set(terms(f"{newer.context} {newer.plain}"))


def _completing(question: str, pick: Pick, every: Sequence[Candidate]) -> Iterator[Pick]:
    """Sentences of the same paragraph without which a statement is not understood, or not whole."""
    one = pick.candidate
    beside = _beside(one, every)
    before = [other for other in beside if other.start < one.start]
    after = [other for other in beside if other.start > one.start]
    asked = set(content_terms(question))
    if before and leans_back(one.words):
        yield replace(pick, candidate=before[-1])
    if after and leans_back(after[0].words):
        news = asked & set(terms(after[0].plain)) - set(terms(one.plain))
        if news or lacks(question, one.words) or len(kinds(question)) > 1:
            yield replace(pick, candidate=after[0])
    length = len(one.words) + sum(len(other.words) for other in beside)
    if length <= _SHORT_SECTION and not asked & set(terms(one.plain)):
        yield from (replace(pick, candidate=other) for other in beside)


def _beside(one: Candidate, every: Sequence[Candidate]) -> list[Candidate]:
    """The other sentences of the paragraph that a sentence stands in."""
    passage = one.source["passage"]
    start = passage["text"].rfind("\n\n", 0, one.statement.start)
    end = passage["text"].find("\n\n", one.statement.end)
    return [
        other
        for other in every
        if other.source["passage"]["passage_id"] == passage["passage_id"] and other.start != one.start
        if other.statement.kind == one.statement.kind == "paragraph"
        if start <= other.statement.start and (end < 0 or other.statement.end <= end)
    ]


def _repeats(pick: Pick, other: Pick) -> bool:
    one, two = pick.candidate, other.candidate
    same_document = one.source["passage"]["document_id"] == two.source["passage"]["document_id"]
    if same_document and one.start < two.start + len(two.words) and two.start < one.start + len(one.words):
        return True
    mine, theirs = set(terms(one.plain)), set(terms(two.plain))
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def _rivals(one: Candidate, two: Candidate) -> bool:
    """Whether two statements of different documents give different numbers for the same."""
    apart = one.source["passage"]["document_id"] != two.source["passage"]["document_id"]
    return apart and contradict(one.plain, two.plain) and date_of(one.source["passage"]) != date_of(two.source["passage"])


def _is_newer(one: Candidate, two: Candidate) -> bool:
    mine, theirs = date_of(one.source["passage"]), date_of(two.source["passage"])
    return mine is not None and theirs is not None and mine > theirs
