"""Footnotes by code: every marker of an answer is resolved to the exact words that support its sentence, or dropped."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graph.blocks import blocks
from graph.footnotes import Footnote, numbered
from graph.markers import Anchor, code, strip
from graph.ports import Embedder
from graph.reasoner import Source
from graph.statements import pieces
from graph.support import Claim, numbers, quoted, shared, supporting
from graph.text import Span, terms
from graph.turn import Citation

_FEWEST_TERMS = 3
_OTHER_SOURCES = 2  # that are tried for a sentence whose own support is gone
_BESIDE = 0.2  # of a sentence's information, for a source that its paragraph cites
_LONGEST_QUOTE = 700
_HAS_WORDS = re.compile(r"\w(?![^<>]*>)")  # outside of tags
_ASSERTS_NOTHING = re.compile(
    r"[:：?？]\W*$"
    r"|\b(?:sources?|documents?|passages?|context|documentation)\b.{0,40}(?:\b(?:not|no|nothing|neither)\b|n't)"
    r"|\b(?:no|none of the|neither)\b.{0,20}\b(?:sources?|documents?|passages?|information|documentation)\b"
    r"|(?:文档|资料|来源|文件|文中|材料).{0,12}(?:没有|并?未|无法)|(?:没有|未能?)(?:找到|提到|提及|说明)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Grounded:
    """An answer whose every footnote holds."""

    answer: str
    """With markers ``[1]``, ``[2]`` … in order of first use."""
    citations: list[Citation]
    unsupported: list[str]
    """Sentences that assert something which no source says, without markers."""


@dataclass(slots=True)
class _Sentence:
    """A sentence of the answer without markers."""

    span: Span
    block: int
    """Number of the paragraph, item, row or code that it stands in."""
    anchors: list[Anchor] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)
    is_covered: bool = False
    """Whether the footnote of the next sentence quotes it too."""


async def ground(answer: str, sources: Sequence[Source], embedder: Embedder) -> Grounded:
    """Resolve the markers of an answer, as a model wrote it, to spans of its sources.

    Markers of sources that do not exist, or that do not say what the sentence says, are dropped. A sentence that asserts
    something without a marker gets one where a source says it; else it is listed as unsupported, and stays in the answer.
    """
    text, anchors = strip(answer)
    sentences = _sentences(text, anchors)
    texts = {source["number"]: source["passage"]["text"] for source in sources}
    await _resolve_markers(text, sentences, texts, embedder)
    _reach_back(text, sentences, texts)
    await _look_elsewhere(text, sentences, texts, embedder)
    unsupported = [_slice(text, one) for one in sentences if _is_bare(text, one)]
    footnotes = [footnote for one in sentences for footnote in one.footnotes]
    written, citations = numbered(text, footnotes, anchors, sources)
    return Grounded(written, citations, unsupported)


def _sentences(text: str, anchors: Sequence[Anchor]) -> list[_Sentence]:
    """The sentences of the answer, each with the markers that belong to it."""
    starts = [block.start for block in blocks(text, is_cut=False)]
    found = [_Sentence(span, sum(start <= span.start for start in starts)) for span in pieces(text, is_cut=False)]
    for anchor in anchors:
        if found:
            _owner(text, found, anchor.at).anchors.append(anchor)
    return found


def _owner(text: str, sentences: Sequence[_Sentence], at: int) -> _Sentence:
    """The sentence that a marker follows; at the beginning of a line the one that follows it; alone on a line the one above."""
    before = [one for one in sentences if one.span.start < at]
    after = [one for one in sentences if one.span.start >= at]
    if before and "\n" not in text[before[-1].span.end : at]:
        return before[-1]
    if after and "\n" not in text[at : after[0].span.start]:
        return after[0]
    return before[-1] if before else after[0]


async def _resolve_markers(text: str, sentences: Sequence[_Sentence], texts: Mapping[int, str], embedder: Embedder) -> None:
    """Find for every marker the words that support its sentence, or the clause of it that the marker ends."""
    asked: list[tuple[_Sentence, Anchor, int]] = []
    claims: list[Claim] = []
    for one in sentences:
        for anchor in one.anchors:
            cited = [number for number in dict.fromkeys(anchor.numbers) if number in texts]
            for words in _wordings(text, one, anchor):
                asked += [(one, anchor, number) for number in cited]
                claims += _claims(words, [texts[number] for number in cited])
    for (one, anchor, number), span in zip(asked, await supporting(claims, embedder), strict=True):
        known = any(footnote.at == anchor.at and footnote.source == number for footnote in one.footnotes)
        if span is not None and not known:
            one.footnotes.append(Footnote(anchor.at, number, span))


def _wordings(text: str, one: _Sentence, anchor: Anchor) -> Iterator[str]:
    """What a marker may stand for, most likely first: the sentence or, where others stand in it too, its clause."""
    places = [other.at for other in one.anchors]
    start = max((place for place in places if place < anchor.at), default=one.span.start)
    is_last = anchor.at >= max(places)
    clause = text[max(start, one.span.start) : one.span.end if is_last and len(places) > 1 else anchor.at].strip()
    whole = _slice(text, one)
    wordings = [whole, clause] if len(places) == 1 else [clause, whole]
    yield from dict.fromkeys(words for words in wordings if len(terms(words)) > 1 or words == whole)


def _claims(words: str, texts: Sequence[str]) -> list[Claim]:
    """The words as claims on each text. Numbers may come from several texts that are cited together."""
    needed = numbers(words)
    has = [numbers(text) for text in texts]
    together = needed <= frozenset().union(*has)
    return [Claim(words, text, needed & found if together else needed) for text, found in zip(texts, has, strict=True)]


def _reach_back(text: str, sentences: Sequence[_Sentence], texts: Mapping[int, str]) -> None:
    """Let a marker at the end of a list, of code or of a paragraph quote what precedes it too, if the source goes on so."""
    holder: _Sentence | None = None
    for one in reversed(sentences):
        if one.footnotes:
            holder = one
        elif holder is None or one.anchors or not _is_taken_in(_slice(text, one), holder, texts):
            holder = None
        else:
            one.is_covered = True


def _is_taken_in(words: str, holder: _Sentence, texts: Mapping[int, str]) -> bool:
    """Whether the words stand right before those of a sentence's footnote, which then quotes them too."""
    last = holder.footnotes[0]
    source = texts[last.source]
    span = quoted(words, source[: last.span.start])
    if span is None or last.span.end - span.start > _LONGEST_QUOTE or _HAS_WORDS.search(source[span.end : last.span.start]):
        return False
    holder.footnotes[0] = Footnote(last.at, last.source, Span(span.start, last.span.end))
    return True


async def _look_elsewhere(text: str, sentences: Sequence[_Sentence], texts: Mapping[int, str], embedder: Embedder) -> None:
    """Give sentences that assert something without support the words of another source, the paragraph's own first."""
    bare = [one for one in sentences if _is_bare(text, one)]
    asked: list[tuple[_Sentence, int]] = []
    claims: list[Claim] = []
    for one in bare:
        beside = {footnote.source for other in sentences if other.block == one.block for footnote in other.footnotes}
        words = _slice(text, one)
        made = {number: Claim(words, passage, numbers(words)) for number, passage in texts.items()}
        worth = {number: shared(claim)[1] + (_BESIDE if number in beside else 0.0) for number, claim in made.items()}
        best = sorted(made, key=lambda number: -worth[number])[:_OTHER_SOURCES]
        asked += [(one, number) for number in best]
        claims += [made[number] for number in best]
    for (one, number), span in zip(asked, await supporting(claims, embedder), strict=True):
        if span is not None and not one.footnotes:
            one.footnotes.append(Footnote(_place(text, one), number, span))


def _place(text: str, one: _Sentence) -> int:
    """Where a sentence's marker goes: where one stood, else at its end, inside of the last cell of a row."""
    if one.anchors:
        return one.anchors[-1].at
    words = _slice(text, one)
    if words.startswith("|"):
        return one.span.start + len(words.removesuffix("|").rstrip())
    return next((span.end for span in code(text) if span.start < one.span.end < span.end), one.span.end)


def _slice(text: str, one: _Sentence) -> str:
    return text[one.span.start : one.span.end]


def _is_bare(text: str, one: _Sentence) -> bool:
    """Whether a sentence asserts something that no footnote shows."""
    return not one.footnotes and not one.is_covered and _asserts(text, one)


def _asserts(text: str, one: _Sentence) -> bool:
    """Whether a sentence says something that needs a source."""
    words = _slice(text, one)
    if words.startswith(("```", "~~~")) or _ASSERTS_NOTHING.search(words):
        return False
    return bool(one.anchors) or len(terms(words)) >= _FEWEST_TERMS
